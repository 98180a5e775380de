//! Bytes of the pipe to well-formed messages and back: framing, and what is done about bad frames.
//!
//! The transport's own decoder ends the session at the first message that it cannot read (its
//! `FramedRead` yields "end of stream" after an error), keeps an endless header in memory, and
//! refuses a third header. So a [`Frames`] stands before it: it reads the pipe on a thread of its
//! own, answers what is no message with a JSON-RPC error, finds the next header, and hands on
//! nothing but messages that the decoder can read. The [`Outbox`] stands behind it: writes never
//! wait for a slow client until [`MAX_BACKLOG`] is reached, so a full pipe delays no edit.
//!
//! It must not know what any method means.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A header block longer than this is no header: real ones are under 100 bytes.
const MAX_HEADER: usize = 8 * 1024;

/// A message longer than this is refused: the largest texts that editors open are about 50 MB, and
/// JSON escapes can double them.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// Arrays and objects nested deeper than this are refused, since the JSON reader behind stops at
/// 128 and takes the session with it.
const MAX_NESTING: usize = 100;

/// Unread output that makes the server wait for its client, in bytes.
const MAX_BACKLOG: usize = 32 * 1024 * 1024;

/// Unread input that makes the reading thread wait for the server, in bytes.
const MAX_UNREAD: usize = 8 * 1024 * 1024;

const HEADER: &[u8] = b"content-length:";

/// What one attempt to read a frame gave.
enum Frame {
    /// The body of a message, by its header.
    Body(Vec<u8>),
    /// Something else stood there; why.
    Bad(String),
    /// The pipe is closed.
    End,
}

/// Reads `pipe` until it ends and passes each well-formed message to `inbox`; the answers to the
/// others go to `outbox`. Blocks; meant for a thread of its own.
pub(crate) fn read_messages(pipe: impl Read, inbox: &Inbox, outbox: &Outbox) {
    let mut frames = Frames {
        pipe: BufReader::with_capacity(64 * 1024, pipe),
        returned: VecDeque::new(),
    };
    loop {
        match frames.next() {
            Frame::Body(body) => {
                if body.is_empty() {
                    continue;
                }
                let sent = match message(&body) {
                    Ok(message) => inbox.push(&frame(&message)),
                    Err(Malformed { answer, rest }) => {
                        frames.returned.extend(rest);
                        outbox.push(frame(&answer));
                        true
                    }
                };
                if !sent {
                    return;
                }
            }
            Frame::Bad(why) => outbox.push(frame(&error(Value::Null, PARSE_ERROR, &why))),
            Frame::End => {
                inbox.close();
                return;
            }
        }
    }
}

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

/// One message with its header.
fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

fn error(id: Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// A body that is no message: what to answer, and the bytes that belong to the next frame.
struct Malformed {
    answer: Value,
    rest: Vec<u8>,
}

/// Reads a body as a message in the one form that the decoder behind is sure to take.
fn message(body: &[u8]) -> Result<Value, Malformed> {
    let refuse = |answer| Malformed {
        answer,
        rest: Vec::new(),
    };
    if nesting(body) > MAX_NESTING {
        let why = format!("parse error: nested deeper than {MAX_NESTING} levels");
        return Err(refuse(error(Value::Null, PARSE_ERROR, &why)));
    }
    let value = match serde_json::from_slice::<Value>(body) {
        Ok(value) => value,
        Err(first) => {
            // JavaScript strings may hold half a surrogate pair, and well-behaved clients write
            // it as an escape that no Rust string can hold.
            let text = String::from_utf8_lossy(body);
            match serde_json::from_str(&replace_lone_surrogates(&text)) {
                Ok(value) => value,
                Err(_) => {
                    let why = format!("parse error: {first}");
                    return Err(refuse(error(Value::Null, PARSE_ERROR, &why)));
                }
            }
        }
    };
    let Value::Object(mut object) = value else {
        let why = "invalid request: a message is one JSON object";
        return Err(refuse(error(Value::Null, INVALID_REQUEST, why)));
    };
    normal_form(&mut object).map_err(|(id, why)| refuse(error(id, INVALID_REQUEST, why)))
}

/// Keeps of a message what JSON-RPC defines, so that nothing else can make the decoder stumble.
fn normal_form(object: &mut Map<String, Value>) -> Result<Value, (Value, &'static str)> {
    let id = object.remove("id");
    let usable = match &id {
        None | Some(Value::Null | Value::String(_)) => true,
        Some(Value::Number(number)) => number.is_i64(),
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => false,
    };
    if !usable {
        return Err((Value::Null, "invalid request: 'id' is a number or a string"));
    }
    let mut normal = Map::new();
    normal.insert("jsonrpc".to_owned(), Value::from("2.0"));
    if let Some(id) = &id {
        normal.insert("id".to_owned(), id.clone());
    }
    let id = id.unwrap_or(Value::Null);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((id, "invalid request: 'jsonrpc' is not \"2.0\""));
    }
    if let Some(method) = object.remove("method") {
        if !method.is_string() {
            return Err((id, "invalid request: 'method' is not a string"));
        }
        normal.insert("method".to_owned(), method);
        if let Some(params) = object.remove("params") {
            normal.insert("params".to_owned(), params);
        }
    } else if let Some(error) = object.remove("error").filter(|error| !error.is_null()) {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or(0);
        let message = error.get("message").and_then(Value::as_str);
        normal.insert(
            "error".to_owned(),
            json!({ "code": code, "message": message.unwrap_or_default() }),
        );
    } else if let Some(result) = object.remove("result") {
        normal.insert("result".to_owned(), result);
    } else {
        return Err((id, "invalid request: neither 'method' nor 'result'"));
    }
    Ok(Value::Object(normal))
}

/// How deep the arrays and objects of a JSON text nest; brackets in strings don't count.
fn nesting(body: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in body {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Writes U+FFFD for each `\uD800`…`\uDFFF` escape without its partner: as many UTF-16 units, so
/// positions behind it stay right.
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

/// Cuts the pipe into frames.
struct Frames<R: Read> {
    pipe: BufReader<R>,
    /// Bytes that were read as part of a body but belong to the next frame.
    returned: VecDeque<u8>,
}

impl<R: Read> Frames<R> {
    fn next(&mut self) -> Frame {
        let mut length = None;
        let mut read = 0;
        let mut bad = None;
        loop {
            let mut line = Vec::new();
            match self.line(&mut line) {
                Line::End => return bad.map_or(Frame::End, Frame::Bad),
                Line::TooLong => {
                    bad = Some("parse error: no header within its length limit".to_owned());
                    read = 0;
                    continue;
                }
                Line::Read => {}
            }
            read += line.len();
            if read > MAX_HEADER {
                bad = Some("parse error: header block too long".to_owned());
                read = 0;
            }
            // Bytes of a message whose header said too little stand before the next header.
            let start = find_header(&line).unwrap_or(0);
            if start > 0 {
                bad.get_or_insert_with(|| "parse error: bytes outside any message".to_owned());
            }
            let header = line[start..].trim_ascii();
            if header.is_empty() {
                match (length, bad.take()) {
                    (None, None) => continue,
                    (Some(length), None) => return self.body(length),
                    (Some(length), Some(why)) => {
                        // The header is good, what stood before it was not: say so, then read it.
                        let header = format!("Content-Length: {length}\r\n\r\n");
                        self.give_back(header.as_bytes());
                        return Frame::Bad(why);
                    }
                    (None, Some(why)) => return Frame::Bad(why),
                }
            }
            if let Some(number) = strip_header(header) {
                match std::str::from_utf8(number).map(|text| text.trim().parse::<usize>()) {
                    Ok(Ok(number)) if number <= MAX_MESSAGE => length = Some(number),
                    Ok(Ok(_)) => {
                        length = None;
                        bad = Some("parse error: 'Content-Length' is too large".to_owned());
                    }
                    Ok(Err(_)) | Err(_) => {
                        length = None;
                        bad = Some("parse error: 'Content-Length' is not a number".to_owned());
                    }
                }
            } else if !header.contains(&b':') {
                bad = Some("parse error: bytes outside any message".to_owned());
            }
        }
    }

    /// Puts bytes back in front of everything unread.
    fn give_back(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().rev() {
            self.returned.push_front(*byte);
        }
    }

    /// Reads up to and including a line feed, at most [`MAX_HEADER`] bytes.
    fn line(&mut self, line: &mut Vec<u8>) -> Line {
        while line.len() < MAX_HEADER {
            let byte = match self.returned.pop_front() {
                Some(byte) => byte,
                None => {
                    let limit = (MAX_HEADER - line.len()) as u64;
                    let before = line.len();
                    let mut part = (&mut self.pipe).take(limit);
                    return match part.read_until(b'\n', line) {
                        Ok(0) if before == 0 => Line::End,
                        Ok(_) if line.ends_with(b"\n") => Line::Read,
                        Ok(_) if line.len() >= MAX_HEADER => Line::TooLong,
                        // The pipe ended within a line.
                        Ok(_) | Err(_) => Line::End,
                    };
                }
            };
            line.push(byte);
            if byte == b'\n' {
                return Line::Read;
            }
        }
        Line::TooLong
    }

    /// Reads a body. A header within it means that the length was wrong: no JSON text holds a raw
    /// line break between that name and a number, so what follows belongs to the next message.
    fn body(&mut self, length: usize) -> Frame {
        let mut body = Vec::with_capacity(length.min(1 << 20));
        let mut searched = 0;
        while body.len() < length {
            if !self.returned.is_empty() {
                let take = self.returned.len().min(length - body.len());
                body.extend(self.returned.drain(..take));
            } else {
                let available = match self.pipe.fill_buf() {
                    Ok([]) | Err(_) => return Frame::End,
                    Ok(available) => available,
                };
                let take = available.len().min(length - body.len());
                body.extend_from_slice(&available[..take]);
                self.pipe.consume(take);
            }
            if let Some(start) = swallowed_header(&body, searched) {
                let rest = body.split_off(start);
                self.give_back(&rest);
                break;
            }
            searched = body.len();
        }
        Frame::Body(body)
    }
}

enum Line {
    Read,
    TooLong,
    End,
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

/// The start of a whole `Content-Length: 12⏎` within a body, if its end lies behind `searched`.
fn swallowed_header(body: &[u8], searched: usize) -> Option<usize> {
    let mut from = searched;
    while let Some(found) = body[from..].iter().position(|byte| *byte == b'\n') {
        let end = from + found;
        let line_start = end.saturating_sub(HEADER.len() + 24);
        let line = &body[line_start..end];
        if let Some(start) = find_header(line) {
            let number = line[start + HEADER.len()..].trim_ascii();
            if !number.is_empty() && number.iter().all(u8::is_ascii_digit) {
                return Some(line_start + start);
            }
        }
        from = end + 1;
    }
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves these queues whole: each change is one push or pop.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Well-formed frames on their way from the reading thread to the transport.
#[derive(Clone, Default)]
pub(crate) struct Inbox(Arc<(Mutex<Unread>, Condvar)>);

#[derive(Default)]
struct Unread {
    bytes: VecDeque<u8>,
    closed: bool,
    reader: Option<Waker>,
}

impl Inbox {
    /// Adds a frame; waits while too much is unread. False once nobody reads any more.
    fn push(&self, frame: &[u8]) -> bool {
        let (unread, room) = &*self.0;
        let mut unread = lock(unread);
        while unread.bytes.len() > MAX_UNREAD && !unread.closed {
            unread = room.wait(unread).unwrap_or_else(PoisonError::into_inner);
        }
        if unread.closed {
            return false;
        }
        unread.bytes.extend(frame);
        if let Some(reader) = unread.reader.take() {
            reader.wake();
        }
        true
    }

    /// Ends the stream behind what is already in it.
    pub(crate) fn close(&self) {
        let (unread, room) = &*self.0;
        let mut unread = lock(unread);
        unread.closed = true;
        room.notify_all();
        if let Some(reader) = unread.reader.take() {
            reader.wake();
        }
    }
}

impl AsyncRead for Inbox {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let (unread, room) = &*self.0;
        let mut unread = lock(unread);
        if unread.bytes.is_empty() {
            if unread.closed {
                return Poll::Ready(Ok(()));
            }
            unread.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let (front, _) = unread.bytes.as_slices();
        let take = front.len().min(buffer.remaining());
        buffer.put_slice(&front[..take]);
        unread.bytes.drain(..take);
        room.notify_one();
        Poll::Ready(Ok(()))
    }
}

/// Frames on their way to the client, written by a thread of their own.
#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<(Mutex<Unwritten>, Condvar)>);

#[derive(Default)]
struct Unwritten {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether the thread is inside a write; nothing is lost while it is.
    writing: bool,
    /// The pipe is broken: whatever comes is thrown away.
    broken: bool,
    closed: bool,
    writer: Option<Waker>,
}

impl Outbox {
    fn push(&self, frame: Vec<u8>) {
        let (unwritten, changed) = &*self.0;
        let mut unwritten = lock(unwritten);
        if unwritten.broken {
            return;
        }
        unwritten.bytes += frame.len();
        unwritten.frames.push_back(frame);
        changed.notify_all();
    }

    /// Writes frames to `pipe` until [`Outbox::finish`]; true if the pipe took them all. Blocks;
    /// meant for a thread of its own.
    pub(crate) fn write_to(&self, mut pipe: impl Write) -> bool {
        let (unwritten, changed) = &*self.0;
        loop {
            let frame = {
                let mut unwritten = lock(unwritten);
                loop {
                    if let Some(frame) = unwritten.frames.pop_front() {
                        unwritten.writing = true;
                        break frame;
                    }
                    if unwritten.closed {
                        return true;
                    }
                    unwritten = changed
                        .wait(unwritten)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            };
            let written = pipe.write_all(&frame).and_then(|()| pipe.flush());
            let mut unwritten = lock(unwritten);
            unwritten.writing = false;
            unwritten.bytes -= frame.len();
            if written.is_err() {
                unwritten.broken = true;
                unwritten.frames.clear();
                unwritten.bytes = 0;
            }
            if let Some(writer) = unwritten.writer.take() {
                writer.wake();
            }
            changed.notify_all();
            if unwritten.broken {
                return false;
            }
        }
    }

    /// Lets the writing thread end once it is through, and waits for that at most `patience`.
    pub(crate) fn finish(&self, patience: Duration) {
        let (unwritten, changed) = &*self.0;
        let mut unwritten = lock(unwritten);
        unwritten.closed = true;
        changed.notify_all();
        drop(
            changed.wait_timeout_while(unwritten, patience, |unwritten| {
                !unwritten.broken && (unwritten.writing || !unwritten.frames.is_empty())
            }),
        );
    }
}

impl AsyncWrite for Outbox {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        {
            let mut unwritten = lock(&self.0.0);
            if unwritten.broken {
                return Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()));
            }
            if unwritten.bytes > MAX_BACKLOG {
                unwritten.writer = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
        // The encoder hands over whole frames only, so an error reply never lands inside one.
        self.push(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `input` is read as: the messages, then the errors.
    fn read(input: &[u8]) -> (String, String) {
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        read_messages(input, &inbox, &outbox);
        let bytes: Vec<u8> = lock(&inbox.0.0).bytes.iter().copied().collect();
        outbox.finish(Duration::ZERO);
        let mut answers = Vec::new();
        outbox.write_to(&mut answers);
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace("\r\n\r\n", " ")
                .replace("Content-Length:", "\n")
        };
        (text(bytes), text(answers))
    }

    fn note(name: &str) -> String {
        let body = json!({ "jsonrpc": "2.0", "method": name }).to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    fn methods(messages: &str) -> Vec<String> {
        messages
            .split("\"method\":\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_wrong_length_costs_one_message_at_most() {
        let short = format!(
            "Content-Length: 10\r\n\r\n{}{}",
            &note("a")[21..],
            note("b")
        );
        let (messages, errors) = read(short.as_bytes());
        assert_eq!(methods(&messages), ["b"]);
        assert!(errors.contains("-32700"), "{errors}");

        let body = json!({ "jsonrpc": "2.0", "method": "a" }).to_string();
        let long = format!(
            "Content-Length: 100\r\n\r\n{body}{}{}",
            note("b"),
            note("c")
        );
        let (messages, _) = read(long.as_bytes());
        assert_eq!(methods(&messages), ["a", "b", "c"]);
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
            assert_eq!(methods(&messages), ["a", "b"], "{:.40}", garbage);
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
        assert_eq!(methods(&messages), ["a"]);
        assert_eq!(errors, "");
    }

    #[test]
    fn what_is_no_message_gets_an_error_with_its_id() {
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
            assert_eq!(methods(&messages), ["b"], "{body}");
            assert!(errors.contains(code), "{body}: {errors}");
            assert!(errors.contains(&format!("\"id\":{id}")), "{body}: {errors}");
        }
        let deep = "[".repeat(100_000);
        let input = format!("Content-Length: {}\r\n\r\n{deep}{}", deep.len(), note("b"));
        let (messages, errors) = read(input.as_bytes());
        assert_eq!(methods(&messages), ["b"]);
        assert!(errors.contains("deeper"), "{errors}");
    }

    #[test]
    fn half_a_surrogate_pair_is_one_unit() {
        let fixed = replace_lone_surrogates(r"a\ud83d b\ude00 \ud83d\ude00 \\ud83d \u00e9");
        assert_eq!(fixed, r"a\ufffd b\ufffd \ud83d\ude00 \\ud83d \u00e9");
    }

    #[test]
    fn a_body_cut_off_by_the_end_is_dropped() {
        let (messages, errors) = read(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"");
        assert_eq!((messages.as_str(), errors.as_str()), ("", ""));
    }
}
