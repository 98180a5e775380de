//! Messages as JSON, and what is said to those that are none.
//!
//! It must not know the meaning of any method.

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

pub(crate) enum Incoming {
    Call(Request),
    /// The answer to a request of the server.
    Reply(Response),
}

pub(super) fn failure(id: Id, code: ErrorCode, why: &str) -> Response {
    let error = Error {
        code,
        message: format!("{}: {why}", code.description().to_lowercase()).into(),
        data: None,
    };
    Response::from_error(id, error)
}

/// Parses a body as a message.
///
/// # Errors
/// The answer to an invalid message.
#[expect(
    clippy::result_large_err,
    reason = "one for each message; the answer is sent right away"
)]
pub(super) fn message(body: &[u8]) -> Result<Incoming, Response> {
    let value = serde_json::from_slice::<Value>(body).or_else(|first| {
        // JavaScript strings may contain half a surrogate pair, and well-behaved clients write it
        // as an escape that no Rust string can represent.
        let text = String::from_utf8_lossy(body);
        serde_json::from_str(&replace_lone_surrogates(&text)).map_err(|_| first)
    });
    let value = value.map_err(|why| failure(Id::Null, ErrorCode::ParseError, &why.to_string()))?;
    let invalid = |id, why| failure(id, ErrorCode::InvalidRequest, why);
    let Value::Object(mut object) = value else {
        return Err(invalid(Id::Null, "a message is one JSON object"));
    };
    let id = match object.remove("id").map(serde_json::from_value::<Id>) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return Err(invalid(Id::Null, "'id' is a number or a string")),
    };
    let known = || id.clone().unwrap_or(Id::Null);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(known(), "'jsonrpc' is not \"2.0\""));
    }
    if let Some(method) = object.remove("method") {
        let Value::String(method) = method else {
            return Err(invalid(known(), "'method' is not a string"));
        };
        let mut call = Request::build(method);
        if let Some(id) = id {
            call = call.id(id);
        }
        if let Some(params) = object.remove("params") {
            call = call.params(params);
        }
        return Ok(Incoming::Call(call.finish()));
    }
    if let Some(error) = object.remove("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str);
        let error = Error {
            code: error
                .get("code")
                .and_then(Value::as_i64)
                .unwrap_or(0)
                .into(),
            message: message.unwrap_or_default().to_owned().into(),
            data: None,
        };
        return Ok(Incoming::Reply(Response::from_error(known(), error)));
    }
    match object.remove("result") {
        Some(result) => Ok(Incoming::Reply(Response::from_ok(known(), result))),
        None => Err(invalid(known(), "neither 'method' nor 'result'")),
    }
}

/// Writes U+FFFD for each `\uD800`…`\uDFFF` escape without its partner: the same number of UTF-16
/// units, so later positions stay right.
fn replace_lone_surrogates(json: &str) -> String {
    let bytes = json.as_bytes();
    let unit = |at: usize| -> Option<u32> {
        if bytes.get(at..at + 2)? != b"\\u" {
            return None;
        }
        u32::from_str_radix(json.get(at + 2..at + 6)?, 16).ok()
    };
    let mut fixed = String::with_capacity(json.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let width = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                fixed.push_str(&json[copied..at]);
                fixed.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        at += width;
    }
    fixed.push_str(&json[copied.min(json.len())..]);
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_one_unit() {
        let fixed = replace_lone_surrogates(r"a\ud83d b\ude00 \ud83d\ude00 \\ud83d \u00e9");
        assert_eq!(fixed, r"a\ufffd b\ufffd \ud83d\ude00 \\ud83d \u00e9");
    }
}
