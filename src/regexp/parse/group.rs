//! Parses parentheses: groups, look-around, options, conditionals, and names.

use super::super::syntax::{Case, Look, RegexpNode};
use super::*;

impl RegexpParser {
    pub(super) fn group(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        if !self.take_if('?') {
            if self.names.is_empty() {
                return self.capture(depth);
            }
            return self.body(depth);
        }
        let Some(kind) = self.next() else {
            return Err(RegexpFailure::ruby("end pattern in group"));
        };
        match kind {
            ':' => self.body(depth),
            '=' => self.look(Look::Ahead, depth),
            '!' => self.look(Look::NotAhead, depth),
            '>' => Ok(RegexpNode::Atomic(Box::new(self.body(depth)?))),
            '~' => {
                if self.peek() == Some('|') {
                    return Err(RegexpFailure::Unsupported(
                        "absence operator `(?~|…)`".to_owned(),
                    ));
                }
                Ok(RegexpNode::Absent(Box::new(self.body(depth)?)))
            }
            '<' => match self.peek() {
                None => Err(unmatched_open()),
                Some('=') => {
                    self.next();
                    self.look(Look::Behind, depth)
                }
                Some('!') => {
                    self.next();
                    self.look(Look::NotBehind, depth)
                }
                Some(_) => {
                    self.group_name('>')?;
                    self.capture(depth)
                }
            },
            '\'' => {
                self.group_name('\'')?;
                self.capture(depth)
            }
            '(' => self.conditional(depth),
            _ => {
                self.position -= 1;
                self.option_group(depth)
            }
        }
    }

    fn capture(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        self.groups += 1;
        let number = self.groups;
        Ok(RegexpNode::Capture(number, Box::new(self.body(depth)?)))
    }

    /// Reads a group's body through its closing parenthesis; options set inside end with it.
    fn body(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        let outer = self.options;
        let body = self.alternatives(depth + 1)?;
        self.options = outer;
        if !self.take_if(')') {
            return Err(unmatched_open());
        }
        Ok(body)
    }

    fn look(&mut self, look: Look, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        let body = self.body(depth)?;
        let is_behind = matches!(look, Look::Behind | Look::NotBehind);
        let is_fixed = |node: &RegexpNode| node.fixed_length().is_some();
        let are_fixed = match &body {
            RegexpNode::Alternatives(branches) => branches.iter().all(is_fixed),
            body => is_fixed(body),
        };
        if is_behind && (!are_fixed || look == Look::NotBehind && body.captures()) {
            return Err(RegexpFailure::ruby("invalid pattern in look-behind"));
        }
        Ok(RegexpNode::Look(look, Box::new(body)))
    }

    /// `(?imx-imx)` for the rest of the group, `(?imx-imx:…)` for its own body.
    fn option_group(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        let outer = self.options;
        let mut on = true;
        loop {
            match self.next() {
                None => return Err(RegexpFailure::ruby("end pattern in group")),
                Some('-') => on = false,
                Some('i') => {
                    self.options.case = if on { Case::Ignored } else { Case::Exact };
                }
                Some('m') => self.options.dot_newline = on,
                Some('x') => self.options.extended = on,
                Some('a') if on => self.options.charset = Charset::Ascii,
                Some('u') if on => self.options.charset = Charset::Unicode,
                Some('d') if on => self.options.charset = Charset::Mixed,
                Some(')') => {
                    // The rest of the group, alternatives included, is the body.
                    let rest = self.alternatives(depth + 1)?;
                    self.options = outer;
                    return Ok(rest);
                }
                Some(':') => {
                    let body = self.body(depth);
                    self.options = outer;
                    return body;
                }
                Some(_) => return Err(RegexpFailure::ruby("undefined group option")),
            }
        }
    }

    /// The name of a group, through the sign after it.
    fn group_name(&mut self, close: char) -> Result<(), RegexpFailure> {
        let name = self.name(close, true)?;
        let begins = |c: char| c == '_' || c.is_alphanumeric() && !c.is_ascii_digit();
        if !name.starts_with(begins) {
            return Err(invalid_name(&name));
        }
        Ok(())
    }

    /// The text between the brackets of `\k<…>`, `\g<…>`.
    pub(super) fn reference_name(&mut self) -> Result<String, RegexpFailure> {
        let close = if self.next() == Some('\'') { '\'' } else { '>' };
        self.name(close, false)
    }

    fn name(&mut self, close: char, of_group: bool) -> Result<String, RegexpFailure> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(c) if c == close => break,
                Some(')') if of_group => return Err(invalid_name(&name)),
                Some(c) => name.push(c),
                None if name.is_empty() => break,
                None => return Err(invalid_name(&name)),
            }
        }
        if name.is_empty() {
            return Err(RegexpFailure::ruby("group name is empty"));
        }
        Ok(name)
    }

    /// The numbers of the groups that a reference means.
    pub(super) fn referred(&mut self, name: &str) -> Result<Vec<usize>, RegexpFailure> {
        let first = name.chars().next();
        if first.is_some_and(|c| c.is_ascii_digit() || c == '-' || c == '+') {
            let Ok(number) = name.parse::<i64>() else {
                return Err(RegexpFailure::Unsupported(format!(
                    "reference `{name}` to a level of recursion"
                )));
            };
            self.numbered_reference = true;
            let groups = i64::try_from(self.groups).unwrap_or(i64::MAX);
            let absolute = if number < 0 {
                groups + 1 + number
            } else if first == Some('+') {
                groups + number
            } else {
                number
            };
            return match usize::try_from(absolute) {
                Ok(absolute) if absolute > 0 || number == 0 => Ok(vec![absolute]),
                _ => Err(RegexpFailure::ruby("invalid backref number/name")),
            };
        }
        let groups: Vec<usize> = self
            .names
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, number)| *number)
            .collect();
        if groups.is_empty() {
            return Err(RegexpFailure::Ruby(format!(
                "undefined name <{name}> reference"
            )));
        }
        Ok(groups)
    }

    fn conditional(&mut self, depth: usize) -> Result<RegexpNode, RegexpFailure> {
        let name = if matches!(self.peek(), Some('<' | '\'')) {
            let name = self.reference_name()?;
            if !self.take_if(')') {
                return Err(RegexpFailure::ruby("invalid conditional pattern"));
            }
            name
        } else {
            let mut digits = String::new();
            loop {
                match self.next() {
                    Some(')') => break,
                    Some(c) if c.is_ascii_digit() => digits.push(c),
                    _ => return Err(RegexpFailure::ruby("invalid conditional pattern")),
                }
            }
            digits
        };
        let groups = self.referred(&name)?;
        let group = groups.last().copied().unwrap_or_default();
        if group > self.groups || group == 0 {
            return Err(RegexpFailure::ruby("invalid backref number/name"));
        }
        let [yes, no] = match self.body(depth)? {
            RegexpNode::Alternatives(branches) => <[RegexpNode; 2]>::try_from(branches)
                .map_err(|_| RegexpFailure::ruby("invalid conditional pattern"))?,
            only => [only, RegexpNode::Empty],
        };
        Ok(RegexpNode::Conditional(group, Box::new(yes), Box::new(no)))
    }
}
