//! Evaluates the tokens of a string (`puppet/pops/lookup/interpolation.rb`).

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::sync::Arc;

use super::engine::{Engine, Invocation};
use super::error::{ErrorClass, Failure, Found, LookupError, optional, raise};
use crate::interpolation::{Method, Segment, Token, TokenKind, has_tokens, split_key, tokens};
use crate::value::{HashMap, Opaque, Value, hash_with_capacity};

/// Whether tokens may call functions.
#[derive(Clone)]
pub(super) enum Methods {
    Allowed,
    /// No: the string is in the configuration at this path.
    Refused(Option<Arc<str>>),
}

/// A string after interpolation, in pieces.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InterpolatedPiece {
    Text(String),
    /// A token with an unknown value.
    Unknown {
        /// The token as written, with its braces.
        token: Arc<str>,
        because: Opaque,
    },
}

impl Engine<'_> {
    /// Interpolates every string in a value, keys of nested hashes included.
    pub(super) fn interpolate(
        &mut self,
        value: &Value,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found {
        let evaluated = self.evaluated(value, invocation, methods)?;
        Ok(evaluated.unwrap_or_else(|| value.clone()))
    }

    /// The evaluated value; `None` if it has no token. A value without tokens is shared, except
    /// under a trace, which distinguishes collections by identity, as Ruby does: each fetch makes a
    /// new one.
    fn evaluated(
        &mut self,
        value: &Value,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<Option<Value>> {
        match value {
            Value::String(text) if has_tokens(text) => {
                let evaluated = self.interpolate_string(text, invocation, methods)?;
                Ok(Some(evaluated))
            }
            Value::Array(elements) => {
                let mut result: Option<Vec<Value>> = None;
                if self.tracer.is_some() {
                    self.budget.add_values(elements.len())?;
                    result = Some(elements.to_vec());
                }
                for (at, element) in elements.iter().enumerate() {
                    if is_settled(element) {
                        continue;
                    }
                    if let Some(new) = self.evaluated(element, invocation, methods)? {
                        if result.is_none() {
                            self.budget.add_values(elements.len())?;
                        }
                        result.get_or_insert_with(|| elements.to_vec())[at] = new;
                    }
                }
                Ok(result.map(Value::from))
            }
            Value::Hash(hash) => {
                if hash.keys().any(value_has_tokens) {
                    return self.interpolate_hash(hash, invocation, methods).map(Some);
                }
                let mut result: Option<HashMap> = None;
                if self.tracer.is_some() {
                    self.budget.add_values(hash.len())?;
                    result = Some(HashMap::clone(hash));
                }
                for (at, element) in hash.values().enumerate() {
                    if is_settled(element) {
                        continue;
                    }
                    if let Some(new) = self.evaluated(element, invocation, methods)? {
                        if result.is_none() {
                            self.budget.add_values(hash.len())?;
                        }
                        result.get_or_insert_with(|| HashMap::clone(hash))[at] = new;
                    }
                }
                Ok(result.map(Value::from))
            }
            _ => Ok(None),
        }
    }

    /// Keys may become equal, so entries are added one by one.
    fn interpolate_hash(
        &mut self,
        hash: &HashMap,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found {
        self.budget.add_values(hash.len())?;
        let mut result = hash_with_capacity(hash.len());
        for (key, element) in hash {
            let key = self.interpolate(key, invocation, methods)?;
            let element = self.interpolate(element, invocation, methods)?;
            result.insert(key, element);
        }
        Ok(Value::from(result))
    }

    fn interpolate_string(
        &mut self,
        subject: &Arc<str>,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found {
        self.with_interpolation(subject, |engine| {
            let tokens = tokens(subject);
            let pieces = match engine.pieces((subject, &tokens), invocation, methods)? {
                Interpolated::Alias(value) => return Ok(value),
                Interpolated::Pieces(pieces) => pieces,
            };
            let mut text = String::with_capacity(subject.len());
            for piece in pieces {
                match piece {
                    InterpolatedPiece::Text(part) => text.push_str(&part),
                    InterpolatedPiece::Unknown { because, .. } => {
                        return Ok(Value::Opaque(Arc::new(because.inside(subject))));
                    }
                }
            }
            Ok(Value::from(text))
        })
    }

    /// A string after interpolation; `tokens` are its tokens.
    pub(super) fn pieces(
        &mut self,
        (subject, tokens): (&str, &[Token]),
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<Interpolated> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut at = 0;
        for token in tokens {
            text.push_str(&subject[at..token.range.start as usize]);
            at = token.range.end as usize;
            let raw = token.range.slice(subject);
            let value = match self.token_value(token, subject, invocation, methods)? {
                TokenValue::AsWritten => {
                    text.push_str(raw);
                    continue;
                }
                TokenValue::Alias(value) => return Ok(Interpolated::Alias(value)),
                TokenValue::Value(value) => value,
            };
            match opaque(&value) {
                None => text.push_str(&self.text_of(&value)),
                Some(because) => {
                    pieces.push(InterpolatedPiece::Text(std::mem::take(&mut text)));
                    pieces.push(InterpolatedPiece::Unknown {
                        token: Arc::from(raw),
                        because,
                    });
                }
            }
            self.budget.add_text(text.len())?;
        }
        text.push_str(&subject[at..]);
        pieces.push(InterpolatedPiece::Text(text));
        Ok(Interpolated::Pieces(pieces))
    }

    /// The value of one token of a string.
    pub(super) fn token_value(
        &mut self,
        token: &Token,
        subject: &str,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<TokenValue> {
        let value = match &token.kind {
            TokenKind::Unclosed => return Ok(TokenValue::AsWritten),
            TokenKind::Empty => Value::string(""),
            TokenKind::Malformed => {
                let message = format!("Syntax error in string: {subject}");
                return raise(ErrorClass::Lookup, message);
            }
            TokenKind::Variable { key } => {
                let inner = token.inner.slice(subject);
                let value = self.variable(inner, &key.root, &key.segments, invocation)?;
                self.interpolate_result("scope:", inner, value, invocation, methods)?
            }
            TokenKind::UnknownMethod { name } => {
                self.refuse_methods(methods)?;
                return Err(issue(
                    "HIERA_INTERPOLATION_UNKNOWN_INTERPOLATION_METHOD",
                    format!("Unknown interpolation method '{name}'"),
                    methods,
                ));
            }
            TokenKind::Call {
                method, argument, ..
            } => {
                self.refuse_methods(methods)?;
                match method {
                    Method::Alias if token.range.slice(subject) != subject => {
                        return Err(issue(
                            "HIERA_INTERPOLATION_ALIAS_NOT_ENTIRE_STRING",
                            "'alias' interpolation is only permitted if the expression is equal \
                             to the entire string"
                                .into(),
                            methods,
                        ));
                    }
                    Method::Alias => {
                        let value = self.nested_lookup(argument, invocation)?;
                        self.budget.add_all_of(&value)?;
                        return Ok(TokenValue::Alias(value));
                    }
                    Method::Lookup | Method::Hiera => {
                        let value = self.nested_lookup(argument, invocation)?;
                        self.interpolate_result("", argument, value, invocation, methods)?
                    }
                    Method::Scope => {
                        let refusal = || format!("Syntax error in string: {subject}");
                        let value = self.written_variable(argument, refusal, invocation)?;
                        self.interpolate_result("scope:", argument, value, invocation, methods)?
                    }
                    Method::Literal => {
                        let value = Value::String(argument.clone());
                        self.interpolate_result("", argument, value, invocation, methods)?
                    }
                }
            }
        };
        Ok(TokenValue::Value(value))
    }

    /// Interpolates the result of a token, with the token's name guarded against loops.
    fn interpolate_result(
        &mut self,
        prefix: &str,
        name: &str,
        value: Value,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found {
        if self.tracer.is_none() && !value_has_tokens(&value) {
            self.refuse_loop(|known| known.strip_prefix(prefix) == Some(name))?;
            return Ok(value);
        }
        let name: Arc<str> = Arc::from(format!("{prefix}{name}"));
        self.check(&name, |engine| {
            engine.interpolate(&value, invocation, methods)
        })
    }

    fn refuse_methods(&self, methods: &Methods) -> Found<()> {
        match methods {
            Methods::Allowed => Ok(()),
            Methods::Refused(_) => Err(issue(
                "HIERA_INTERPOLATION_METHOD_SYNTAX_NOT_ALLOWED",
                "Interpolation using method syntax is not allowed in this context".into(),
                methods,
            )),
        }
    }

    /// `lookup('key')` in a token: a lookup of its own, with its own options; a missing value is
    /// ''.
    fn nested_lookup(&mut self, name: &Arc<str>, invocation: &Invocation) -> Found {
        let inner = Invocation {
            // Outside Hiera 3's own lookups the real scope is used again.
            hiera_scope: invocation.hiera_scope && invocation.global_only,
            ..invocation.clone()
        };
        let key = crate::interpolation::Key::of(name).map_err(|_| {
            LookupError::new(ErrorClass::Lookup, format!("Syntax error in key: '{name}'"))
        })?;
        if key.root.as_name().is_none() {
            let message = format!("undefined method `index' for {}:Integer", key.root);
            return raise(ErrorClass::NoMethod, message);
        }
        let inner = inner.for_key(&key, &mut self.module_names);
        let found = self.lookup_names(std::slice::from_ref(name), None, None, &inner);
        Ok(optional(found)?.unwrap_or_else(|| Value::string("")))
    }

    /// The value of a variable by its path as written; `refusal` is the error for a wrong path.
    pub(super) fn written_variable(
        &mut self,
        path: &str,
        refusal: impl FnOnce() -> String,
        invocation: &Invocation,
    ) -> Found {
        let Ok(split) = split_key(path) else {
            return raise(ErrorClass::Lookup, refusal());
        };
        let mut segments = split.into_iter().map(|(segment, _)| segment);
        let Some(root) = segments.next() else {
            return Ok(Value::Undef);
        };
        let rest: Vec<Segment> = segments.collect();
        self.variable(path, &root, &rest, invocation)
    }
}

pub(super) enum TokenValue {
    /// The token's own text: it is unclosed.
    AsWritten,
    /// Another key's value replaces the whole string.
    Alias(Value),
    /// A value that becomes text.
    Value(Value),
}

#[derive(Debug)]
pub(super) enum Interpolated {
    /// The whole string is another key's value.
    Alias(Value),
    Pieces(Vec<InterpolatedPiece>),
}

fn issue(code: &'static str, message: String, methods: &Methods) -> Failure {
    let file = match methods {
        Methods::Allowed => None,
        Methods::Refused(path) => path.clone(),
    };
    LookupError::issue(code, message, file, None).into()
}

/// Why a value, or a part of it, cannot be known.
pub(super) fn opaque(value: &Value) -> Option<Opaque> {
    match value {
        Value::Opaque(opaque) => Some((**opaque).clone()),
        Value::Array(elements) => elements.iter().find_map(opaque),
        Value::Hash(hash) => hash
            .iter()
            .find_map(|(k, v)| opaque(k).or_else(|| opaque(v))),
        _ => None,
    }
}

/// Whether a value is no collection and has no token.
fn is_settled(value: &Value) -> bool {
    match value {
        Value::String(text) => !has_tokens(text),
        Value::Array(_) | Value::Hash(_) => false,
        _ => true,
    }
}

/// Whether any string in the value has a token.
pub(super) fn value_has_tokens(value: &Value) -> bool {
    match value {
        Value::String(text) => has_tokens(text),
        Value::Array(elements) => elements.iter().any(value_has_tokens),
        Value::Hash(hash) => hash
            .iter()
            .any(|(k, v)| value_has_tokens(k) || value_has_tokens(v)),
        _ => false,
    }
}
