//! Who may in.
//!
//! | credential | the request's user |
//! |---|---|
//! | client certificate of this server's authority | whom it names |
//! | `Authorization: Bearer` with the admin token | `masthead-admin` |
//! | `Authorization: Bearer` with anything else | none: 401, whatever the path |
//! | none | `system:anonymous` on the open paths, else none: 401 |
//!
//! A certificate is looked at before a token. Members of `system:masters` may do everything;
//! others who are known may only what anonymous may, and get a 403 for the rest.

mod guard;
mod refusal;
mod token;
mod user;

use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;

pub use guard::Guard;
pub use refusal::Refusal;
pub use token::Token;
pub use user::User;

/// The name of the user who owns the server.
pub const ADMIN: &str = "masthead-admin";

/// Finds out who sends a request, and whether that user may.
#[derive(Debug)]
pub struct Authenticator {
    token: Token,
    admin: Arc<User>,
    anonymous: Arc<User>,
}

impl Authenticator {
    /// An authenticator that knows the admin by `token`.
    pub fn new(token: Token) -> Self {
        Self {
            token,
            admin: Arc::new(User::admin()),
            anonymous: Arc::new(User::anonymous()),
        }
    }

    /// Who sends a request with these headers over a connection of `certificate`'s user; `None`
    /// means that there is no credential at all.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] for a credential that is wrong.
    pub fn authenticate(
        &self,
        headers: &HeaderMap,
        certificate: Option<&Arc<User>>,
    ) -> Result<Option<Arc<User>>, Refusal> {
        if let Some(user) = certificate {
            return Ok(Some(Arc::clone(user)));
        }
        let Some(token) = bearer(headers) else {
            return Ok(None);
        };
        if self.token.is(token) {
            return Ok(Some(Arc::clone(&self.admin)));
        }
        Err(Refusal::Unauthorized)
    }

    /// Who sends a request, if that user may do it.
    ///
    /// # Errors
    /// [`Refusal`] where not.
    pub fn admit(
        &self,
        headers: &HeaderMap,
        certificate: Option<&Arc<User>>,
        verb: &str,
        path: &str,
    ) -> Result<Arc<User>, Refusal> {
        let user = self.authenticate(headers, certificate)?;
        let open = is_open(path);
        // Doing the request as the admin instead would grant more than was asked for.
        if headers
            .keys()
            .any(|name| name.as_str().starts_with("impersonate-"))
        {
            return Err(Refusal::Impersonation);
        }
        match user {
            Some(user) if open || user.is_master() => Ok(user),
            Some(user) => Err(Refusal::Forbidden {
                user: user.name().to_owned(),
                verb: verb.to_ascii_lowercase(),
                path: path.to_owned(),
            }),
            None if open => Ok(Arc::clone(&self.anonymous)),
            None => Err(Refusal::Unauthorized),
        }
    }
}

/// Paths that are open to everybody: the version and the health checks.
fn is_open(path: &str) -> bool {
    matches!(path, "/version" | "/version/")
        || ["/healthz", "/livez", "/readyz"].iter().any(|root| {
            path.strip_prefix(root)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// The token of an `Authorization: Bearer` header. Another scheme or an empty token counts as
/// no credential, as upstream has it.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(AUTHORIZATION)?.as_bytes().trim_ascii();
    let (scheme, token) = value.split_at_checked(7)?;
    let token = token.split(|byte| *byte == b' ').next()?;
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !authorization.is_empty() {
            headers.insert(AUTHORIZATION, authorization.parse().unwrap());
        }
        headers
    }

    /// The user's name, or the refusal's code.
    fn check(authorization: &str, path: &str, expected: &str) {
        let token = Token::generate().unwrap();
        let authorization = authorization.replace("TOKEN", token.reveal());
        let got = Authenticator::new(token).admit(&headers(&authorization), None, "GET", path);
        let got = got.map_or_else(|r| r.status().code.to_string(), |u| u.name().to_owned());
        assert_eq!(got, expected, "{authorization:?} {path}");
    }

    #[test]
    fn a_token_opens_everything_and_a_wrong_one_nothing() {
        check("Bearer TOKEN", "/api", ADMIN);
        check("bearer  TOKEN", "/api", "401");
        check("BEARER TOKEN", "/healthz", ADMIN);
        check("Bearer TOKENx", "/api", "401");
        check("Bearer nonsense", "/healthz", "401");
        check("Bearer a.b.c", "/version", "401");
    }

    #[test]
    fn without_a_credential_only_the_open_paths_open() {
        for none in ["", "Bearer ", "Basic YTpi", "nonsense"] {
            check(none, "/api/v1/namespaces", "401");
            check(none, "/metrics", "401");
            check(none, "/healthzz", "401");
            check(none, "/healthz", "system:anonymous");
            check(none, "/livez/ping", "system:anonymous");
            check(none, "/version/", "system:anonymous");
        }
    }

    #[test]
    fn a_certificate_goes_before_a_token() {
        let auth = Authenticator::new(Token::generate().unwrap());
        let known = Arc::new(User::authenticated("eve", []));
        let wrong = headers("Bearer nonsense");
        assert_eq!(
            auth.authenticate(&wrong, Some(&known)),
            Ok(Some(known.clone()))
        );
        let refusal = auth.admit(&wrong, Some(&known), "GET", "/api").unwrap_err();
        assert_eq!(refusal.status().code, 403);
        assert!(auth.admit(&wrong, Some(&known), "GET", "/version").is_ok());
    }
}
