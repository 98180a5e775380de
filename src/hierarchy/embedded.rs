//! Configurations written as ERB or EPP templates: the YAML between the tags. No tag is run.

use crate::syntax::quote_scalars;

/// The start of variables that stand for the output of tags. No variable of Puppet starts so.
const TAG: &str = "<%=";

/// Whether a variable stands for the output of a template's tag: the same for all nodes, possibly
/// with `/` in it, and known only where the template is deployed.
#[must_use]
pub fn is_of_tag(variable: &str) -> bool {
    variable.starts_with(TAG)
}

/// The text of a template without its tags. A tag that prints a value becomes a token whose variable
/// has the tag's text ([`is_of_tag`]); other tags are removed, with their line if nothing else is on
/// it. `None` if a tag is not closed.
///
/// ```
/// use hiera_ls::hierarchy::without_tags;
///
/// let text = "<% if @x -%>\ndatadir: <%= @datadir %>/hiera\n<% end -%>\n";
/// assert_eq!(
///     without_tags(text).as_deref(),
///     Some("datadir: \"%{<%= @datadir %>}/hiera\"\n"),
/// );
/// ```
#[must_use]
pub fn without_tags(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    // The start of the line with a tag without a value, if nothing precedes it.
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
        if let Some(expression) = tag.strip_prefix('=') {
            let token = format!("%{{{}}}", variable(expression));
            push(&mut plain, &token, &mut alone);
        } else if alone.is_none() {
            let line = plain.rfind('\n').map_or(0, |at| at + 1);
            alone = plain[line..].trim().is_empty().then_some(line);
        }
    }
    push(&mut plain, rest, &mut alone);
    // YAML would refuse them as they are.
    let begins = |scalar: &str| scalar.starts_with("%{");
    let lines = plain.split_inclusive('\n');
    Some(lines.map(|line| quote_scalars(line, &begins)).collect())
}

/// Adds text; a line that had nothing but tags is removed.
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

/// The variable for a tag's output: the tag, without characters that have a meaning in YAML, in a
/// token or in a path.
fn variable(expression: &str) -> String {
    let kept = expression.replace("::", "\u{1}");
    let kept = kept.chars().map(|c| match c {
        '_' | '@' | '$' | '\u{1}' => c,
        c if c.is_alphanumeric() => c,
        _ => ' ',
    });
    let kept = kept.collect::<String>().replace('\u{1}', "::");
    let words: Vec<&str> = kept.split_whitespace().collect();
    format!("{TAG} {} %>", words.join(" "))
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
                "---\nversion: 5\nhierarchy:\n  - name: \"%{<%= level %>}\"\n    path: \
                 \"%{<%= level x %>}/%{facts.os}.yaml\" \n"
            )
        );
        assert_eq!(without_tags("a: <% b"), None);
        assert_eq!(without_tags("a: <%% b").as_deref(), Some("a: <% b"));
        assert_eq!(without_tags("a: 1\n").as_deref(), Some("a: 1\n"));
    }

    #[test]
    fn scalars_that_begin_with_a_tag_are_quoted_wherever_they_stand() {
        for (text, plain) in [
            (
                "d: <%= @d %>/x   # \"why\"\n",
                "d: \"%{<%= @d %>}/x\"   # \"why\"\n",
            ),
            (
                "- {datadir: <%= @d %>, path: a/<%= $b::c %>.yaml}\n",
                "- {datadir: \"%{<%= @d %>}\", path: a/%{<%= $b::c %>}.yaml}\n",
            ),
            (
                "paths: [\"a.yaml\", <%= @x %>/b.yaml, 'c']\n",
                "paths: [\"a.yaml\", \"%{<%= @x %>}/b.yaml\", 'c']\n",
            ),
            ("<%= @key %>: 1\n", "\"%{<%= @key %>}\": 1\n"),
            ("a: b <%= @x %>\n", "a: b %{<%= @x %>}\n"),
            ("a: it's <%= @x %>\n", "a: it's %{<%= @x %>}\n"),
            (
                "a: '<%= @x %>, <%= @y %>'\n",
                "a: '%{<%= @x %>}, %{<%= @y %>}'\n",
            ),
            ("- <%= a %> \"b\"\n", "- '%{<%= a %>} \"b\"'\n"),
        ] {
            assert_eq!(without_tags(text).as_deref(), Some(plain));
        }
    }
}
