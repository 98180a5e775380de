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
    let mut emitter = Emitter {
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

struct Emitter {
    out: String,
    lines: Lines,
    backtracks: bool,
    /// Groups that are referred to: only these capture.
    used: Vec<usize>,
    /// Those groups in the order of their opening, which is the engine's numbering.
    kept: Vec<usize>,
}

impl Emitter {
    fn number_groups(&mut self, node: &RegexpNode) {
        match node {
            RegexpNode::Capture(number, body) => {
                if self.used.contains(number) {
                    self.kept.push(*number);
                }
                self.number_groups(body);
            }
            RegexpNode::Sequence(parts) | RegexpNode::Alternatives(parts) => {
                parts.iter().for_each(|part| self.number_groups(part));
            }
            RegexpNode::Atomic(body) | RegexpNode::Look(_, body) | RegexpNode::Absent(body) => {
                self.number_groups(body);
            }
            RegexpNode::Repeat { body, .. } => self.number_groups(body),
            RegexpNode::Conditional(_, yes, no) => {
                self.number_groups(yes);
                self.number_groups(no);
            }
            _ => {}
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
            RegexpNode::Literal(c, case) => {
                if *case == Case::Ignored && c.is_alphabetic() {
                    self.out.push_str("(?i:");
                    push_literal(*c, &mut self.out);
                    self.out.push(')');
                } else {
                    push_literal(*c, &mut self.out);
                }
            }
            RegexpNode::Any { newline: true } => self.out.push_str("(?s:.)"),
            RegexpNode::Any { newline: false } => self.out.push_str(r"[^\n]"),
            RegexpNode::Class(class, Case::Exact) => self.out.push_str(class),
            RegexpNode::Class(class, Case::Ignored) => {
                self.out.push_str("(?i:");
                self.out.push_str(class);
                self.out.push(')');
            }
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
            RegexpNode::Capture(number, body) => {
                let open = if self.used.contains(number) {
                    "("
                } else {
                    "(?:"
                };
                self.grouped(open, body)?;
            }
            RegexpNode::Atomic(body) => {
                self.backtracks = true;
                self.grouped("(?>", body)?;
            }
            RegexpNode::Look(look, body) => {
                self.backtracks = true;
                let open = match look {
                    Look::Ahead => "(?=",
                    Look::NotAhead => "(?!",
                    Look::Behind => "(?<=",
                    Look::NotBehind => "(?<!",
                };
                self.grouped(open, body)?;
            }
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
            RegexpNode::Absent(body) => {
                self.backtracks = true;
                self.grouped("(?~", body)?;
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
        self.out.push_str(open);
        for (i, group) in groups.iter().rev().enumerate() {
            if i > 0 {
                self.out.push('|');
            }
            let number = self.engine_number(*group);
            self.out.push_str(&format!("\\{number}"));
        }
        self.out.push(')');
    }

    fn grouped(&mut self, open: &str, body: &RegexpNode) -> Result<(), String> {
        self.out.push_str(open);
        self.node(body)?;
        self.out.push(')');
        Ok(())
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
        let possessive = greed == Greed::Possessive;
        if possessive {
            self.backtracks = true;
            self.out.push_str("(?>");
        }
        self.grouped("(?:", body)?;
        match (min, max) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (0, Some(1)) => self.out.push('?'),
            (min, None) => self.out.push_str(&format!("{{{min},}}")),
            (min, Some(max)) => self.out.push_str(&format!("{{{min},{max}}}")),
        }
        match greed {
            Greed::Greedy => {}
            Greed::Lazy => self.out.push('?'),
            Greed::Possessive => self.out.push(')'),
        }
        Ok(())
    }

    fn anchor(&mut self, anchor: Anchor) {
        let text = match (anchor, self.lines) {
            (Anchor::LineStart, Lines::One) | (Anchor::TextStart, _) => r"\A",
            (Anchor::LineEnd | Anchor::TextEndOrNewline, Lines::One) | (Anchor::TextEnd, _) => {
                r"\z"
            }
            (Anchor::LineStart, Lines::Many) => {
                // No line begins after a newline that ends the text.
                self.backtracks = true;
                r"(?:\A|(?<=\n)(?!\z))"
            }
            (Anchor::LineEnd, Lines::Many) => r"(?m:$)",
            (Anchor::TextEndOrNewline, Lines::Many) => {
                self.backtracks = true;
                r"(?=\n?\z)"
            }
            (Anchor::SearchStart, _) => {
                self.backtracks = true;
                r"\G"
            }
            (Anchor::WordBoundary { ascii: false }, _) => r"\b",
            (Anchor::NotWordBoundary { ascii: false }, _) => r"\B",
            (Anchor::WordBoundary { ascii: true }, _) => r"(?-u:\b)",
            (Anchor::NotWordBoundary { ascii: true }, _) => {
                self.backtracks = true;
                r"(?!(?-u:\b))"
            }
        };
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
