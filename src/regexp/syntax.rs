//! The tree of a Ruby pattern, between the parser and the emitter.

#[derive(Clone, Debug, PartialEq)]
pub(super) enum RegexpNode {
    Empty,
    Literal(char, Case),
    /// `.`; in Ruby `(?m)` lets it match a newline too.
    Any {
        newline: bool,
    },
    /// A character class, already in the engines' bracket syntax.
    Class(String, Case),
    Sequence(Vec<RegexpNode>),
    /// Alternatives; the first that matches is used.
    Alternatives(Vec<RegexpNode>),
    /// A group with its number in Ruby.
    Capture(usize, Box<RegexpNode>),
    /// `(?>…)`: no backtracking into it once matched.
    Atomic(Box<RegexpNode>),
    Look(Look, Box<RegexpNode>),
    Repeat {
        body: Box<RegexpNode>,
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
    Conditional(usize, Box<RegexpNode>, Box<RegexpNode>),
    /// `(?~…)`: the longest text without the body.
    Absent(Box<RegexpNode>),
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

impl RegexpNode {
    /// Whether this kind of node never consumes a character.
    pub(super) fn is_zero_width(&self) -> bool {
        match self {
            RegexpNode::Anchor(_) | RegexpNode::Look(..) | RegexpNode::Empty => true,
            RegexpNode::Repeat { body, .. } => body.is_zero_width(),
            _ => false,
        }
    }

    /// The number of characters of every match, if all have the same.
    ///
    /// Recursion is as deep as the tree, which the parser bounds.
    pub(super) fn fixed_length(&self) -> Option<u64> {
        match self {
            RegexpNode::Empty | RegexpNode::Anchor(_) | RegexpNode::Look(..) | RegexpNode::Keep => {
                Some(0)
            }
            RegexpNode::Literal(..) | RegexpNode::Any { .. } | RegexpNode::Class(..) => Some(1),
            RegexpNode::Sequence(parts) => parts
                .iter()
                .try_fold(0u64, |sum, part| sum.checked_add(part.fixed_length()?)),
            RegexpNode::Alternatives(branches) => {
                let mut lengths = branches.iter().map(RegexpNode::fixed_length);
                let first = lengths.next()??;
                lengths.all(|length| length == Some(first)).then_some(first)
            }
            RegexpNode::Capture(_, body) | RegexpNode::Atomic(body) => body.fixed_length(),
            RegexpNode::Repeat { body, min, max, .. } => {
                if Some(*min) != *max {
                    return None;
                }
                body.fixed_length()?.checked_mul(u64::from(*min))
            }
            _ => None,
        }
    }

    /// The characters behind `^` or `\A` at its start, with which every match begins; empty without that.
    pub(super) fn start(&self) -> String {
        let RegexpNode::Sequence(parts) = self else {
            return String::new();
        };
        let mut parts = parts.iter();
        let anchor = parts.next();
        let is_fixed = matches!(
            anchor,
            Some(RegexpNode::Anchor(Anchor::LineStart | Anchor::TextStart))
        );
        let literals = parts.map_while(|part| match part {
            RegexpNode::Literal(character, Case::Exact) => Some(*character),
            _ => None,
        });
        literals.filter(|_| is_fixed).collect()
    }

    /// The nodes directly inside.
    pub(super) fn parts(&self) -> Vec<&RegexpNode> {
        match self {
            RegexpNode::Sequence(parts) | RegexpNode::Alternatives(parts) => parts.iter().collect(),
            RegexpNode::Capture(_, body)
            | RegexpNode::Atomic(body)
            | RegexpNode::Look(_, body)
            | RegexpNode::Absent(body)
            | RegexpNode::Repeat { body, .. } => vec![body],
            RegexpNode::Conditional(_, yes, no) => vec![yes, no],
            RegexpNode::Empty
            | RegexpNode::Literal(..)
            | RegexpNode::Any { .. }
            | RegexpNode::Class(..)
            | RegexpNode::Anchor(_)
            | RegexpNode::Backreference(..)
            | RegexpNode::Call(_)
            | RegexpNode::Keep
            | RegexpNode::Grapheme => Vec::new(),
        }
    }

    /// Whether there is a capturing group anywhere inside.
    pub(super) fn captures(&self) -> bool {
        matches!(self, RegexpNode::Capture(..))
            || self.parts().into_iter().any(RegexpNode::captures)
    }

    /// Adds the numbers of all referenced groups to `used`.
    pub(super) fn references(&self, used: &mut Vec<usize>) {
        match self {
            RegexpNode::Backreference(groups, _) => used.extend(groups),
            RegexpNode::Call(group) | RegexpNode::Conditional(group, ..) => used.push(*group),
            _ => {}
        }
        for part in self.parts() {
            part.references(used);
        }
    }
}
