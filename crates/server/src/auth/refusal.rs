//! [`Refusal`]: the answer to who may not.

use http::Response;
use http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use masthead_api::Status;

use crate::listen::ResponseBody;
use crate::respond::{self, Layout};

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The credential is missing or wrong.
    #[error("no good credential")]
    Unauthorized,
    /// The request is to be done as somebody else, which is not possible here.
    #[error("impersonation is not supported; leave out --as and --as-group")]
    Impersonation,
    /// The user is known and may not.
    #[error("user {user:?} cannot {verb} path {path:?}")]
    Forbidden {
        /// The user's name.
        user: String,
        /// What the user wanted to do, in lower case.
        verb: String,
        /// To which path.
        path: String,
    },
}

impl Refusal {
    /// 401 or 403.
    pub fn status(&self) -> Status {
        match self {
            Self::Unauthorized => Status::unauthorized(),
            Self::Forbidden { .. } | Self::Impersonation => {
                Status::forbidden("", "", "", &capital(&self.to_string()))
            }
        }
    }

    /// The whole answer: a Status as JSON.
    pub fn response(&self) -> Response<ResponseBody> {
        let mut response = respond::status(&self.status(), Layout::Json);
        if *self != Self::Unauthorized {
            let headers = response.headers_mut();
            headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        response
    }
}

/// `user "x" …` as the protocol spells it.
fn capital(text: &str) -> String {
    text.strip_prefix("user ")
        .map_or_else(|| text.to_owned(), |rest| format!("User {rest}"))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    async fn body(refusal: Refusal) -> String {
        let bytes = refusal
            .response()
            .into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn bodies_are_the_protocols() {
        let expected = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#;
        assert_eq!(body(Refusal::Unauthorized).await.trim_end(), expected);
        let refusal = Refusal::Forbidden {
            user: "eve".to_owned(),
            verb: "get".to_owned(),
            path: "/api".to_owned(),
        };
        let expected = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: User \"eve\" cannot get path \"/api\"","reason":"Forbidden","details":{},"code":403}"#;
        assert_eq!(body(refusal).await.trim_end(), expected);
    }
}
