//! Reads the signature of a data function from its definition: number and types of its arguments,
//! and the return type (`puppet/functions.rb`, `puppet/pops/evaluator/closure.rb`).
//!
//! Nothing is run: the text is matched against the usual forms, and a definition in any other form
//! is not recognised.

use crate::datatype::Count;
use crate::syntax::puppet::{self, Expression, ExpressionKind};

/// Maximum length of a definition in bytes; real ones have a few thousand.
const MAX_SOURCE: usize = 256 * 1024;

/// Maximum number of parameters of a definition.
const MAX_PARAMETERS: usize = 100;

/// The parameters of one way to call a function.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Signature {
    pub(super) parameters: Vec<SignatureParameter>,
    pub(super) returns: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignatureParameter {
    pub(super) name: String,
    /// A type expression; without one, anything is accepted.
    pub(super) expected: Option<String>,
    pub(super) count: Count,
}

/// The signature of a function in the Puppet language, if its file contains just this function.
pub(super) fn of_puppet(text: &str, name: &str) -> Option<Vec<Signature>> {
    if text.len() > MAX_SOURCE {
        return None;
    }
    let root = puppet::parse_strictly(text).ok()?;
    let ExpressionKind::Function(function) = &root.kind else {
        return None;
    };
    if *function.name != *name || function.parameters.len() > MAX_PARAMETERS {
        return None;
    }
    let written =
        |node: &Option<Expression>| node.as_ref().map(|node| node.source(text).into_owned());
    let parameters = function.parameters.iter().filter_map(|node| {
        let ExpressionKind::Parameter(parameter) = &node.kind else {
            return None;
        };
        Some(SignatureParameter {
            name: parameter.name.to_string(),
            expected: written(&parameter.expected),
            count: match (parameter.captures_rest, &parameter.value) {
                (true, _) => Count::Any,
                (false, Some(_)) => Count::Optional,
                (false, None) => Count::One,
            },
        })
    });
    Some(vec![Signature {
        parameters: parameters.collect(),
        returns: written(&function.returns),
    }])
}

/// The signatures of a Ruby function made by `Puppet::Functions.create_function`: its dispatches,
/// or the parameters of its method.
pub(super) fn of_ruby(text: &str, name: &str) -> Option<Vec<Signature>> {
    if text.len() > MAX_SOURCE || text.matches("create_function").count() != 1 {
        return None;
    }
    let lines: Vec<&str> = text.lines().map(code_of).collect();
    if lines.iter().any(|line| line.contains("argument_mismatch")) {
        return None;
    }
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.starts_with("dispatch") {
            let length = lines[at..].iter().position(|line| *line == "end")?;
            let is_block = line.ends_with(" do");
            list.push(dispatch(lines.get(at..at + length).filter(|_| is_block)?)?);
            at += length + 1;
        } else if line.contains("dispatch") || line.contains("def_dispatch") {
            return None;
        }
    }
    if !list.is_empty() {
        return Some(list);
    }
    let simple = name.rsplit("::").next()?;
    let heads: Vec<&&str> = lines
        .iter()
        .filter(|line| line.strip_prefix("def ").is_some_and(|l| word(l) == simple))
        .collect();
    let [head] = heads[..] else { return None };
    let inner = head.split_once('(')?.1;
    let end = closing(inner)?;
    inner[end + 1..].trim().is_empty().then_some(())?;
    let parts = split(&inner[..end]);
    let parameters: Option<Vec<SignatureParameter>> = parts.into_iter().map(argument).collect();
    Some(vec![Signature {
        parameters: parameters.filter(|all| all.len() <= MAX_PARAMETERS)?,
        returns: None,
    }])
}

/// A line of Ruby; empty if it is a comment.
fn code_of(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') { "" } else { line }
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"_?!".contains(c));
    &text[..end.unwrap_or(text.len())]
}

/// Parses the lines between `dispatch :name do` and its `end`.
fn dispatch(lines: &[&str]) -> Option<Signature> {
    let mut signature = Signature::default();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let call = word(line);
        let rest = line[call.len()..].trim();
        let rest = match rest.strip_prefix('(') {
            Some(inner) => inner.strip_suffix(')')?.trim(),
            None => rest,
        };
        let quote = rest.chars().next().filter(|c| ['\'', '"'].contains(c));
        let count = match call {
            "scope_param" => continue,
            "return_type" => {
                let inner = rest.strip_prefix(quote?)?.strip_suffix(quote?)?;
                signature.returns = Some(plain_text(inner, quote?)?);
                continue;
            }
            "param" | "required_param" => Count::One,
            "optional_param" => Count::Optional,
            "repeated_param" | "optional_repeated_param" => Count::Any,
            "required_repeated_param" => Count::Some,
            _ => return None,
        };
        let (expected, name) = rest.strip_prefix(quote?)?.rsplit_once(quote?)?;
        let name = name.trim().strip_prefix(',')?.trim().strip_prefix(':')?;
        if name.is_empty() || word(name) != name || signature.parameters.len() >= MAX_PARAMETERS {
            return None;
        }
        signature.parameters.push(SignatureParameter {
            name: name.to_owned(),
            expected: Some(plain_text(expected, quote?)?),
            count,
        });
    }
    Some(signature)
}

/// The text between quotes, if it contains nothing with another meaning.
fn plain_text(inner: &str, quote: char) -> Option<String> {
    let plain = !inner.contains(quote) && !inner.contains('\\') && !inner.contains("#{");
    plain.then(|| inner.to_owned())
}

/// Parses a parameter of a method: `a`, `a = 1` or `*a`.
fn argument(text: &str) -> Option<SignatureParameter> {
    let text = text.trim();
    let (name, count) = match (text.strip_prefix('*'), text.split_once('=')) {
        (Some(rest), _) => (rest, Count::Any),
        (None, Some((name, _))) => (name.trim(), Count::Optional),
        (None, None) => (text, Count::One),
    };
    (!name.is_empty() && word(name) == name).then(|| SignatureParameter {
        name: name.to_owned(),
        expected: None,
        count,
    })
}

/// Length of the token at the start: a string, a regular expression, or one character. `None` if it
/// does not end, or if its end is ambiguous for this simple lexer.
fn token(text: &str, before: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let close = match first {
        '\'' | '"' => first,
        '/' if before.trim_end().ends_with(['[', ',', '(', '=', '~', '{']) => '/',
        other => return Some(other.len_utf8()),
    };
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        let c = rest.chars().next()?;
        at += match c {
            '\\' => 1 + rest[1..].chars().next()?.len_utf8(),
            // An interpolation may contain strings.
            '#' if close == '"' && rest.starts_with("#{") => 3 + closing(&rest[2..])?,
            c if c == close => return Some(at + 1),
            c => c.len_utf8(),
        };
    }
}

/// The position of the first matching character outside strings and brackets.
fn find_outside(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text[at..].chars().next() {
        if depth == 0 && wanted(c) {
            return Some(at);
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += token(&text[at..], &text[..at])?;
    }
    None
}

/// The position where the bracket opened before the text closes.
fn closing(text: &str) -> Option<usize> {
    find_outside(text, |c| matches!(c, ')' | ']' | '}'))
}

/// The parts between commas; a comma may follow the last one.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(comma) = find_outside(rest, |c| c == ',') {
        parts.push(&rest[..comma]);
        rest = &rest[comma + 1..];
    }
    if !rest.trim().is_empty() {
        parts.push(rest);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(signatures: Option<Vec<Signature>>) -> Vec<String> {
        let mark = |count| match count {
            Count::One => "",
            Count::Optional => "?",
            Count::Any => "*",
            Count::Some => "+",
        };
        let parameter = |p: SignatureParameter| {
            let expected = p.expected.unwrap_or_else(|| "-".into());
            format!("{expected} {}{}", p.name, mark(p.count))
        };
        let signature = |s: Signature| {
            let all: Vec<String> = s.parameters.into_iter().map(parameter).collect();
            let returns = s.returns.map(|t| format!(" >> {t}")).unwrap_or_default();
            format!("({}){returns}", all.join("; "))
        };
        let list = signatures.unwrap_or_default();
        list.into_iter().map(signature).collect()
    }

    #[test]
    fn functions_in_the_puppet_language() {
        for (text, expected) in [
            ("function m::f(Hash $o, $c) { {} }\n", "(Hash o; - c)"),
            (
                "# for (all)\nfunction m::f(\n  Struct[{path => String[1]}] $o, # the, options\n  \
                 Puppet::LookupContext $c,\n) >> Hash[String, Data] {\n  { 'a' => \"}\" }\n}\n",
                "(Struct[{path => String[1]}] o; Puppet::LookupContext c) >> Hash[String, Data]",
            ),
            (
                "function m::f(Pattern[/a,\\/(b)/] $a = \"x,)\", Array *$b){}",
                "(Pattern[/a,\\/(b)/] a?; Array b*)",
            ),
            (
                "function m::f(String $k) { \"${k['}']} ${o[\"a\\\"}\"]} \\${ }\" }",
                "(String k)",
            ),
            ("function m::f { {} }", "()"),
            ("function m::f() >> Any { {} }", "() >> Any"),
        ] {
            assert_eq!(shown(of_puppet(text, "m::f")), [expected], "{text}");
        }
        for text in [
            "",
            "function m::g($a) { {} }",
            "function m::f($a) { {} } function m::g($b) { {} }",
            "function m::f($a { {} }",
            "function m::f($a) { {} ",
            "function m::f(1) { {} }",
            "function m::f($a) { @(END) }",
            "function m::f($a) { \"${b[}\" }",
            "class m::f($a) { }",
            "function m::f($a) /* { {} }",
        ] {
            assert!(of_puppet(text, "m::f").is_none(), "{text}");
        }
    }

    #[test]
    fn functions_in_ruby() {
        let file = |body: &str| {
            format!(
                "# dispatch :x\nPuppet::Functions.create_function(:'m::f') do\n{body}\n  def x(a)\n    \
                 a\n  end\nend\n"
            )
        };
        for (body, expected) in [
            (
                "  dispatch :x do\n    param 'Variant[String, Numeric]', :key\n    \
                 optional_param('Hash', :options)\n    repeated_param \"Any\", :rest\n    \
                 return_type 'Data'\n  end",
                vec!["(Variant[String, Numeric] key; Hash options?; Any rest*) >> Data"],
            ),
            (
                "  dispatch(:x) do\n    # nothing\n  end\n  dispatch :y do\n    \
                 required_repeated_param 'Hash', :all\n  end",
                vec!["()", "(Hash all+)"],
            ),
            (
                "  def f(a, b = [1, 2], *c)\n    1\n  end",
                vec!["(- a; - b?; - c*)"],
            ),
        ] {
            assert_eq!(shown(of_ruby(&file(body), "m::f")), expected, "{body}");
        }
        for body in [
            "",
            "  dispatch :x do\n    param some, :key\n  end",
            "  dispatch :x do\n    block_param\n  end",
            "  dispatch(:x) { param 'Hash', :o }",
            "  dispatch :x do\n    param 'Hash', :o\n  end\n  argument_mismatch :y do\n  end",
            "  def f(a, key: 1)\n  end",
            "  def f(a, &block)\n  end",
            "  [1].each { |d| dispatch d }",
        ] {
            assert!(of_ruby(&file(body), "m::f").is_none(), "{body}");
        }
    }
}
