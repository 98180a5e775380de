//! Reads messages from the pipe: frames, and the handling of bad ones.
//!
//! The transport's own decoder ends the session at the first invalid message, keeps an endless
//! header in memory, and refuses a third header. So messages are read here, on a separate thread:
//! an invalid message is answered with a JSON-RPC error, and reading continues at the next header.
//!
//! It must not know the meaning of any method.

use std::io::Read;

use memchr::memchr;
use tokio::sync::mpsc::Sender;
use tower_lsp::jsonrpc::{ErrorCode, Id};

use super::outbox::Outbox;
use super::wire::{Incoming, failure, message};

/// Maximum length of a header block: real ones are under 100 bytes.
const MAX_HEADER: usize = 8 * 1024;

/// Maximum length of a message: the largest texts that editors open are about 50 MB, and JSON
/// escapes can double them.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// Number of bytes read from the pipe at once.
const CHUNK: usize = 64 * 1024;

const HEADER: &[u8] = b"content-length:";

/// Reads `pipe` until it ends and passes each well-formed message on; error answers go to `outbox`.
/// Blocks; meant for its own thread.
pub(crate) fn read_messages(pipe: impl Read, inbox: &Sender<Incoming>, outbox: &Outbox) {
    let mut frames = Frames {
        pipe,
        buffer: Vec::new(),
        length: None,
    };
    loop {
        let body = match frames.next() {
            WireFrame::Body(body) => body,
            WireFrame::Bad(why) => {
                outbox.push(&failure(Id::Null, ErrorCode::ParseError, why));
                continue;
            }
            WireFrame::End => return,
        };
        if body.is_empty() {
            continue;
        }
        let message = message(&body);
        // A text of many megabytes is not kept twice while the message waits.
        drop(body);
        match message {
            Ok(message) => {
                if inbox.blocking_send(message).is_err() {
                    return;
                }
            }
            Err(answer) => outbox.push(&answer),
        }
    }
}

enum WireFrame {
    Body(Vec<u8>),
    /// Invalid bytes; why.
    Bad(&'static str),
    End,
}

struct Frames<R: Read> {
    pipe: R,
    /// Bytes that are not part of a frame yet.
    buffer: Vec<u8>,
    /// The length in the header before the buffer.
    length: Option<usize>,
}

impl<R: Read> Frames<R> {
    fn next(&mut self) -> WireFrame {
        if let Some(length) = self.length.take() {
            return self.body(length);
        }
        let mut bad = None;
        let mut read = 0;
        while let Some(line) = self.line() {
            read += line.len();
            let is_whole = line.ends_with(b"\n");
            if read > MAX_HEADER || !is_whole {
                bad = Some("no header within its length limit");
                read = 0;
            }
            if !is_whole {
                continue;
            }
            // If a header's length was too small, the rest of its message precedes the next header.
            let start = find_header(&line).unwrap_or(0);
            if start > 0 {
                bad.get_or_insert("bytes outside any message");
            }
            let header = line[start..].trim_ascii();
            if header.is_empty() {
                match (self.length, bad) {
                    (None, None) => continue,
                    (Some(length), None) => {
                        self.length = None;
                        return self.body(length);
                    }
                    // The header may be valid although the bytes before it were not.
                    (_, Some(why)) => return WireFrame::Bad(why),
                }
            }
            if let Some(number) = strip_header(header) {
                let number = std::str::from_utf8(number).ok();
                let number = number.and_then(|number| number.trim().parse().ok());
                self.length = number.filter(|number| *number <= MAX_MESSAGE);
                if self.length.is_none() {
                    bad = Some("'Content-Length' is not a number, or too large");
                }
            } else if !header.contains(&b':') {
                bad = Some("bytes outside any message");
            }
        }
        bad.map_or(WireFrame::End, WireFrame::Bad)
    }

    /// The next line with its line feed, or [`MAX_HEADER`] bytes of a longer one; `None` at the
    /// end.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut searched = 0;
        loop {
            let end = memchr(b'\n', &self.buffer[searched..]);
            let length = end.map_or(self.buffer.len(), |end| searched + end + 1);
            if end.is_some() || length >= MAX_HEADER {
                return Some(self.buffer.drain(..length.min(MAX_HEADER)).collect());
            }
            searched = length;
            if !self.fill() {
                return None;
            }
        }
    }

    /// Reads a body. A header within it means that the length was wrong: no JSON text contains a
    /// raw line break between that name and a number, so the rest belongs to the next message.
    fn body(&mut self, mut length: usize) -> WireFrame {
        // A large length costs nothing before the bytes arrive: untouched memory is not allocated.
        self.buffer
            .reserve_exact((length + CHUNK).saturating_sub(self.buffer.len()));
        let mut searched = 0;
        loop {
            let have = self.buffer.len().min(length);
            if let Some(start) = swallowed_header(&self.buffer[..have], searched) {
                length = start;
                break;
            }
            if have == length {
                break;
            }
            searched = have;
            if !self.fill() {
                return WireFrame::End;
            }
        }
        let rest = self.buffer.split_off(length);
        WireFrame::Body(std::mem::replace(&mut self.buffer, rest))
    }

    /// Reads more into the buffer; false at the end.
    fn fill(&mut self) -> bool {
        let before = self.buffer.len();
        self.buffer.resize(before + CHUNK, 0);
        let read = loop {
            match self.pipe.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read.unwrap_or(0),
            }
        };
        self.buffer.truncate(before + read);
        read > 0
    }
}

fn find_header(line: &[u8]) -> Option<usize> {
    line.windows(HEADER.len())
        .position(|window| window.eq_ignore_ascii_case(HEADER))
}

fn strip_header(line: &[u8]) -> Option<&[u8]> {
    line.get(..HEADER.len())
        .filter(|name| name.eq_ignore_ascii_case(HEADER))
        .map(|_| &line[HEADER.len()..])
}

/// The start of a complete `Content-Length: 12⏎` within a body, if it ends after `searched`.
fn swallowed_header(body: &[u8], searched: usize) -> Option<usize> {
    let ends = memchr::memchr_iter(b'\n', &body[searched..]).map(|end| searched + end);
    ends.into_iter().find_map(|end| {
        let line_start = end.saturating_sub(HEADER.len() + 24);
        let line = &body[line_start..end];
        let start = find_header(line)?;
        let number = line[start + HEADER.len()..].trim_ascii();
        let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
        is_number.then_some(line_start + start)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    /// The result of reading `input`: the methods of the messages, then the errors.
    fn read(input: &[u8]) -> (Vec<String>, String) {
        let (inbox, mut messages) = tokio::sync::mpsc::channel(100);
        let outbox = Outbox::default();
        read_messages(input, &inbox, &outbox);
        drop(inbox);
        let mut methods = Vec::new();
        while let Some(message) = messages.blocking_recv() {
            methods.push(match message {
                Incoming::Call(call) => call.method().to_owned(),
                Incoming::Reply(reply) => format!("{reply:?}"),
            });
        }
        outbox.finish(Duration::ZERO);
        let mut answers = Vec::new();
        outbox.write_to(&mut answers);
        (methods, String::from_utf8(answers).unwrap())
    }

    fn note(name: &str) -> String {
        let body = json!({ "jsonrpc": "2.0", "method": name }).to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn a_wrong_length_costs_one_message_at_most() {
        let short = format!(
            "Content-Length: 10\r\n\r\n{}{}",
            &note("a")[21..],
            note("b")
        );
        let (messages, errors) = read(short.as_bytes());
        assert_eq!(messages, ["b"]);
        assert!(errors.contains("-32700"), "{errors}");

        let body = json!({ "jsonrpc": "2.0", "method": "a" }).to_string();
        let long = format!(
            "Content-Length: 100\r\n\r\n{body}{}{}",
            note("b"),
            note("c")
        );
        let (messages, _) = read(long.as_bytes());
        assert_eq!(messages, ["a", "b", "c"]);
    }

    #[test]
    fn garbage_before_a_header_is_answered_and_skipped() {
        for garbage in [
            "garbage\r\n".to_owned(),
            "garbage".to_owned(),
            "Content-Length: many\r\n\r\n".to_owned(),
            "Content-Length: 99999999999\r\n\r\n".to_owned(),
            "Content-Type: x\r\n\r\n{}\r\n".to_owned(),
            "x".repeat(3 * MAX_HEADER),
            "a: b\r\n".repeat(MAX_HEADER),
        ] {
            let input = format!("{}{garbage}{}", note("a"), note("b"));
            let (messages, errors) = read(input.as_bytes());
            assert_eq!(messages, ["a", "b"], "{:.40}", garbage);
            assert!(errors.contains("-32700"), "{:.40}: {errors}", garbage);
        }
    }

    #[test]
    fn headers_may_come_in_any_case_and_number() {
        let body = json!({ "jsonrpc": "2.0", "method": "a" }).to_string();
        let input = format!(
            "A: 1\r\nB: 2\r\ncontent-length: {}\r\nContent-Type: x; charset=utf8\r\n\r\n{body}",
            body.len()
        );
        let (messages, errors) = read(input.as_bytes());
        assert_eq!(messages, ["a"]);
        assert_eq!(errors, "");
    }

    #[test]
    fn an_invalid_message_gets_an_error_with_its_id() {
        for (body, code, id) in [
            ("{", "-32700", "null"),
            ("[]", "-32600", "null"),
            ("7", "-32600", "null"),
            (r#"{"id":3,"method":"x"}"#, "-32600", "3"),
            (r#"{"jsonrpc":"2.0","id":4}"#, "-32600", "4"),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
                "-32600",
                "null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"k","method":5}"#,
                "-32600",
                "\"k\"",
            ),
        ] {
            let input = format!("Content-Length: {}\r\n\r\n{body}{}", body.len(), note("b"));
            let (messages, errors) = read(input.as_bytes());
            assert_eq!(messages, ["b"], "{body}");
            assert!(errors.contains(code), "{body}: {errors}");
            assert!(errors.contains(&format!("\"id\":{id}")), "{body}: {errors}");
        }
        let deep = "[".repeat(100_000);
        let input = format!("Content-Length: {}\r\n\r\n{deep}{}", deep.len(), note("b"));
        let (messages, errors) = read(input.as_bytes());
        assert_eq!(messages, ["b"]);
        assert!(errors.contains("-32700"), "{errors}");
    }

    #[test]
    fn a_body_cut_off_by_the_end_is_dropped() {
        let (messages, errors) = read(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"");
        assert_eq!((messages.len(), errors.as_str()), (0, ""));
    }
}
