//! Answers of the daemon.
#![forbid(unsafe_code)]

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use super::body::{BodyError, Share, held};

/// Seconds after which a client that was pushed back should come again.
const LATER: u64 = 1;

/// Grows with every breaking change of a name or meaning.
const SCHEMA: u32 = 1;

/// Status, headers and the whole body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    kind: &'static str,
    later: bool,
    allow: Option<String>,
    /// The rest of the request is not read.
    close: bool,
    share: Option<Share>,
}

impl Answer {
    pub(super) const fn text(kind: &'static str, body: Vec<u8>) -> Self {
        Self {
            status: 200,
            body,
            kind,
            later: false,
            allow: None,
            close: false,
            share: None,
        }
    }

    pub(super) fn json(status: u16, mut value: Value) -> Self {
        if let Value::Object(fields) = &mut value {
            fields.insert("schema".into(), json!(SCHEMA));
        }
        Self {
            status,
            ..Self::text("application/json", value.to_string().into())
        }
    }

    pub(super) fn error(status: u16, message: &str) -> Self {
        Self::json(
            status,
            json!({"error": {"status": status, "message": message}}),
        )
    }

    pub(super) fn of_body(error: BodyError, most: usize) -> Self {
        let answer = match error {
            BodyError::TooLong => Self::error(413, &format!("a body has at most {most} bytes")),
            BodyError::NoRoom => Self::error(429, "too many bytes are in flight").later(),
            BodyError::Slow => Self::error(408, "the body did not come in time"),
            BodyError::Broken => Self::error(400, "the body broke off"),
        };
        Self {
            close: true,
            ..answer
        }
    }

    /// Tells when to come again.
    pub(super) const fn later(mut self) -> Self {
        self.later = true;
        self
    }

    pub(super) fn allow(mut self, methods: String) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Keeps a part of the budget until the body is sent.
    pub(super) fn hold(mut self, share: Share) -> Self {
        self.share = Some(share);
        self
    }

    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(held(self.body, self.share)));
        *response.status_mut() =
            hyper::StatusCode::from_u16(self.status).unwrap_or(hyper::StatusCode::OK);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.later {
            headers.insert(RETRY_AFTER, LATER.into());
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(Ok(methods)) = self.allow.map(HeaderValue::try_from) {
            headers.insert(ALLOW, methods);
        }
        response
    }
}
