//! A safe interface to libyaml's parser and emitter: the only `unsafe` of the crate.
//!
//! Psych, and so Puppet, wraps the same library, so events, positions and error messages are
//! Puppet's own. It must not know trees or values. Offsets count bytes, columns count characters
//! (`SKIP` in libyaml's `scanner.c`).
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use unsafe_libyaml as unsafe_sys;

use super::tree::ScalarStyle;
pub use super::yaml_event::{
    CollectionStyle, Emit, EmitError, Event, EventKind, Mark, SyntaxError, YamlEvent,
};

impl From<unsafe_sys::yaml_mark_t> for Mark {
    fn from(mark: unsafe_sys::yaml_mark_t) -> Mark {
        Mark {
            index: mark.index as usize,
            line: mark.line as usize,
            column: mark.column as usize,
        }
    }
}

/// A running parser over one text, read as UTF-8 whatever its bytes are, as Psych does.
pub struct Parser<'t> {
    raw: Box<MaybeUninit<unsafe_sys::yaml_parser_t>>,
    /// The last event handed out; freed before the next one.
    event: Option<unsafe_sys::yaml_event_t>,
    finished: bool,
    text: PhantomData<&'t [u8]>,
}

impl<'t> Parser<'t> {
    /// Starts reading `text`.
    #[must_use]
    pub fn new(text: &'t [u8]) -> Parser<'t> {
        let mut raw = Box::new(MaybeUninit::<unsafe_sys::yaml_parser_t>::uninit());
        // SAFETY: `initialize` fills the whole struct and cannot fail but by running out of
        // memory, which aborts. The struct is boxed and never moves, as the input string's
        // handler keeps a pointer to it. The text outlives the parser by `'t`.
        unsafe {
            let parser = raw.as_mut_ptr();
            let _ = unsafe_sys::yaml_parser_initialize(parser);
            unsafe_sys::yaml_parser_set_encoding(parser, unsafe_sys::YAML_UTF8_ENCODING);
            unsafe_sys::yaml_parser_set_input_string(parser, text.as_ptr(), text.len() as u64);
        }
        Parser {
            raw,
            event: None,
            finished: false,
            text: PhantomData,
        }
    }

    /// The next event; `None` after the end of the stream or an error.
    ///
    /// # Errors
    ///
    /// The first syntax error; the next call returns `None`.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, SyntaxError> {
        self.free_event();
        if self.finished {
            return Ok(None);
        }
        let mut event = MaybeUninit::<unsafe_sys::yaml_event_t>::uninit();
        // SAFETY: the parser is initialized; `parse` fills the event when it succeeds and leaves
        // nothing to free when it fails.
        let event = unsafe {
            if unsafe_sys::yaml_parser_parse(self.raw.as_mut_ptr(), event.as_mut_ptr()).fail {
                self.finished = true;
                return Err(self.error());
            }
            event.assume_init()
        };
        self.finished = event.type_ == unsafe_sys::YAML_STREAM_END_EVENT;
        let event: &unsafe_sys::yaml_event_t = self.event.insert(event);
        // SAFETY: the union's field is chosen by the event's type; its strings are NUL-terminated
        // (or have a length) and live until the event is freed, which needs `&mut self`.
        let kind = unsafe {
            match event.type_ {
                unsafe_sys::YAML_STREAM_START_EVENT => EventKind::StreamStart,
                unsafe_sys::YAML_DOCUMENT_START_EVENT => EventKind::DocumentStart {
                    implicit: event.data.document_start.implicit,
                },
                unsafe_sys::YAML_DOCUMENT_END_EVENT => EventKind::DocumentEnd {
                    implicit: event.data.document_end.implicit,
                },
                unsafe_sys::YAML_ALIAS_EVENT => EventKind::Alias {
                    anchor: c_text(event.data.alias.anchor).unwrap_or_default(),
                },
                unsafe_sys::YAML_SCALAR_EVENT => {
                    let scalar = &event.data.scalar;
                    let bytes = std::slice::from_raw_parts(scalar.value, scalar.length as usize);
                    EventKind::Scalar {
                        anchor: c_text(scalar.anchor),
                        tag: c_text(scalar.tag),
                        value: match std::str::from_utf8(bytes) {
                            Ok(text) => Cow::Borrowed(text),
                            Err(_) => String::from_utf8_lossy(bytes),
                        },
                        plain_implicit: scalar.plain_implicit,
                        quoted_implicit: scalar.quoted_implicit,
                        style: scalar_style(scalar.style),
                    }
                }
                unsafe_sys::YAML_SEQUENCE_START_EVENT => {
                    let start = &event.data.sequence_start;
                    EventKind::SequenceStart {
                        anchor: c_text(start.anchor),
                        tag: c_text(start.tag),
                        implicit: start.implicit,
                        style: collection_style(
                            start.style == unsafe_sys::YAML_FLOW_SEQUENCE_STYLE,
                        ),
                    }
                }
                unsafe_sys::YAML_SEQUENCE_END_EVENT => EventKind::SequenceEnd,
                unsafe_sys::YAML_MAPPING_START_EVENT => {
                    let start = &event.data.mapping_start;
                    EventKind::MappingStart {
                        anchor: c_text(start.anchor),
                        tag: c_text(start.tag),
                        implicit: start.implicit,
                        style: collection_style(start.style == unsafe_sys::YAML_FLOW_MAPPING_STYLE),
                    }
                }
                unsafe_sys::YAML_MAPPING_END_EVENT => EventKind::MappingEnd,
                unsafe_sys::YAML_STREAM_END_EVENT | unsafe_sys::YAML_NO_EVENT | _ => {
                    EventKind::StreamEnd
                }
            }
        };
        Ok(Some(Event {
            kind,
            start: event.start_mark.into(),
            end: event.end_mark.into(),
        }))
    }

    fn error(&self) -> SyntaxError {
        // SAFETY: the parser is initialized, and its problem and context are static C strings.
        unsafe {
            let parser = self.raw.assume_init_ref();
            SyntaxError {
                problem: match static_text(parser.problem) {
                    // libyaml's own spelling, which the Rust port corrects.
                    Some("did not find expected hexadecimal number") => {
                        "did not find expected hexdecimal number"
                    }
                    problem => problem.unwrap_or("unknown error"),
                },
                context: static_text(parser.context),
                problem_mark: parser.problem_mark.into(),
                context_mark: parser.context_mark.into(),
                problem_offset: parser.problem_offset as usize,
                reader: parser.error == unsafe_sys::YAML_READER_ERROR,
            }
        }
    }

    fn free_event(&mut self) {
        if let Some(mut event) = self.event.take() {
            // SAFETY: the event came from `yaml_parser_parse` and is freed once.
            unsafe { unsafe_sys::yaml_event_delete(&raw mut event) };
        }
    }
}

impl Drop for Parser<'_> {
    fn drop(&mut self) {
        self.free_event();
        // SAFETY: the parser is initialized and deleted once.
        unsafe { unsafe_sys::yaml_parser_delete(self.raw.as_mut_ptr()) };
    }
}

fn scalar_style(style: unsafe_sys::yaml_scalar_style_t) -> ScalarStyle {
    match style {
        unsafe_sys::YAML_SINGLE_QUOTED_SCALAR_STYLE => ScalarStyle::SingleQuoted,
        unsafe_sys::YAML_DOUBLE_QUOTED_SCALAR_STYLE => ScalarStyle::DoubleQuoted,
        unsafe_sys::YAML_LITERAL_SCALAR_STYLE => ScalarStyle::Literal,
        unsafe_sys::YAML_FOLDED_SCALAR_STYLE => ScalarStyle::Folded,
        unsafe_sys::YAML_PLAIN_SCALAR_STYLE | unsafe_sys::YAML_ANY_SCALAR_STYLE | _ => {
            ScalarStyle::Plain
        }
    }
}

fn collection_style(is_flow: bool) -> CollectionStyle {
    if is_flow {
        CollectionStyle::Flow
    } else {
        CollectionStyle::Block
    }
}

/// A string that libyaml owns. The `%`-escapes of a tag may spell invalid bytes.
///
/// # Safety
///
/// `pointer` is null or a NUL-terminated string that lives for `'p`.
unsafe fn c_text<'p>(pointer: *const u8) -> Option<Cow<'p, str>> {
    // SAFETY: as above.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer.cast()).to_string_lossy() })
}

/// One of libyaml's message texts.
///
/// # Safety
///
/// `pointer` is null or a NUL-terminated string that lives for ever.
unsafe fn static_text(pointer: *const i8) -> Option<&'static str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(pointer.cast()) }.to_str().ok()
}

/// A running emitter with the settings of `Psych.dump`: unescaped Unicode, two spaces of
/// indentation, lines folded at the default width of 80.
pub struct Emitter {
    raw: Box<MaybeUninit<unsafe_sys::yaml_emitter_t>>,
    /// The output so far: a leaked box, because the emitter writes through this pointer.
    output: *mut Vec<u8>,
}

impl Default for Emitter {
    fn default() -> Emitter {
        Emitter::new()
    }
}

/// The raw style of a scalar; for `None`, and for JSON's styles, libyaml chooses.
fn raw_scalar_style(style: Option<ScalarStyle>) -> unsafe_sys::yaml_scalar_style_t {
    match style {
        None | Some(ScalarStyle::JsonString | ScalarStyle::JsonLiteral) => {
            unsafe_sys::YAML_ANY_SCALAR_STYLE
        }
        Some(ScalarStyle::Plain) => unsafe_sys::YAML_PLAIN_SCALAR_STYLE,
        Some(ScalarStyle::SingleQuoted) => unsafe_sys::YAML_SINGLE_QUOTED_SCALAR_STYLE,
        Some(ScalarStyle::DoubleQuoted) => unsafe_sys::YAML_DOUBLE_QUOTED_SCALAR_STYLE,
        Some(ScalarStyle::Literal) => unsafe_sys::YAML_LITERAL_SCALAR_STYLE,
        Some(ScalarStyle::Folded) => unsafe_sys::YAML_FOLDED_SCALAR_STYLE,
    }
}

fn raw_sequence_style(style: CollectionStyle) -> unsafe_sys::yaml_sequence_style_t {
    match style {
        CollectionStyle::Block => unsafe_sys::YAML_BLOCK_SEQUENCE_STYLE,
        CollectionStyle::Flow => unsafe_sys::YAML_FLOW_SEQUENCE_STYLE,
    }
}

fn raw_mapping_style(style: CollectionStyle) -> unsafe_sys::yaml_mapping_style_t {
    match style {
        CollectionStyle::Block => unsafe_sys::YAML_BLOCK_MAPPING_STYLE,
        CollectionStyle::Flow => unsafe_sys::YAML_FLOW_MAPPING_STYLE,
    }
}

impl Emitter {
    /// An emitter without output.
    #[must_use]
    pub fn new() -> Emitter {
        let mut raw = Box::new(MaybeUninit::<unsafe_sys::yaml_emitter_t>::uninit());
        let output = Box::into_raw(Box::new(Vec::new()));
        // SAFETY: `initialize` fills the whole struct; the output vector lives until the emitter
        // is dropped.
        unsafe {
            let emitter = raw.as_mut_ptr();
            let _ = unsafe_sys::yaml_emitter_initialize(emitter);
            unsafe_sys::yaml_emitter_set_unicode(emitter, true);
            unsafe_sys::yaml_emitter_set_indent(emitter, 2);
            unsafe_sys::yaml_emitter_set_width(emitter, 0);
            unsafe_sys::yaml_emitter_set_output(emitter, append, output.cast());
        }
        Emitter { raw, output }
    }

    /// Emits one event. Text may be held back until later events or the end of the stream.
    ///
    /// # Errors
    ///
    /// An event that is not allowed here, or an anchor or tag that cannot be written.
    pub fn emit(&mut self, event: &Emit<'_>) -> Result<(), EmitError> {
        let mut raw = MaybeUninit::<unsafe_sys::yaml_event_t>::uninit();
        let into = raw.as_mut_ptr();
        // SAFETY: every `initialize` copies the strings it is given and fills the event when it
        // succeeds. The strings are NUL-terminated or have a length.
        let made = unsafe {
            match event {
                Emit::StreamStart => unsafe_sys::yaml_stream_start_event_initialize(
                    into,
                    unsafe_sys::YAML_UTF8_ENCODING,
                ),
                Emit::StreamEnd => unsafe_sys::yaml_stream_end_event_initialize(into),
                Emit::DocumentStart { implicit } => {
                    unsafe_sys::yaml_document_start_event_initialize(
                        into,
                        ptr::null_mut(),
                        ptr::null_mut(),
                        ptr::null_mut(),
                        *implicit,
                    )
                }
                Emit::DocumentEnd { implicit } => {
                    unsafe_sys::yaml_document_end_event_initialize(into, *implicit)
                }
                Emit::Alias { anchor } => {
                    let anchor = c_string(Some(anchor))?;
                    unsafe_sys::yaml_alias_event_initialize(into, pointer(anchor.as_deref()))
                }
                Emit::Scalar {
                    anchor,
                    tag,
                    value,
                    plain_implicit,
                    quoted_implicit,
                    style,
                } => {
                    let (anchor, tag) = (c_string(*anchor)?, c_string(*tag)?);
                    let Ok(length) = i32::try_from(value.len()) else {
                        return Err(refused("scalar is too long"));
                    };
                    unsafe_sys::yaml_scalar_event_initialize(
                        into,
                        pointer(anchor.as_deref()),
                        pointer(tag.as_deref()),
                        value.as_ptr(),
                        length,
                        *plain_implicit,
                        *quoted_implicit,
                        raw_scalar_style(*style),
                    )
                }
                Emit::SequenceStart {
                    anchor,
                    tag,
                    implicit,
                    style,
                } => {
                    let (anchor, tag) = (c_string(*anchor)?, c_string(*tag)?);
                    unsafe_sys::yaml_sequence_start_event_initialize(
                        into,
                        pointer(anchor.as_deref()),
                        pointer(tag.as_deref()),
                        *implicit,
                        raw_sequence_style(*style),
                    )
                }
                Emit::SequenceEnd => unsafe_sys::yaml_sequence_end_event_initialize(into),
                Emit::MappingStart {
                    anchor,
                    tag,
                    implicit,
                    style,
                } => {
                    let (anchor, tag) = (c_string(*anchor)?, c_string(*tag)?);
                    unsafe_sys::yaml_mapping_start_event_initialize(
                        into,
                        pointer(anchor.as_deref()),
                        pointer(tag.as_deref()),
                        *implicit,
                        raw_mapping_style(*style),
                    )
                }
                Emit::MappingEnd => unsafe_sys::yaml_mapping_end_event_initialize(into),
            }
        };
        if made.fail {
            return Err(refused("text is not valid UTF-8"));
        }
        // SAFETY: the event is filled, and the emitter takes it over, also when it fails.
        unsafe {
            if unsafe_sys::yaml_emitter_emit(self.raw.as_mut_ptr(), into).fail {
                let problem = static_text(self.raw.assume_init_ref().problem);
                return Err(refused(problem.unwrap_or("unknown error")));
            }
        }
        Ok(())
    }

    /// The output. Complete after [`YamlEvent::StreamEnd`].
    #[must_use]
    pub fn finish(self) -> String {
        // SAFETY: the vector lives as long as `self`, and the emitter is not writing.
        let output = unsafe { &*self.output };
        String::from_utf8_lossy(output).into_owned()
    }
}

impl Drop for Emitter {
    fn drop(&mut self) {
        // SAFETY: the emitter is initialized and deleted once; the vector came from a box.
        unsafe {
            unsafe_sys::yaml_emitter_delete(self.raw.as_mut_ptr());
            drop(Box::from_raw(self.output));
        }
    }
}

/// Writes a whole stream of events as YAML.
#[cfg(test)]
pub(super) fn emit_yaml<'a>(
    events: impl IntoIterator<Item = Emit<'a>>,
) -> Result<String, EmitError> {
    let mut emitter = Emitter::new();
    for event in events {
        emitter.emit(&event)?;
    }
    Ok(emitter.finish())
}

/// libyaml's write handler: `data` is the emitter's output vector.
///
/// # Safety
///
/// As libyaml calls it: `buffer` holds `size` bytes, `data` is the pointer given above.
unsafe fn append(data: *mut c_void, buffer: *mut u8, size: u64) -> i32 {
    // SAFETY: as above.
    unsafe {
        let output = &mut *data.cast::<Vec<u8>>();
        output.extend_from_slice(std::slice::from_raw_parts(buffer, size as usize));
    }
    1
}

fn refused(problem: &str) -> EmitError {
    EmitError {
        problem: problem.to_owned(),
    }
}

fn c_string(text: Option<&str>) -> Result<Option<CString>, EmitError> {
    text.map(CString::new)
        .transpose()
        .map_err(|_| refused("anchors and tags cannot hold a NUL character"))
}

fn pointer(text: Option<&CStr>) -> *const u8 {
    text.map_or(ptr::null(), |text| text.as_ptr().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let mut parser = Parser::new(text.as_bytes());
        let mut out = String::new();
        loop {
            match parser.next_event() {
                Ok(None) => return out,
                Ok(Some(event)) => {
                    out.push_str(&format!("{}..{} ", event.start.index, event.end.index));
                }
                Err(error) => {
                    out.push_str(&error.message(0));
                    return out;
                }
            }
        }
    }

    #[test]
    fn marks_count_bytes() {
        assert_eq!(
            kinds("é: 'ü'\r\nb: |\n  ö\n"),
            "0..0 0..0 0..0 0..2 4..8 10..11 13..20 20..20 20..20 20..20 "
        );
    }

    #[test]
    fn errors_have_the_text_of_psych() {
        assert_eq!(
            kinds("a: {"),
            "0..0 0..0 0..0 0..1 3..4 did not find expected node content while parsing a flow \
             node at line 2 column 1"
        );
    }

    #[test]
    fn the_emitter_writes_what_psych_dumps() {
        let plain = |value| Emit::Scalar {
            anchor: None,
            tag: None,
            value,
            plain_implicit: true,
            quoted_implicit: false,
            style: None,
        };
        let text = emit_yaml([
            Emit::StreamStart,
            Emit::DocumentStart { implicit: false },
            Emit::MappingStart {
                anchor: Some("1"),
                tag: None,
                implicit: true,
                style: CollectionStyle::Block,
            },
            plain("a"),
            Emit::SequenceStart {
                anchor: None,
                tag: None,
                implicit: true,
                style: CollectionStyle::Block,
            },
            plain("é"),
            Emit::Alias { anchor: "1" },
            Emit::SequenceEnd,
            Emit::MappingEnd,
            Emit::DocumentEnd { implicit: true },
            Emit::StreamEnd,
        ]);
        assert_eq!(text.as_deref(), Ok("--- &1\na:\n- é\n- *1\n"));
        assert!(emit_yaml([Emit::StreamEnd]).is_err());
    }
}
