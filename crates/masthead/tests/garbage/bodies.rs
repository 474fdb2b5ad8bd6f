//! Makes good bodies bad: as trees, as text, as bytes.

use serde_json::{Value, json};

use super::support::Dice;

const STRINGS: [&str; 26] = [
    "",
    " ",
    "..",
    "a/b",
    "/",
    "\0",
    "\u{202e}",
    "Ünïcode",
    "UPPER",
    "-x-",
    "1",
    "-1",
    "true",
    "null",
    "18446744073709551615",
    "2026-13-45T99:99:99Z",
    "no base64!",
    "a=b,c",
    "999999999999999999Gi",
    "1.5.5",
    "delete",
    "replace",
    "merge",
    "$patch",
    "default",
    "kube-system",
];
const NAMES: [&str; 24] = [
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$setElementOrder/finalizers",
    "$deleteFromPrimitiveList/finalizers",
    "$setElementOrder/",
    "$deleteFromPrimitiveList/",
    "$",
    "metadata",
    "spec",
    "status",
    "name",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "managedFields",
    "deletionTimestamp",
    "resourceVersion",
    "uid",
    "",
    "a.b/c",
    "data",
    "kind",
];
/// Numbers that are none for a tree: they are put into the text.
const NUMBERS: [&str; 8] = [
    "1e999999",
    "-0",
    "123456789012345678901234567890",
    "0.00000000000000000000000001",
    "-1e-999",
    "9223372036854775808",
    "1E400",
    "00",
];
const POINTERS: [&str; 16] = [
    "",
    "/",
    "//",
    "/metadata",
    "/metadata/name",
    "/metadata/labels/app",
    "/data",
    "/data/a",
    "/spec/template/spec/containers/0",
    "/spec/template/spec/containers/-",
    "/data/~0~1",
    "/data/~2",
    "/spec/replicas/0",
    "/spec/template/spec/containers/99999999999999999999",
    "data",
    "/data/01",
];
const OPERATIONS: [&str; 8] = [
    "add", "remove", "replace", "move", "copy", "test", "frob", "",
];
/// Stands for one of [`NUMBERS`] within a tree.
const MARK: &str = "@number@";

/// A worse body.
pub(crate) fn mutate(dice: &mut Dice, body: &mut Vec<u8>) {
    let tree = serde_json::from_slice::<Value>(body).ok();
    *body = match (tree, dice.below(12)) {
        (_, 0) => special(dice),
        (Some(Value::Array(mut operations)), 1..6) => {
            operation(dice, &mut operations);
            Value::from(operations).to_string().into_bytes()
        }
        (Some(mut tree), 1..10) => {
            for _ in 0..=dice.below(3) {
                node(dice, &mut tree);
            }
            let number = dice.pick(&NUMBERS);
            tree.to_string()
                .replace(&format!("\"{MARK}\""), number)
                .into_bytes()
        }
        (_, _) => {
            let mut text = std::mem::take(body);
            flip(dice, &mut text);
            text
        }
    };
}

/// Changes bytes anywhere.
pub(crate) fn flip(dice: &mut Dice, bytes: &mut Vec<u8>) {
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, dice.roll() as u8),
            2 => drop(bytes.splice(at..at, [0xff, 0xc0, 0x80])),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            _ => {
                let piece: Vec<u8> = bytes
                    .iter()
                    .skip(at)
                    .take(dice.below(20))
                    .copied()
                    .collect();
                drop(bytes.splice(at..at, piece));
            }
        }
    }
}

/// Changes one node of a tree, most often near the top.
fn node(dice: &mut Dice, tree: &mut Value) {
    let down = !dice.once_in(4);
    match tree {
        Value::Object(members) if down && !members.is_empty() => {
            let at = dice.below(members.len());
            if let Some((_, member)) = members.iter_mut().nth(at) {
                return node(dice, member);
            }
        }
        Value::Array(items) if down && !items.is_empty() => {
            let at = dice.below(items.len());
            return node(dice, &mut items[at]);
        }
        _ => {}
    }
    match tree {
        Value::Object(members) if dice.once_in(2) => {
            let name = dice.pick(&NAMES).to_owned();
            let taken = members.keys().nth(dice.below(members.len() + 1)).cloned();
            if let Some(value) = taken.and_then(|key| members.remove(&key)) {
                if dice.once_in(3) {
                    members.insert(name, value);
                }
            } else {
                members.insert(name, nasty(dice));
            }
        }
        Value::Array(items) if dice.once_in(2) => {
            let copy = items.first().cloned().unwrap_or_else(|| nasty(dice));
            items.extend(std::iter::repeat_n(copy, 1 + dice.below(3)));
        }
        _ => *tree = nasty(dice),
    }
}

fn nasty(dice: &mut Dice) -> Value {
    match dice.below(20) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!([-1, 0, 1, i64::MIN, i64::MAX][dice.below(5)]),
        3 => json!(u64::MAX),
        4 => json!(1.5e300),
        5 => json!([]),
        6 => json!({}),
        7 => json!([[]]),
        8 => json!({"": ""}),
        9 => json!({"$patch": dice.pick(&["delete", "replace", "merge", "x"])}),
        10 => json!([nasty(dice), nasty(dice)]),
        11 => (0..dice.below(60)).fold(Value::Null, |inner, _| json!([inner])),
        12 => json!(MARK),
        13 => "x".repeat(dice.below(5000)).into(),
        14 => json!({"a": nasty(dice)}),
        _ => dice.pick(&STRINGS).into(),
    }
}

fn operation(dice: &mut Dice, operations: &mut Vec<Value>) {
    let mut new = json!({
        "op": dice.pick(&OPERATIONS), "path": dice.pick(&POINTERS), "value": nasty(dice),
        "from": dice.pick(&POINTERS),
    });
    if dice.once_in(6) {
        node(dice, &mut new);
    }
    let at = dice.below(operations.len() + 1);
    operations.insert(at, new);
}

/// Bodies that are bad in a way no small change leads to.
fn special(dice: &mut Dice) -> Vec<u8> {
    let depth = [50, 200, 5_000, 100_000][dice.below(4)];
    let text = match dice.below(22) {
        0 => "[".repeat(depth),
        1 => "{\"a\":".repeat(depth),
        2 => format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
        3 => format!("{}1{}", "{\"metadata\":".repeat(depth), "}".repeat(depth)),
        4 => "\u{feff}{\"kind\":\"ConfigMap\"}".into(),
        5 => {
            "{\"kind\":\"ConfigMap\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}"
                .into()
        }
        6 => "{\"metadata\":{\"name\":\"\\ud800\"}}".into(),
        7 => "{\"metadata\":{\"name\":\"cm\"}} trailing".into(),
        8 => format!("{{\"metadata\":{{\"name\":\"{}\"}}}}", "n".repeat(depth)),
        9 => format!(
            "{{\"metadata\":{{\"name\":\"big\"}},\"data\":{{{}\"z\":\"\"}}}}",
            members(depth)
        ),
        10 => copies(),
        11 => aliases(),
        12 => "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: &x [*x]}\n".into(),
        13 => format!(
            "a:\n{}",
            (1..depth.min(2000)).fold(String::new(), |text, level| {
                text + &" ".repeat(level.min(300)) + "a:\n"
            })
        ),
        14 => "--- !!binary\nkind: !!python/object:x ConfigMap\n? [complex]\n: *nothing\n".into(),
        15 => "kind: ConfigMap\n\tmetadata: tab\n".into(),
        16 => "- ".repeat(depth),
        17 => "k8s\0\u{a}\u{2}v1\u{12}\u{9}ConfigMap\u{12}\u{ff}".into(),
        18 => "null".into(),
        19 => format!(
            "{{\"metadata\":{{\"labels\":{{{}\"z\":\"\"}}}}}}",
            members(depth.min(5000))
        ),
        20 => format!("{}{{}}", " ".repeat(depth)),
        _ => format!(
            "{{\"metadata\":{{\"name\":\"cm\"}},\"data\":{{\"a\":\"{}\"}}}}",
            "x".repeat(3 << 20)
        ),
    };
    text.into_bytes()
}

fn members(count: usize) -> String {
    let members: Vec<_> = (0..count.min(20_000))
        .map(|n| format!("\"k{n}\":\"v\","))
        .collect();
    members.concat()
}

/// A JSON patch that doubles the object with each operation.
fn copies() -> String {
    let double = |n: usize| json!({"op": "copy", "from": "/data", "path": format!("/data/c{n}")});
    Value::from((0..60).map(double).collect::<Vec<_>>()).to_string()
}

/// A YAML text that means nine times more with each line.
fn aliases() -> String {
    let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let alias = format!("*a{},", level - 1).repeat(9);
        text.extend([
            "a",
            &level.to_string(),
            ": &a",
            &level.to_string(),
            " [",
            &alias,
            "]\n",
        ]);
    }
    text
}
