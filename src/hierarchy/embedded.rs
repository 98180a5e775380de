//! Configurations that are written as ERB or EPP templates: the YAML between the tags. No tag is
//! run.

/// The text of a template without its tags: a tag that prints a value becomes a token of the
/// variable that it names, other tags vanish with the lines that they are alone on. None where a tag
/// is not closed.
///
/// ```
/// use hiera_ls::hierarchy::without_tags;
///
/// let text = "<% if @x -%>\ndatadir: <%= @datadir %>/hiera\n<% end -%>\n";
/// assert_eq!(without_tags(text).as_deref(), Some("datadir: \"%{datadir}/hiera\"\n"));
/// ```
#[must_use]
pub fn without_tags(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut tags = 0;
    // Where the line begins that a tag without a value is on, if nothing else is before it.
    let mut alone = None;
    while let Some(start) = rest.find("<%") {
        push(&mut plain, &rest[..start], &mut alone);
        let inner = &rest[start + 2..];
        if let Some(literal) = inner.strip_prefix('%') {
            push(&mut plain, "<%", &mut alone);
            rest = literal;
            continue;
        }
        let end = inner.find("%>")?;
        let tag = &inner[..end];
        rest = &inner[end + 2..];
        tags += 1;
        if let Some(expression) = tag.strip_prefix('=') {
            let token = format!("%{{{}}}", variable(expression, tags));
            push(&mut plain, &token, &mut alone);
        } else if alone.is_none() {
            let line = plain.rfind('\n').map_or(0, |at| at + 1);
            alone = plain[line..].trim().is_empty().then_some(line);
        }
    }
    push(&mut plain, rest, &mut alone);
    Some(plain.split_inclusive('\n').map(quoted).collect())
}

/// Adds text; a line that held nothing but tags goes.
fn push(plain: &mut String, text: &str, alone: &mut Option<usize>) {
    if let Some(line) = *alone {
        let (first, behind) = match text.find('\n') {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, ""),
        };
        if first.trim().is_empty() {
            if text.contains('\n') {
                plain.truncate(line);
                plain.push_str(behind);
                *alone = None;
            }
            return;
        }
        *alone = None;
    }
    plain.push_str(text);
}

/// The variable that an expression names; a number for other expressions.
fn variable(expression: &str, number: usize) -> String {
    let name = expression.trim().trim_end_matches('-').trim();
    let name = name.trim_start_matches(['@', '$', ':']);
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
    match is_name {
        true => name.to_owned(),
        false => format!("template_{number}"),
    }
}

/// A line whose plain scalar begins with a token, which YAML would refuse, with the scalar quoted.
fn quoted(line: &str) -> String {
    let body = line.trim_end();
    let start = [": ", "- "]
        .into_iter()
        .filter_map(|mark| Some(body.find(&format!("{mark}%{{"))? + mark.len()))
        .min();
    match start {
        Some(start) if !body.contains('"') => {
            let end = &line[body.len()..];
            format!("{}\"{}\"{end}", &body[..start], &body[start..])
        }
        Some(_) | None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_vanish_and_values_become_tokens() {
        let text = "<%- | String $datadir,\n  Boolean $x | -%>\n---\nversion: 5\nhierarchy:\n\
                    <% @levels.each do |level| -%>\n  - name: <%= level %>\n\
                    \x20   path: \"<%= level['x'] -%>/%{facts.os}.yaml\" <%# why %>\n<% end -%>\n";
        assert_eq!(
            without_tags(text).as_deref(),
            Some(
                "---\nversion: 5\nhierarchy:\n  - name: \"%{level}\"\n    path: \
                 \"%{template_4}/%{facts.os}.yaml\" \n"
            )
        );
        assert_eq!(without_tags("a: <% b"), None);
        assert_eq!(without_tags("a: <%% b").as_deref(), Some("a: <% b"));
        assert_eq!(without_tags("a: 1\n").as_deref(), Some("a: 1\n"));
    }
}
