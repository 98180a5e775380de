//! Values as YAML, byte for byte as Ruby's `YAML.dump` writes them: what `puppet lookup` prints.
//!
//! Psych's tree builder (psych/visitors/yaml_tree.rb of Psych 4.0.3) decides the style of every
//! scalar; libyaml's emitter writes it.
//!
//! **Anchors.** Psych writes `&1` and `*1` where a list or hash occurs twice *as the same Ruby
//! object*; strings never get anchors. Puppet hands out a fresh copy of everything it looks up
//! (interpolation copies even what holds no token), so aliases of a data file and `alias()` do not
//! show, with one exception: `eyaml_lookup_key` keeps the values of a compilation, and the same
//! key reached twice through `alias()` is one object. [`dump`] therefore writes no anchors, and
//! [`dump_shared`] writes them where two parts of a value share their memory; it is for values
//! whose sharing is known to be Ruby's.
//!
//! ```
//! use hiera_ls::value::{Value, dump, dump_for_hover};
//!
//! let value = Value::hash([("port", Value::from(80)), ("on", Value::from("yes"))]);
//! assert_eq!(dump(&value), "---\nport: 80\n'on': 'yes'\n");
//! assert_eq!(dump(&Value::from("a\nb\n")), "--- |\n  a\n  b\n");
//! assert_eq!(dump_for_hover(&value), "port: 80\n'on': 'yes'");
//! ```

mod stand_ins;
mod style;

use std::collections::{HashMap as StdHashMap, HashSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use num_bigint::BigInt;

use stand_ins::StandIns;
use style::{has_inner_line_break, string_style};

use super::time::nanoseconds;
use super::{HashMap, Opaque, Rich, Value, float_to_s};
use crate::syntax::ScalarStyle;
use crate::syntax::libyaml::{CollectionStyle, Emit, EmitError, Emitter};
use crate::syntax::tree::STRING_TAG;

/// Maximum number of parts of a value that are written; the rest is `…`. Nested shared lists must
/// not fill the memory.
const MAX_PARTS: usize = 1_000_000;

/// The value as `puppet lookup` prints it: with `---`, without anchors, ending in a line break.
///
/// Secrets are written: `puppet lookup` prints the inside of a `Sensitive`. URIs, version ranges
/// and types, which Psych writes with all their inner variables, are written as strings.
#[must_use]
pub fn dump(value: &Value) -> String {
    write(value, StdHashMap::new(), Purpose::Print)
}

/// [`dump`] without `---`, with its last line break.
#[must_use]
pub fn dump_body(value: &Value) -> String {
    body(&dump(value)).to_owned()
}

/// The value as it is written to a data file: [`dump_body`] with quotes around texts that other readers than Puppet's take
/// for something else, such as `7e1`, `+.inf` and the 30th of February.
#[must_use]
pub fn dump_data(value: &Value) -> String {
    body(&write(value, StdHashMap::new(), Purpose::Store)).to_owned()
}

/// A document without `---`.
fn body(text: &str) -> &str {
    let text = text.strip_prefix("---").unwrap_or(text);
    text.strip_prefix(['\n', ' ']).unwrap_or(text)
}

/// The same with an anchor on each list, hash or object that occurs again.
#[must_use]
pub fn dump_shared(value: &Value) -> String {
    let mut sharing = Sharing::default();
    sharing.visit(value);
    write(value, sharing.anchors, Purpose::Print)
}

/// The value as YAML for people: like [`dump`], but without `---` and the last line break (unless
/// it is part of a text), and with secrets redacted. It reads back as the same value; `nil` is `~`.
#[must_use]
pub fn dump_for_hover(value: &Value) -> String {
    if value.is_undef() {
        return "~".to_owned();
    }
    let text = write(value, StdHashMap::new(), Purpose::Show);
    let text = body(&text);
    // The line breaks at the end of a block scalar are text.
    let text = if ends_in_block(value) {
        text
    } else {
        text.trim_end_matches('\n')
    };
    text.to_owned()
}

/// Whether the last scalar of a value is written as a block with significant line breaks.
fn ends_in_block(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.last().is_some_and(ends_in_block),
        Value::Hash(hash) => hash.last().is_some_and(|(_, value)| ends_in_block(value)),
        Value::String(text) => has_inner_line_break(text),
        _ => false,
    }
}

/// The reader of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// As Psych writes, even if Psych itself would not read it back.
    Print,
    /// For data files: as Psych writes, but other readers read it back, too.
    Store,
    /// For people, who must not see secrets; it reads back as the same value.
    Show,
}

/// The shared parts of a value that need an anchor. Psych numbers them when it meets them again.
#[derive(Default)]
struct Sharing {
    seen: HashSet<PartAddress>,
    anchors: StdHashMap<PartAddress, String>,
}

/// The address of a shared part.
type PartAddress = *const ();

fn identity(value: &Value) -> Option<PartAddress> {
    match value {
        Value::Array(elements) => Some(Arc::as_ptr(elements).cast()),
        Value::Hash(hash) => Some(Arc::as_ptr(hash).cast()),
        Value::Sensitive(inner) => Some(Arc::as_ptr(inner).cast()),
        Value::Rich(rich) => Some(Arc::as_ptr(rich).cast()),
        _ => None,
    }
}

impl Sharing {
    fn visit(&mut self, value: &Value) {
        if let Some(identity) = identity(value)
            && !self.seen.insert(identity)
        {
            let number = self.anchors.len() + 1;
            self.anchors
                .entry(identity)
                .or_insert_with(|| number.to_string());
            return;
        }
        match value {
            Value::Array(elements) => elements.iter().for_each(|element| self.visit(element)),
            Value::Hash(hash) => {
                for (key, value) in hash.iter() {
                    self.visit(key);
                    self.visit(value);
                }
            }
            Value::Sensitive(inner) => self.visit(inner),
            _ => {}
        }
    }
}

fn write(value: &Value, anchors: StdHashMap<PartAddress, String>, purpose: Purpose) -> String {
    let mut writer = ValueWriter {
        stand_ins: (purpose != Purpose::Show)
            .then(|| StandIns::for_value(value))
            .flatten(),
        in_key: false,
        emitter: Emitter::new(),
        written: anchors.keys().map(|identity| (*identity, false)).collect(),
        anchors,
        parts: 0,
        purpose,
    };
    match writer.document(value) {
        Ok(()) => {
            let text = writer.emitter.finish();
            match writer.stand_ins {
                Some(stand_ins) => stand_ins.replace_back(&text),
                None => text,
            }
        }
        // The emitter refuses only events that no value produces.
        Err(error) => format!("# {error}\n"),
    }
}

struct ValueWriter {
    stand_ins: Option<StandIns>,
    /// Whether a key is being written.
    in_key: bool,
    emitter: Emitter,
    anchors: StdHashMap<PartAddress, String>,
    /// Whether the part with an anchor has been written, so that an alias may follow.
    written: StdHashMap<PartAddress, bool>,
    parts: usize,
    purpose: Purpose,
}

#[derive(Default)]
struct WrittenScalar<'a> {
    text: &'a str,
    tag: Option<&'a str>,
    plain_implicit: bool,
    quoted_implicit: bool,
    style: Option<ScalarStyle>,
}

impl ValueWriter {
    fn document(&mut self, value: &Value) -> Result<(), EmitError> {
        self.emitter.emit(&Emit::StreamStart)?;
        self.emitter
            .emit(&Emit::DocumentStart { implicit: false })?;
        self.value(value)?;
        self.emitter.emit(&Emit::DocumentEnd { implicit: true })?;
        self.emitter.emit(&Emit::StreamEnd)
    }

    fn value(&mut self, value: &Value) -> Result<(), EmitError> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return self.string("…");
        }
        let mut anchor = None;
        if let Some(identity) = identity(value)
            && let Some(name) = self.anchors.get(&identity)
        {
            if let Some(true) = self.written.insert(identity, true) {
                return self.emitter.emit(&Emit::Alias { anchor: name });
            }
            anchor = Some(name.clone());
        }
        let anchor = anchor.as_deref();
        match value {
            Value::Undef => self.scalar(&WrittenScalar {
                text: "",
                tag: Some("tag:yaml.org,2002:null"),
                plain_implicit: true,
                ..WrittenScalar::default()
            }),
            Value::Bool(_) | Value::Int(_) | Value::BigInt(_) => self.any(&value.inspect()),
            Value::Float(number) if number.is_nan() => self.any(".nan"),
            Value::Float(number) if number.is_infinite() => {
                self.any(if *number > 0.0 { ".inf" } else { "-.inf" })
            }
            Value::Float(number) => self.any(&float_to_s(*number)),
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::Symbol(name) if name.is_empty() => self.scalar(&WrittenScalar {
                text: "",
                tag: Some("!ruby/symbol"),
                ..WrittenScalar::default()
            }),
            Value::Symbol(name) => self.any(&format!(":{name}")),
            Value::Array(elements) => {
                self.emitter.emit(&Emit::SequenceStart {
                    anchor,
                    tag: None,
                    implicit: true,
                    style: CollectionStyle::Block,
                })?;
                for element in elements.iter() {
                    self.value(element)?;
                }
                self.emitter.emit(&Emit::SequenceEnd)
            }
            Value::Hash(hash) => self.mapping(anchor, None, hash),
            Value::Sensitive(_) if self.purpose == Purpose::Show => self.string(&value.to_s()),
            Value::Sensitive(inner) => {
                let class = "!ruby/object:Puppet::Pops::Types::PSensitiveType::Sensitive";
                self.object(anchor, class, &[("value", (**inner).clone())])
            }
            Value::Default => self.any(":default"),
            Value::Rich(rich) => self.rich(anchor, rich),
            Value::Opaque(opaque) => match &**opaque {
                Opaque::Secret { .. } => self.string(&value.to_s()),
                Opaque::Unknown { text, because: _ } => self.string(text),
            },
        }
    }

    fn mapping(
        &mut self,
        anchor: Option<&str>,
        tag: Option<&str>,
        hash: &HashMap,
    ) -> Result<(), EmitError> {
        self.emitter.emit(&Emit::MappingStart {
            anchor,
            tag,
            implicit: tag.is_none(),
            style: CollectionStyle::Block,
        })?;
        for (key, value) in hash {
            let in_key = std::mem::replace(&mut self.in_key, true);
            self.value(key)?;
            self.in_key = in_key;
            self.value(value)?;
        }
        self.emitter.emit(&Emit::MappingEnd)
    }

    /// A Ruby object with its instance variables.
    fn object(
        &mut self,
        anchor: Option<&str>,
        tag: &str,
        variables: &[(&str, Value)],
    ) -> Result<(), EmitError> {
        let hash: HashMap = variables
            .iter()
            .map(|(name, value)| (Value::string(name), value.clone()))
            .collect();
        self.mapping(anchor, Some(tag), &hash)
    }

    fn rich(&mut self, anchor: Option<&str>, rich: &Rich) -> Result<(), EmitError> {
        if self.purpose == Purpose::Show {
            return self.string(&rich.shown());
        }
        match rich.ptype {
            "Regexp" => {
                let text = rich.shown();
                self.emitter.emit(&Emit::Scalar {
                    anchor,
                    tag: Some("!ruby/regexp"),
                    value: &text,
                    plain_implicit: false,
                    quoted_implicit: false,
                    style: None,
                })
            }
            "Binary" => {
                let bytes = BASE64.decode(&rich.text).unwrap_or_default();
                let class = "!ruby/object:Puppet::Pops::Types::PBinaryType::Binary";
                self.object(
                    anchor,
                    class,
                    &[("binary_buffer", Value::Bytes(bytes.into()))],
                )
            }
            "SemVer" => {
                let class = "!ruby/object:SemanticPuppet::Version";
                self.object(anchor, class, &version_variables(&rich.text))
            }
            ptype @ ("Timestamp" | "Timespan") => match nanoseconds(rich) {
                Some(nanoseconds) => {
                    let class = format!("!ruby/object:Puppet::Pops::Time::{ptype}");
                    let nanoseconds = Value::from(BigInt::from(nanoseconds));
                    self.object(anchor, &class, &[("nsecs", nanoseconds)])
                }
                None => self.string(&rich.text),
            },
            _ => self.string(&rich.text),
        }
    }

    /// A scalar that is plain unless libyaml cannot write it so.
    fn any(&mut self, text: &str) -> Result<(), EmitError> {
        self.scalar(&WrittenScalar {
            text,
            plain_implicit: true,
            ..WrittenScalar::default()
        })
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), EmitError> {
        if let Ok(text) = std::str::from_utf8(bytes)
            && text.is_ascii()
        {
            return self.string(text);
        }
        self.scalar(&WrittenScalar {
            text: &BASE64.encode(bytes),
            tag: Some("!binary"),
            style: Some(ScalarStyle::Literal),
            ..WrittenScalar::default()
        })
    }

    /// `visit_String` of Psych.
    fn string(&mut self, text: &str) -> Result<(), EmitError> {
        let implicit = text != "<<";
        self.scalar(&WrittenScalar {
            text,
            tag: (!implicit).then_some(STRING_TAG),
            plain_implicit: implicit,
            quoted_implicit: implicit,
            style: Some(string_style(text, self.purpose)),
        })
    }

    fn scalar(&mut self, written: &WrittenScalar<'_>) -> Result<(), EmitError> {
        let replaced = self
            .stand_ins
            .as_mut()
            .and_then(|stand_ins| stand_ins.replace(written.text, self.in_key));
        let style = match replaced {
            Some(_) => Some(ScalarStyle::DoubleQuoted),
            None => written.style,
        };
        self.emitter.emit(&Emit::Scalar {
            anchor: None,
            tag: written.tag,
            value: replaced.as_deref().unwrap_or(written.text),
            plain_implicit: written.plain_implicit,
            quoted_implicit: written.quoted_implicit,
            style,
        })
    }
}

/// The instance variables of `SemanticPuppet::Version`.
fn version_variables(text: &str) -> [(&'static str, Value); 5] {
    let (text, build) = match text.split_once('+') {
        Some((version, build)) => (version, Some(build)),
        None => (text, None),
    };
    let (text, prerelease) = match text.split_once('-') {
        Some((version, prerelease)) => (version, Some(prerelease)),
        None => (text, None),
    };
    let mut numbers = text
        .split('.')
        .map(|part| part.parse().map_or(Value::Undef, Value::Int));
    let mut number = || numbers.next().unwrap_or_default();
    let parts = |text: &str, convert: fn(&str) -> Value| {
        text.split('.').map(convert).collect::<Vec<_>>().into()
    };
    let number_or_text = |part: &str| part.parse().map_or_else(|_| Value::from(part), Value::Int);
    [
        ("major", number()),
        ("minor", number()),
        ("patch", number()),
        (
            "prerelease",
            prerelease.map_or(Value::Undef, |text| parts(text, number_or_text)),
        ),
        (
            "build",
            build.map_or(Value::Undef, |text| parts(text, |part| Value::from(part))),
        ),
    ]
}
