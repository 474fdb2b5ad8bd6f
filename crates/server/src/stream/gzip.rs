//! Compression of large answers, as upstream: gzip level 1 from 128 KiB upwards.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// What is shorter is sent as it is.
pub(crate) const GZIP_FROM_BYTES: usize = 128 * 1024;

/// Does the client take gzip?
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| {
            value.split(',').any(|coding| {
                let mut parts = coding.split(';').map(str::trim);
                parts.next() == Some("gzip") && parts.all(|q| q != "q=0" && q != "q=0.0")
            })
        })
}

/// The whole of `plain`, compressed as one member.
pub(crate) fn compress(plain: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain)?;
    encoder.finish().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_used_where_it_is_accepted() {
        let check = |value: &str, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            assert_eq!(accepts_gzip(&headers), expected, "{value}");
        };
        check("gzip", true);
        check("deflate, gzip;q=0.5", true);
        check("gzip;q=0", false);
        check("deflate", false);
    }
}
