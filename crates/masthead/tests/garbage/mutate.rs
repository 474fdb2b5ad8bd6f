//! Makes good requests bad: method, path, query, headers.

use super::bodies;
use super::message::Message;
use super::support::Dice;

const METHODS: [&str; 14] = [
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "get",
    "FROB",
    "PROPFIND",
    "M-SEARCH",
    "G!T",
    "LOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOONG",
];
const SEGMENTS: [&str; 34] = [
    "",
    ".",
    "..",
    "%2F",
    "%2f..%2f",
    "%00",
    "%",
    "%2",
    "%zz",
    "%ff",
    "%C3%28",
    "%u0041",
    "a b",
    "*",
    "watch",
    "namespaces",
    "pods",
    "configmaps",
    "deployments",
    "api",
    "apis",
    "v1",
    "v2",
    "apps",
    "status",
    "scale",
    "finalize",
    "proxy",
    "log",
    "exec",
    "UPPER",
    "-",
    "a.b.c",
    ";x=y",
];
const PARAMETERS: [&str; 24] = [
    "watch",
    "resourceVersion",
    "resourceVersionMatch",
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "timeoutSeconds",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "timeout",
    "pretty",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "propagationPolicy",
    "orphanDependents",
    "export",
    "exact",
    "includeObject",
    "x",
    "",
];
/// No great numbers as versions here: each would wait three seconds for the future.
const VALUES: [&str; 48] = [
    "",
    "0",
    "1",
    "7",
    "-1",
    "+1",
    "01",
    "0x10",
    "1e3",
    "1.5",
    "%201",
    "abc",
    "true",
    "false",
    "All",
    "Exact",
    "NotOlderThan",
    "Strict",
    "Ignore",
    "99999999999999999999999",
    "-9223372036854775809",
    "%00",
    "%ff%fe",
    "%zz",
    "%",
    "a%3Db",
    "a%3Db,c!%3Dd",
    "a+in+()",
    "a+in+(b",
    "a+notin+(b,,c)",
    "!",
    "!!a",
    ",",
    "a%3D%3D%3Db",
    "%3D",
    "(",
    ")))",
    "a>5",
    "a<b",
    "x/y/z%3D1",
    "metadata.name%3Dcm",
    "metadata.name",
    "metadata.name!%3Dx,status.phase%3DRunning",
    "spec.nodeName%3D",
    "nothing%3D1",
    "Foreground",
    "Orphan",
    "32s",
];
const HEADERS: [&str; 14] = [
    "accept",
    "content-type",
    "accept-encoding",
    "content-encoding",
    "if-none-match",
    "if-match",
    "impersonate-user",
    "impersonate-group",
    "authorization",
    "range",
    "audit-id",
    "cookie",
    "x-forwarded-for",
    "x-remote-user",
];
const HEADER_VALUES: [&str; 40] = [
    "",
    "*/*",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v9;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/json;as=Nothing;v=v1;g=x",
    "application/json;q=0",
    "application/json;q=zwei",
    "application/*;q=0.5,text/*",
    "text/html",
    "text/plain",
    "application/cbor",
    "application/cbor-seq",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
    "application",
    "/",
    ";",
    ",,,",
    "application/json;;;",
    "=;=",
    "application/json; charset=utf-16",
    "application/json;charset=\"",
    "multipart/form-data",
    "gzip",
    "gzip;q=0, identity;q=0",
    "Bearer",
    "Bearer x",
    "Basic dTpw",
    "bytes=0-1",
    "\"etag\"",
];

/// A worse one, by one to four steps.
pub(crate) fn mutate(dice: &mut Dice, message: &mut Message) {
    let steps = 1 + dice.below(4).min(dice.below(4));
    for _ in 0..steps {
        match dice.below(16) {
            0 => method(dice, message),
            1..4 => path(dice, message),
            4..7 => query(dice, message),
            7..10 => header(dice, message),
            _ if message.body.is_empty() => query(dice, message),
            _ => bodies::mutate(dice, &mut message.body),
        }
    }
}

fn method(dice: &mut Dice, message: &mut Message) {
    message.method = dice.pick(&METHODS).into();
}

fn split(target: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut parts = target.splitn(2, |byte| *byte == b'?').map(<[u8]>::to_vec);
    (parts.next().unwrap_or_default(), parts.next())
}

fn path(dice: &mut Dice, message: &mut Message) {
    let (path, query) = split(&message.target);
    let mut segments: Vec<Vec<u8>> = path
        .split(|b| *b == b'/')
        .skip(1)
        .map(<[u8]>::to_vec)
        .collect();
    if segments.is_empty() {
        segments.push(Vec::new());
    }
    let at = dice.below(segments.len());
    match dice.below(9) {
        0 => drop(segments.remove(at)),
        1 => segments.insert(at, segments[at].clone()),
        2 => segments.insert(at, dice.pick(&SEGMENTS).into()),
        3 | 4 => segments[at] = dice.pick(&SEGMENTS).into(),
        5 => segments[at] = long_text(dice).into_bytes(),
        6 => {
            let other = dice.below(segments.len());
            segments.swap(at, other);
        }
        7 => segments[at] = escape(&segments[at]),
        _ => bodies::flip(dice, &mut segments[at]),
    }
    message.target = [b"/", segments.join(&b'/').as_slice()].concat();
    if let Some(query) = query {
        message
            .target
            .extend_from_slice(&[b"?", query.as_slice()].concat());
    }
}

/// Each byte as a percent escape: the same path, written otherwise.
fn escape(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|byte| format!("%{byte:02x}").into_bytes())
        .collect()
}

fn query(dice: &mut Dice, message: &mut Message) {
    let (path, query) = split(&message.target);
    let query = query.unwrap_or_default();
    let mut parts: Vec<Vec<u8>> = query
        .split(|byte| *byte == b'&')
        .filter(|p| !p.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    let at = dice.below(parts.len().max(1));
    match dice.below(8) {
        0 if !parts.is_empty() => drop(parts.remove(at)),
        1 if !parts.is_empty() => parts.push(parts[at].clone()),
        2 if !parts.is_empty() => bodies::flip(dice, &mut parts[at]),
        3 if !parts.is_empty() => {
            let name = parts[at]
                .split(|byte| *byte == b'=')
                .next()
                .unwrap_or_default()
                .to_vec();
            parts[at] = [name, vec![b'='], value(dice).into_bytes()].concat();
        }
        4 if dice.once_in(20) => {
            parts.extend((0..dice.below(2000)).map(|n| format!("p{n}=1").into_bytes()));
        }
        _ => parts.push(format!("{}={}", dice.pick(&PARAMETERS), value(dice)).into_bytes()),
    }
    message.target = [path.as_slice(), b"?", parts.join(&b'&').as_slice()].concat();
}

fn value(dice: &mut Dice) -> String {
    match dice.below(40) {
        0 => long_text(dice),
        1 => token(dice),
        2 => format!("a+in+({}b)", "b,".repeat(dice.below(500))),
        3 => "a%3Db,".repeat(dice.below(300)),
        // A version in the future, which is waited for.
        4 if dice.once_in(60) => "18446744073709551615".to_owned(),
        5 if dice.once_in(60) => "9223372036854775807".to_owned(),
        _ => dice.pick(&VALUES).to_owned(),
    }
}

/// A continue token, more or less.
fn token(dice: &mut Dice) -> String {
    let version = [
        "8",
        "-1",
        "0",
        "\"8\"",
        "1e9",
        "99999999999999999999",
        "null",
    ];
    let start = [
        "cm\\u0000",
        "",
        "../x",
        "/",
        "\\u0000",
        "fuzz-0/cm",
        "\\ud800",
        "ü",
    ];
    let (version, start) = (dice.pick(&version), dice.pick(&start));
    let json = format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":{version},\"start\":\"{start}\"}}");
    let mut bytes = json.into_bytes();
    if dice.once_in(3) {
        bodies::flip(dice, &mut bytes);
    }
    base64(&bytes)
}

/// URL-safe base64 without padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |bits: u32| char::from(LETTERS[(bits & 63) as usize]);
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let letters = [
            letter(bits >> 18),
            letter(bits >> 12),
            letter(bits >> 6),
            letter(bits),
        ];
        text.extend(&letters[..=chunk.len()]);
    }
    text
}

fn header(dice: &mut Dice, message: &mut Message) {
    let value = match dice.below(30) {
        0 => vec![b'a'; dice.below(100_000)],
        1 => "application/json,".repeat(dice.below(800)).into_bytes(),
        2 => vec![0xff, 0xfe, b'x'],
        3 => "application/json;as=Table;g=meta.k8s.io;v=v1;"
            .repeat(dice.below(60))
            .into_bytes(),
        _ => dice.pick(&HEADER_VALUES).as_bytes().to_vec(),
    };
    let kind = message
        .headers
        .iter()
        .position(|(name, _)| name == b"content-type");
    match (dice.below(5), kind) {
        (0 | 1, _) => message.headers.push((b"accept".to_vec(), value)),
        (2 | 3, Some(at)) => message.headers[at].1 = value,
        _ => message.headers.push((dice.pick(&HEADERS).into(), value)),
    }
}

fn long_text(dice: &mut Dice) -> String {
    let unit = dice.pick(&["a", "%41", "a.", "-", "%C3%BC", "0"]);
    let most = if dice.once_in(4) { 20_000 } else { 300 };
    unit.repeat(1 + dice.below(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_base64_of_json() {
        assert_eq!(base64(b"abcd"), "YWJjZA");
        assert_eq!(base64(b"\xff\xfe"), "__4");
    }

    #[test]
    fn the_same_dice_give_the_same_garbage() {
        let make = |seed| {
            let mut message = Message::new("POST", "/api/v1/namespaces/a/configmaps?x=1");
            message.body = br#"{"metadata":{"name":"a"}}"#.to_vec();
            mutate(&mut Dice::new(seed), &mut message);
            message
        };
        assert_eq!(make(5), make(5));
        assert_ne!(make(5), make(6));
    }
}
