//! The tree of a Ruby pattern, between the parser and the emitter.

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Empty,
    Literal(char, Case),
    /// `.`; in Ruby `(?m)` lets it match a newline too.
    Any {
        newline: bool,
    },
    /// A character class, already in the engines' bracket syntax.
    Class(String, Case),
    Sequence(Vec<Node>),
    /// Alternatives; the first that matches is used.
    Alternatives(Vec<Node>),
    /// A group with its number in Ruby.
    Capture(usize, Box<Node>),
    /// `(?>…)`: no backtracking into it once matched.
    Atomic(Box<Node>),
    Look(Look, Box<Node>),
    Repeat {
        body: Box<Node>,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    },
    Anchor(Anchor),
    /// Text of an earlier group; several numbers if a name was given twice.
    Backreference(Vec<usize>, Case),
    /// `\g<…>`: repeats the pattern of a group.
    Call(usize),
    /// `(?(1)yes|no)`
    Conditional(usize, Box<Node>, Box<Node>),
    /// `(?~…)`: the longest text without the body.
    Absent(Box<Node>),
    /// `\K`: the match begins here.
    Keep,
    /// `\X`: a grapheme cluster.
    Grapheme,
}

/// Whether letters match case-insensitively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Ahead,
    NotAhead,
    Behind,
    NotBehind,
}

/// How much a quantifier takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `\A`
    TextStart,
    /// `\Z`
    TextEndOrNewline,
    /// `\z`
    TextEnd,
    /// `\G`
    SearchStart,
    /// `\b`
    WordBoundary { ascii: bool },
    /// `\B`
    NotWordBoundary { ascii: bool },
}

impl Node {
    /// Whether this kind of node never consumes a character.
    pub(super) fn is_zero_width(&self) -> bool {
        match self {
            Node::Anchor(_) | Node::Look(..) | Node::Empty => true,
            Node::Repeat { body, .. } => body.is_zero_width(),
            _ => false,
        }
    }

    /// The number of characters of every match, if all have the same.
    ///
    /// Recursion is as deep as the tree, which the parser bounds.
    pub(super) fn fixed_length(&self) -> Option<u64> {
        match self {
            Node::Empty | Node::Anchor(_) | Node::Look(..) | Node::Keep => Some(0),
            Node::Literal(..) | Node::Any { .. } | Node::Class(..) => Some(1),
            Node::Sequence(parts) => parts
                .iter()
                .try_fold(0u64, |sum, part| sum.checked_add(part.fixed_length()?)),
            Node::Alternatives(branches) => {
                let mut lengths = branches.iter().map(Node::fixed_length);
                let first = lengths.next()??;
                lengths.all(|length| length == Some(first)).then_some(first)
            }
            Node::Capture(_, body) | Node::Atomic(body) => body.fixed_length(),
            Node::Repeat { body, min, max, .. } => {
                if Some(*min) != *max {
                    return None;
                }
                body.fixed_length()?.checked_mul(u64::from(*min))
            }
            _ => None,
        }
    }

    /// Whether there is a capturing group anywhere inside.
    pub(super) fn captures(&self) -> bool {
        match self {
            Node::Capture(..) => true,
            Node::Sequence(parts) | Node::Alternatives(parts) => parts.iter().any(Node::captures),
            Node::Atomic(body) | Node::Look(_, body) | Node::Absent(body) => body.captures(),
            Node::Repeat { body, .. } => body.captures(),
            Node::Conditional(_, yes, no) => yes.captures() || no.captures(),
            _ => false,
        }
    }

    /// Adds the numbers of all referenced groups to `used`.
    pub(super) fn references(&self, used: &mut Vec<usize>) {
        match self {
            Node::Backreference(groups, _) => used.extend(groups),
            Node::Call(group) => used.push(*group),
            Node::Conditional(group, yes, no) => {
                used.push(*group);
                yes.references(used);
                no.references(used);
            }
            Node::Sequence(parts) | Node::Alternatives(parts) => {
                parts.iter().for_each(|part| part.references(used));
            }
            Node::Capture(_, body)
            | Node::Atomic(body)
            | Node::Look(_, body)
            | Node::Absent(body) => body.references(used),
            Node::Repeat { body, .. } => body.references(used),
            _ => {}
        }
    }
}
