//! Writes a pattern's tree for Rust's engines.

use super::syntax::{Anchor, Case, Greed, Look, RegexpNode};

/// The kind of text to search, which decides how `^`, `$` and `\Z` are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// The text has no newline: `^` and `$` are its ends.
    One,
    /// The text may have newlines.
    Many,
}

/// The text of a pattern, and the engine that it needs.
#[derive(Debug)]
pub(super) struct Emitted {
    pub(super) text: String,
    /// Whether only a backtracking engine can run it.
    pub(super) backtracks: bool,
    /// Ruby's numbers of the groups that capture, in the engine's order.
    pub(super) groups: Vec<usize>,
}

/// Writes the tree for texts of the given kind; the error names what no engine here supports. The
/// groups with the numbers `wanted` capture.
pub(super) fn emit(root: &RegexpNode, lines: Lines, wanted: &[usize]) -> Result<Emitted, String> {
    let mut used = Vec::new();
    root.references(&mut used);
    let backtracks = !used.is_empty();
    used.extend(wanted);
    used.sort_unstable();
    used.dedup();
    let mut emitter = RegexpEmitter {
        out: String::new(),
        lines,
        backtracks,
        kept: Vec::new(),
        used,
    };
    emitter.number_groups(root);
    emitter.node(root)?;
    Ok(Emitted {
        text: emitter.out,
        backtracks: emitter.backtracks,
        groups: emitter.kept,
    })
}

struct RegexpEmitter {
    out: String,
    lines: Lines,
    backtracks: bool,
    /// Groups that are referred to: only these capture.
    used: Vec<usize>,
    /// Those groups in the order of their opening, which is the engine's numbering.
    kept: Vec<usize>,
}

impl RegexpEmitter {
    fn number_groups(&mut self, node: &RegexpNode) {
        if let RegexpNode::Capture(number, _) = node
            && self.used.contains(number)
        {
            self.kept.push(*number);
        }
        for part in node.parts() {
            self.number_groups(part);
        }
    }

    fn engine_number(&self, group: usize) -> usize {
        self.kept
            .iter()
            .position(|kept| *kept == group)
            .map_or(0, |index| index + 1)
    }

    fn node(&mut self, node: &RegexpNode) -> Result<(), String> {
        match node {
            RegexpNode::Empty => {}
            RegexpNode::Literal(c, Case::Ignored) if c.is_alphabetic() => {
                self.out.push_str("(?i:");
                push_literal(*c, &mut self.out);
                self.out.push(')');
            }
            RegexpNode::Literal(c, _) => push_literal(*c, &mut self.out),
            RegexpNode::Any { newline: true } => self.out.push_str("(?s:.)"),
            RegexpNode::Any { newline: false } => self.out.push_str(r"[^\n]"),
            RegexpNode::Class(class, Case::Exact) => self.out.push_str(class),
            RegexpNode::Class(class, Case::Ignored) => self.out.push_str(&format!("(?i:{class})")),
            RegexpNode::Sequence(parts) => {
                for part in parts {
                    if matches!(part, RegexpNode::Alternatives(_)) {
                        self.grouped("(?:", part)?;
                    } else {
                        self.node(part)?;
                    }
                }
            }
            RegexpNode::Alternatives(branches) => {
                for (i, branch) in branches.iter().enumerate() {
                    if i > 0 {
                        self.out.push('|');
                    }
                    self.node(branch)?;
                }
            }
            RegexpNode::Capture(number, body) if self.used.contains(number) => {
                self.grouped("(", body)?;
            }
            RegexpNode::Capture(_, body) => self.grouped("(?:", body)?,
            RegexpNode::Atomic(body) => self.backtracking("(?>", body)?,
            RegexpNode::Look(Look::Ahead, body) => self.backtracking("(?=", body)?,
            RegexpNode::Look(Look::NotAhead, body) => self.backtracking("(?!", body)?,
            RegexpNode::Look(Look::Behind, body) => self.backtracking("(?<=", body)?,
            RegexpNode::Look(Look::NotBehind, body) => self.backtracking("(?<!", body)?,
            RegexpNode::Absent(body) => self.backtracking("(?~", body)?,
            RegexpNode::Repeat {
                body,
                min,
                max,
                greed,
            } => self.repeat(body, *min, *max, *greed)?,
            RegexpNode::Anchor(anchor) => self.anchor(*anchor),
            RegexpNode::Backreference(groups, case) => self.backreference(groups, *case),
            RegexpNode::Call(group) => {
                let number = self.engine_number(*group);
                self.out.push_str(&format!("\\g<{number}>"));
            }
            RegexpNode::Conditional(group, yes, no) => {
                let number = self.engine_number(*group);
                self.out.push_str(&format!("(?({number})"));
                self.grouped("(?:", yes)?;
                self.out.push('|');
                self.grouped("(?:", no)?;
                self.out.push(')');
            }
            RegexpNode::Keep => {
                self.backtracks = true;
                self.out.push_str("\\K");
            }
            RegexpNode::Grapheme => return Err(r"grapheme clusters (`\X`)".to_owned()),
        }
        Ok(())
    }

    /// Matches the group that last took part.
    fn backreference(&mut self, groups: &[usize], case: Case) {
        let open = match case {
            Case::Exact => "(?:",
            Case::Ignored => "(?i:",
        };
        let numbers = groups.iter().rev();
        let numbers = numbers.map(|group| format!("\\{}", self.engine_number(*group)));
        let numbers = numbers.collect::<Vec<_>>().join("|");
        self.out.push_str(&format!("{open}{numbers})"));
    }

    fn backtracking(&mut self, open: &str, body: &RegexpNode) -> Result<(), String> {
        self.backtracks = true;
        self.grouped(open, body)
    }

    fn grouped(&mut self, open: &str, body: &RegexpNode) -> Result<(), String> {
        self.out.push_str(open);
        self.node(body)?;
        self.out.push(')');
        Ok(())
    }

    /// The content of groups whose captures are not used.
    fn unwrapped<'n>(&self, mut node: &'n RegexpNode) -> &'n RegexpNode {
        while let RegexpNode::Capture(number, body) = node
            && !self.used.contains(number)
        {
            node = body;
        }
        node
    }

    fn repeat(
        &mut self,
        body: &RegexpNode,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    ) -> Result<(), String> {
        if body.is_zero_width() {
            // Engines differ in repeating an empty match; matching it once, or not at all, is
            // equivalent.
            if min > 0 {
                return self.node(body);
            }
            return Ok(());
        }
        let is_star =
            |min, max: Option<u32>, greed| min <= 1 && max.is_none() && greed == Greed::Greedy;
        if let RegexpNode::Repeat {
            body: inner,
            min: inner_min,
            max: inner_max,
            greed: inner_greed,
        } = self.unwrapped(body)
            && is_star(min, max, greed)
            && is_star(*inner_min, *inner_max, *inner_greed)
        {
            // Ruby makes one repeat of both too. `fancy-regex` stops early if a lazy one is inside.
            return self.repeat(inner, min.min(*inner_min), None, greed);
        }
        let possessive = greed == Greed::Possessive;
        if possessive {
            self.backtracks = true;
            self.out.push_str("(?>");
        }
        self.grouped("(?:", body)?;
        self.out.push_str(&match (min, max) {
            (0, None) => "*".to_owned(),
            (1, None) => "+".to_owned(),
            (0, Some(1)) => "?".to_owned(),
            (min, None) => format!("{{{min},}}"),
            (min, Some(max)) => format!("{{{min},{max}}}"),
        });
        self.out.push_str(match greed {
            Greed::Greedy => "",
            Greed::Lazy => "?",
            Greed::Possessive => ")",
        });
        Ok(())
    }

    fn anchor(&mut self, anchor: Anchor) {
        let (text, backtracks) = match (anchor, self.lines) {
            (Anchor::LineStart, Lines::One) | (Anchor::TextStart, _) => (r"\A", false),
            (Anchor::LineEnd | Anchor::TextEndOrNewline, Lines::One) | (Anchor::TextEnd, _) => {
                (r"\z", false)
            }
            // No line begins after a newline that ends the text.
            (Anchor::LineStart, Lines::Many) => (r"(?:\A|(?<=\n)(?!\z))", true),
            (Anchor::LineEnd, Lines::Many) => (r"(?m:$)", false),
            (Anchor::TextEndOrNewline, Lines::Many) => (r"(?=\n?\z)", true),
            (Anchor::SearchStart, _) => (r"\G", true),
            (Anchor::WordBoundary { ascii: false }, _) => (r"\b", false),
            (Anchor::NotWordBoundary { ascii: false }, _) => (r"\B", false),
            (Anchor::WordBoundary { ascii: true }, _) => (r"(?-u:\b)", false),
            (Anchor::NotWordBoundary { ascii: true }, _) => (r"(?!(?-u:\b))", true),
        };
        self.backtracks |= backtracks;
        self.out.push_str(text);
    }
}

fn push_literal(c: char, out: &mut String) {
    if c.is_ascii_control() {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(c)));
        return;
    }
    if r"\.+*?()|[]{}^$".contains(c) {
        out.push('\\');
    }
    out.push(c);
}
