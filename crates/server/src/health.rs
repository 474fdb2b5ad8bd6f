//! `/healthz`, `/livez`, `/readyz`: whether the server works, and which part does not.
//!
//! | path | answer |
//! |---|---|
//! | `/livez` | `ok`, or 500 with a line for each check |
//! | `/livez?verbose` | a line for each check and a last one |
//! | `/livez?exclude=etcd` | the same without that check |
//! | `/livez/etcd` | one check alone |
//!
//! Why a check failed is for the log only: these paths are open to everybody.

use std::collections::BTreeSet;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Response, StatusCode};

use crate::listen::ResponseBody;

/// At most this many `exclude` parameters are looked at.
const EXCLUDES_MAX: usize = 64;

/// The question that a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// The old word for alive.
    Healthz,
    /// Whether it should be left running.
    Livez,
    /// Whether it should get requests.
    Readyz,
}

impl Endpoint {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Healthz, Self::Livez, Self::Readyz];

    /// Its word in the path.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthz => "healthz",
            Self::Livez => "livez",
            Self::Readyz => "readyz",
        }
    }
}

type Probe = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

struct Check {
    name: &'static str,
    endpoints: &'static [Endpoint],
    probe: Probe,
}

/// The checks of one server. `ping`, which always passes, is in all three.
pub struct Health {
    checks: Vec<Check>,
}

impl Default for Health {
    fn default() -> Self {
        let health = Self { checks: Vec::new() };
        health.with("ping", &Endpoint::ALL, || Ok(()))
    }
}

impl Health {
    /// One more check. `probe` must be quick; what it says on failure goes to the log.
    #[must_use]
    pub fn with(
        mut self,
        name: &'static str,
        endpoints: &'static [Endpoint],
        probe: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Check {
            name,
            endpoints,
            probe: Box::new(probe),
        });
        self
    }

    /// All paths that are answered, for the list at `/`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for endpoint in Endpoint::ALL {
            paths.push(format!("/{}", endpoint.as_str()));
            let names = self.of(endpoint).map(|check| check.name);
            paths.extend(names.map(|name| format!("/{}/{name}", endpoint.as_str())));
        }
        paths
    }

    /// The answer to `path` with `query`; `None` if that is no health check's path.
    pub fn answer(&self, path: &str, query: &str) -> Option<Response<ResponseBody>> {
        let (root, check) = split(path);
        let endpoint = Endpoint::ALL
            .into_iter()
            .find(|endpoint| endpoint.as_str() == root)?;
        Some(match check {
            None => self.answer_all(endpoint, query),
            Some(name) => match self.of(endpoint).find(|check| check.name == name) {
                Some(check) => answer_one(check),
                None => text(StatusCode::NOT_FOUND, "404 page not found\n".into(), true),
            },
        })
    }

    fn of(&self, endpoint: Endpoint) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(move |check| check.endpoints.contains(&endpoint))
    }

    fn answer_all(&self, endpoint: Endpoint, query: &str) -> Response<ResponseBody> {
        let (verbose, mut excluded) = parameters(query);
        let mut lines = String::new();
        let mut failed = false;
        for check in self.of(endpoint) {
            let name = check.name;
            if excluded.remove(name) {
                lines.extend(["[+]", name, " excluded: ok\n"]);
            } else if run(check).is_ok() {
                lines.extend(["[+]", name, " ok\n"]);
            } else {
                failed = true;
                lines.extend(["[-]", name, " failed: reason withheld\n"]);
            }
        }
        if !excluded.is_empty() {
            let names: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
            lines.push_str("warn: some health checks cannot be excluded: no matches for ");
            lines.extend([&names.join(", "), "\n"]);
        }
        let word = endpoint.as_str();
        if failed {
            let code = StatusCode::INTERNAL_SERVER_ERROR;
            return text(code, format!("{lines}{word} check failed\n"), true);
        }
        let body = if verbose {
            format!("{lines}{word} check passed\n")
        } else {
            "ok".to_owned()
        };
        text(StatusCode::OK, body, true)
    }
}

impl std::fmt::Debug for Health {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.checks.iter().map(|check| check.name))
            .finish()
    }
}

/// `/livez/etcd` in its two words; a slash at the end counts for nothing.
fn split(path: &str) -> (&str, Option<&str>) {
    let path = path.strip_prefix('/').unwrap_or(path);
    let (root, check) = path.split_once('/').unwrap_or((path, ""));
    (root, Some(check).filter(|check| !check.is_empty()))
}

/// Whether `verbose` is there, and all that `exclude` names.
fn parameters(query: &str) -> (bool, BTreeSet<String>) {
    let mut verbose = false;
    let mut excluded = BTreeSet::new();
    for pair in query.split('&') {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("verbose", _) => verbose = true,
            ("exclude", name) if excluded.len() < EXCLUDES_MAX => {
                excluded.insert(name.to_owned());
            }
            _ => {}
        }
    }
    (verbose, excluded)
}

fn run(check: &Check) -> Result<(), String> {
    (check.probe)().inspect_err(|why| tracing::warn!(check = check.name, why, "not healthy"))
}

fn answer_one(check: &Check) -> Response<ResponseBody> {
    if run(check).is_ok() {
        return text(StatusCode::OK, "ok".to_owned(), false);
    }
    let body = "internal server error: reason withheld\n".to_owned();
    text(StatusCode::INTERNAL_SERVER_ERROR, body, true)
}

fn text(code: StatusCode, body: String, nosniff: bool) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::full(body));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    if nosniff {
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    async fn check(etcd: Result<(), String>, uri: &str, code: u16, body: &str) {
        const ALIVE: &[Endpoint] = &[Endpoint::Healthz, Endpoint::Livez];
        let health = Health::default().with("etcd", ALIVE, move || etcd.clone());
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let response = health.answer(path, query).unwrap();
        assert_eq!(response.status(), code, "{uri}");
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), body, "{uri}");
    }

    #[tokio::test]
    async fn answers_are_the_protocols() {
        let ok = || Ok(());
        check(ok(), "/healthz", 200, "ok").await;
        check(ok(), "/livez/ping", 200, "ok").await;
        check(ok(), "/livez/etcd", 200, "ok").await;
        check(ok(), "/readyz/etcd", 404, "404 page not found\n").await;
        check(ok(), "/livez/nothing", 404, "404 page not found\n").await;
        check(
            ok(),
            "/livez?verbose",
            200,
            "[+]ping ok\n[+]etcd ok\nlivez check passed\n",
        )
        .await;
        let body = "[+]ping ok\n[+]etcd excluded: ok\nhealthz check passed\n";
        check(ok(), "/healthz?verbose=&exclude=etcd", 200, body).await;
        let body = "[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \
                    \"a\", \"etcd\"\nreadyz check passed\n";
        check(ok(), "/readyz?exclude=etcd&verbose=1&exclude=a", 200, body).await;
        check(ok(), "/readyz?exclude=nothing", 200, "ok").await;
    }

    #[tokio::test]
    async fn failures_say_which_and_not_why() {
        let bad = || Err("secret".to_owned());
        let body = "[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed\n";
        check(bad(), "/livez", 500, body).await;
        check(bad(), "/livez?exclude=etcd", 200, "ok").await;
        check(bad(), "/readyz", 200, "ok").await;
        check(
            bad(),
            "/healthz/etcd",
            500,
            "internal server error: reason withheld\n",
        )
        .await;
    }

    #[test]
    fn other_paths_are_not_answered() {
        assert!(Health::default().answer("/healthzz", "").is_none());
        assert!(Health::default().answer("/", "").is_none());
        assert_eq!(Health::default().paths().len(), 6);
    }
}
