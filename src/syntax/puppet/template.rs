//! Templates: text around tags with code (`pops/parser/epp_support.rb`).

use super::lexer::{Lexed, Lexer, TemplateTag, Terminal};

impl Lexer<'_> {
    /// The tokens of a template up to its first code.
    pub(super) fn begin_template(&mut self) -> Lexed<()> {
        let start = self.token(Terminal::TemplateStart, "", 0, 0);
        self.queue.push_back(start);
        self.template = Some(TemplateTag::Text);
        self.template_text(false)
    }

    /// Whether the text ends inside of a tag.
    pub(super) fn is_in_tag(&self) -> bool {
        self.template.is_some_and(|tag| tag != TemplateTag::Text)
    }

    pub(super) fn ends_tag(&self) -> bool {
        self.template.is_some() && (self.rest().starts_with("%>") || self.rest().starts_with("-%>"))
    }

    /// Takes the end of a tag and the text after it.
    pub(super) fn end_tag(&mut self) -> Lexed<()> {
        let start = self.at;
        let trims = self.rest().starts_with('-');
        let value = self.scan(if trims { 3 } else { 2 });
        if self.template == Some(TemplateTag::Render) {
            let end = self.token(Terminal::RenderEnd, value, start, self.at);
            self.queue.push_back(end);
        }
        self.template_text(trims)
    }

    /// Takes the text up to the next code; `trims` drops the rest of the line first.
    fn template_text(&mut self, trims: bool) -> Lexed<()> {
        let before = self.at;
        let scanned = self.until_code(trims);
        let (text, tag) = match scanned {
            Ok(scanned) => scanned,
            Err(problem) => {
                self.at = self.text.len();
                self.template = Some(TemplateTag::Text);
                return Err(problem);
            }
        };
        let is_last = tag == TemplateTag::Text;
        if let Some(text) = text.filter(|text| is_last || !text.is_empty()) {
            let token = self.token(Terminal::RenderText, text, before, self.at);
            self.queue.push_back(token);
        }
        if tag == TemplateTag::Render {
            let token = self.token(Terminal::RenderStart, "", before, before);
            self.queue.push_back(token);
        }
        self.template = Some(tag);
        Ok(())
    }

    /// The text up to the next code, and what follows. The text is `None` if Puppet loses it,
    /// before a comment that ends the template.
    fn until_code(&mut self, mut trims: bool) -> Lexed<(Option<String>, TemplateTag)> {
        let mut text = String::new();
        while !self.at_end() {
            let rest = self.rest();
            let tag = rest.find("<%");
            let part = &rest[..tag.map_or(rest.len(), |at| at + 2)];
            self.at += part.len();
            let part = if trims {
                without_line_start(part)
            } else {
                part
            };
            trims = false;
            text.push_str(&part.replace("%%>", "%>"));
            let opened = text.len().saturating_sub("<%".len());
            match self.rest().bytes().next() {
                None if text.ends_with("<%") => {
                    let message =
                        "Unbalanced embedded expression - opening <% and reaching end of input";
                    return Err(self.error(message, self.at));
                }
                None => return Ok((Some(text), TemplateTag::Text)),
                Some(b'-') => {
                    self.at += 1;
                    text.truncate(opened);
                    trim_blanks(&mut text);
                    return Ok((Some(text), TemplateTag::Code));
                }
                Some(b'%') => self.at += 1,
                Some(b'=') => {
                    self.at += 1;
                    text.truncate(opened);
                    return Ok((Some(text), TemplateTag::Render));
                }
                Some(b'#') => {
                    text.truncate(opened);
                    trims = self.template_comment(&mut text)?;
                }
                Some(_) => {
                    text.truncate(opened);
                    return Ok((Some(text), TemplateTag::Code));
                }
            }
        }
        Ok((None, TemplateTag::Text))
    }

    /// Skips a comment from its `#` on; returns whether it drops the rest of the line after it.
    fn template_comment(&mut self, text: &mut String) -> Lexed<bool> {
        let rest = self.rest();
        let mut from = 1;
        let length = loop {
            let Some(end) = rest.get(from..).and_then(|rest| rest.find("%>")) else {
                let message = "Reaching end after opening <%# without seeing %>";
                return Err(self.error(message, self.at));
            };
            let end = from + end;
            // `%%>` does not end it.
            if rest.as_bytes()[end - 1] != b'%' {
                break end + 2;
            }
            from = end + 1;
        };
        if rest[1..].starts_with('-') {
            trim_blanks(text);
        }
        self.at += length;
        Ok(rest[..length].ends_with("-%>"))
    }
}

/// The text without leading blanks and the line end after them.
fn without_line_start(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t']);
    let text = text.strip_prefix('\r').unwrap_or(text);
    text.strip_prefix('\n').unwrap_or(text)
}

fn trim_blanks(text: &mut String) {
    text.truncate(text.trim_end_matches([' ', '\t']).len());
}
