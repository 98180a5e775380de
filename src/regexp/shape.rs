//! What a pattern's literal text says about a text without newlines before any engine is made.
//!
//! Most patterns of `lookup_options` are a beginning, a gap and an end (`^profile::.*::settings$`): for
//! those the shape is all there is to say, and the others it excludes most texts.

use memchr::memmem;

use super::syntax::{Anchor, Case, Greed, Node};

/// Most ends that the alternatives of a pattern are written out to.
const MOST_ENDS: usize = 32;

/// Longest end that goes on to be written out, in bytes: each part of it is put in front of all ends.
const LONGEST_END: usize = 100;

/// The literal parts of a pattern.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// What the text begins with; empty where nothing is asked of it.
    start: String,
    /// What stands somewhere in the text, if that is known.
    inside: Option<memmem::Finder<'static>>,
    /// One of these is what the text ends with; none where nothing is asked of it.
    ends: Vec<String>,
    /// Bytes between the beginning and the end, if nothing more is asked of the text.
    gap: Option<Gap>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Gap {
    /// None.
    Nothing,
    /// So many or more.
    AtLeast(usize),
}

impl Shape {
    /// The shape of a pattern.
    pub(super) fn of(root: &Node) -> Shape {
        let mut rest = if let Node::Sequence(parts) = root {
            parts.as_slice()
        } else {
            std::slice::from_ref(root)
        };
        let mut shape = Shape::default();
        let mut is_anchored = false;
        if let [
            Node::Anchor(Anchor::LineStart | Anchor::TextStart),
            behind @ ..,
        ] = rest
        {
            is_anchored = true;
            let literal = behind.iter().map_while(literal).collect::<String>();
            rest = &behind[literal.chars().count()..];
            shape.start = literal;
        }
        let is_ended = match rest {
            [
                before @ ..,
                Node::Anchor(Anchor::LineEnd | Anchor::TextEnd | Anchor::TextEndOrNewline),
            ] => {
                (shape.ends, rest) = ends(before);
                true
            }
            _ => false,
        };
        let inside = longest_literal(rest);
        if !inside.is_empty() {
            shape.inside = Some(memmem::Finder::new(&inside).into_owned());
        }
        let gap = gap(rest);
        shape.gap = match (is_anchored, is_ended) {
            (true, true) => gap,
            // Whatever stands behind or before counts for nothing.
            (true, false) | (false, true)
                if matches!(gap, Some(Gap::Nothing | Gap::AtLeast(0))) =>
            {
                Some(Gap::AtLeast(0))
            }
            // What stands inside is all.
            (false, false) if !rest.is_empty() && rest.iter().all(is_literal) => {
                Some(Gap::AtLeast(0))
            }
            (_, false) | (false, _) => None,
        };
        shape
    }

    /// Whether a text without newlines matches, where the shape says so.
    pub(super) fn matches(&self, line: &str) -> Option<bool> {
        let is_end = |end: &String| ends_with(line.as_bytes(), end.as_bytes());
        let holds = |inside: &memmem::Finder<'_>| inside.find(line.as_bytes()).is_some();
        if !starts_with(line.as_bytes(), self.start.as_bytes())
            || !self.ends.is_empty() && !self.ends.iter().any(is_end)
            || !self.inside.as_ref().is_none_or(holds)
        {
            return Some(false);
        }
        let gap = self.gap?;
        let fits = |end: &str| {
            line.strip_prefix(self.start.as_str())
                .and_then(|behind| behind.strip_suffix(end))
                .is_some_and(|between| match gap {
                    Gap::Nothing => between.is_empty(),
                    Gap::AtLeast(bytes) => between.len() >= bytes,
                })
        };
        Some(match self.ends.as_slice() {
            [] => fits(""),
            ends => ends.iter().any(|end| fits(end)),
        })
    }
}

/// Beginnings of names are alike more often than not: the last byte tells most of them apart.
fn starts_with(line: &[u8], start: &[u8]) -> bool {
    match start.last() {
        None => true,
        Some(last) => line.get(start.len() - 1) == Some(last) && line.starts_with(start),
    }
}

/// And the first byte most ends.
fn ends_with(line: &[u8], end: &[u8]) -> bool {
    match (end.first(), line.len().checked_sub(end.len())) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(first), Some(at)) => line.get(at) == Some(first) && line.ends_with(end),
    }
}

fn is_literal(node: &Node) -> bool {
    literal(node).is_some()
}

fn literal(node: &Node) -> Option<char> {
    if let Node::Literal(character, Case::Exact) = node {
        Some(*character)
    } else {
        None
    }
}

/// The texts that the last parts stand for, if they are literal, and the parts before these.
fn ends(parts: &[Node]) -> (Vec<String>, &[Node]) {
    let mut rest = parts;
    let mut ends = vec![String::new()];
    while let [before @ .., last] = rest
        && ends.iter().all(|end| end.len() < LONGEST_END)
    {
        let Some(texts) = texts(last).filter(|texts| texts.len() * ends.len() <= MOST_ENDS) else {
            break;
        };
        let with = |text: &String| -> Vec<String> {
            ends.iter().map(|end| format!("{text}{end}")).collect()
        };
        ends = texts.iter().flat_map(with).collect();
        rest = before;
    }
    // An empty end asks for nothing.
    if ends.iter().any(String::is_empty) && !rest.is_empty() {
        return (Vec::new(), parts);
    }
    (ends, rest)
}

/// The few texts that a part stands for, if it is literal.
fn texts(node: &Node) -> Option<Vec<String>> {
    let mut found = Vec::new();
    match node {
        Node::Empty => found.push(String::new()),
        Node::Literal(..) => found.push(literal(node)?.to_string()),
        Node::Sequence(parts) => found.push(parts.iter().map(literal).collect::<Option<_>>()?),
        Node::Alternatives(branches) => {
            for branch in branches {
                found.extend(texts(branch)?);
            }
        }
        Node::Capture(_, body) => return texts(body),
        _ => return None,
    }
    (found.len() <= MOST_ENDS).then_some(found)
}

/// The longest run of literal characters.
fn longest_literal(parts: &[Node]) -> String {
    let runs = parts.split(|part| !is_literal(part));
    let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
    longest.iter().filter_map(literal).collect()
}

/// What is between the ends, if it is nothing or anything.
fn gap(parts: &[Node]) -> Option<Gap> {
    match parts {
        [] => Some(Gap::Nothing),
        [Node::Capture(_, body)] => gap(std::slice::from_ref(body)),
        [
            Node::Repeat {
                body,
                // One character is one byte or more.
                min: min @ (0 | 1),
                max: None,
                greed: Greed::Greedy | Greed::Lazy,
            },
        ] if matches!(**body, Node::Any { .. }) => Some(Gap::AtLeast(*min as usize)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn shape(pattern: &str) -> Shape {
        Shape::of(&parse(pattern).ok().unwrap().root)
    }

    #[test]
    fn beginning_gap_and_ends_say_all() {
        let pattern = shape("^profile::.*::(settings|rules)$");
        for (line, matches) in [
            ("profile::web::settings", true),
            ("profile::web::rules", true),
            ("profile::::rules", true),
            ("profile::rules", false),
            ("profile::web::rule", false),
            ("role::web::rules", false),
        ] {
            assert_eq!(pattern.matches(line), Some(matches), "{line}");
        }
        assert_eq!(shape("^a.+b$").matches("ab"), Some(false));
        assert_eq!(shape("^a.+?b$").matches("aéb"), Some(true));
        assert_eq!(shape(r"\Aab\z").matches("ab"), Some(true));
        assert_eq!(shape("^ab$").matches("abb"), Some(false));
        assert_eq!(shape("^a(.*)$").matches("a"), Some(true));
        assert_eq!(shape("^a").matches("ab"), Some(true));
        assert_eq!(shape("::b$").matches("a::b"), Some(true));
        assert_eq!(shape("(?:|a)$").matches("b"), Some(true));
        assert_eq!(shape("^a.*").matches("b"), Some(false));
    }

    #[test]
    fn others_are_left_to_an_engine() {
        for pattern in [
            "^a.*+b$",
            "^a.{2,}b$",
            "^a.*c.*b$",
            "^(?i)a$",
            "^a|b$",
            "^a[bc]$",
            "(?i)b$",
            "a[b]",
            "",
        ] {
            assert_eq!(shape(pattern).matches("acbb"), None, "{pattern}");
        }
        assert_eq!(shape(r"^a.*::b(_\d)?$").matches("a::c"), Some(false));
        assert_eq!(shape(r"^a.*::b(_\d)?$").matches("a::b"), None);
        assert_eq!(shape("a|bcd$").matches("a"), None);
        assert_eq!(shape("bc").matches("abcd"), Some(true));
        let long = "b".repeat(LONGEST_END + 1);
        let pattern = shape(&format!("^.*{long}$"));
        assert_eq!(pattern.matches(&long), None);
        assert_eq!(pattern.matches(&long[2..]), Some(false));
    }
}
