//! What a search for keys finds before the model has taken the workspace in: the keys at the start of
//! a line of the texts that have been read.
//!
//! It looks at every line once and builds nothing, so that it costs little more than that. What is
//! not at the start of a line, or not YAML, is found as soon as the index is there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use super::symbols::{Match, quality};
use crate::text::TextRange;
use crate::value::KeyHashing;

/// A key in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundKey {
    /// Which of the texts it stands in, counted from 0.
    pub text: usize,
    /// The key without its quotes.
    pub name: Arc<str>,
    /// The key alone, with its quotes.
    pub range: TextRange,
}

/// Keys that match what somebody typed, at most `limit`, in the order of
/// [`super::symbols::workspace_symbols`]. O(bytes); `is_stopped` is asked now and then.
#[must_use]
pub fn first_look<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    typed: &str,
    limit: usize,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<FoundKey> {
    let typed = typed.to_lowercase();
    // Most names stand in many files.
    let mut known: HashMap<&str, Option<Match>, KeyHashing> = HashMap::default();
    let mut best: BTreeMap<(Match, &str), Vec<(usize, TextRange)>> = BTreeMap::new();
    for (number, text) in texts.into_iter().enumerate() {
        if is_stopped() {
            return Vec::new();
        }
        for (name, range) in keys(text) {
            let rate = || quality(name, &typed);
            let Some(quality) = *known.entry(name).or_insert_with(rate) else {
                continue;
            };
            let rank = (quality, name);
            if best.len() == limit && best.last_key_value().is_some_and(|(last, _)| *last < rank) {
                continue;
            }
            let places = best.entry(rank).or_default();
            if places.len() < limit {
                places.push((number, range));
            }
            if best.len() > limit {
                best.pop_last();
            }
        }
    }
    let found = best.into_iter().flat_map(|((_, name), places)| {
        let name: Arc<str> = name.into();
        places.into_iter().map(move |(text, range)| FoundKey {
            text,
            name: name.clone(),
            range,
        })
    });
    found.take(limit).collect()
}

/// The keys at the start of a line with their places.
fn keys(text: &str) -> impl Iterator<Item = (&str, TextRange)> {
    let ends = memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    std::iter::once(0)
        .chain(ends)
        .filter_map(move |start| key(text, start))
}

/// The key at the start of the line that starts there.
fn key(text: &str, start: usize) -> Option<(&str, TextRange)> {
    let rest = &text.as_bytes()[start..];
    let (name, length) = match *rest.first()? {
        b' ' | b'\t' | b'\n' | b'\r' | b'#' | b'%' | b'{' | b'[' | b'&' | b'*' | b'!' | b'?'
        | b'|' | b'>' => return None,
        b'-' if matches!(rest.get(1), None | Some(b'-' | b' ' | b'\n' | b'\r')) => return None,
        quote @ (b'"' | b'\'') => {
            let name = &rest[1..=memchr(quote, &rest[1..])?];
            if name.contains(&b'\n') || name.contains(&b'\\') {
                return None;
            }
            (start + 1..start + 1 + name.len(), name.len() + 2)
        }
        _ => {
            let is_end = |at: &usize| match rest[*at] {
                b':' => matches!(rest.get(at + 1), None | Some(b' ' | b'\n' | b'\r')),
                byte => byte == b'\n',
            };
            let length = (0..rest.len()).find(is_end)?;
            (start..start + length, length)
        }
    };
    let is_key = rest.get(length) == Some(&b':')
        && matches!(rest.get(length + 1), None | Some(b' ' | b'\n' | b'\r'));
    let name = is_key.then(|| text.get(name))??;
    Some((name, TextRange::new(start, start + length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::symbols::workspace_symbols;
    use crate::workspace::{Change, Workspace};

    const TEXTS: [&str; 3] = [
        "---\nntp::servers: [a]\nNTP: 1\n# ntp: no\nother:\n  ntp: nested\n",
        "my::ntp: x\r\n\"n_t_p\": x\n'ntp' : no\n- ntp: 1\nntp::servers:\n  - ntp: 2\nlast:",
        "a b: |\n  ntp: text\n\"ntp: open\nc::d:e: 1\nno colon\n",
    ];

    fn look(typed: &str, limit: usize) -> Vec<String> {
        let found = first_look(TEXTS, typed, limit, &|| false);
        let shown = found.iter().map(|key| {
            let text = &TEXTS[key.text][key.range.start as usize..key.range.end as usize];
            format!("{} {} {text}", key.text, key.name)
        });
        shown.collect()
    }

    #[test]
    fn keys_at_the_start_of_a_line_are_found_best_first() {
        expect_test::expect![[r#"
            0 NTP NTP
            0 ntp::servers ntp::servers
            1 ntp::servers ntp::servers
            1 my::ntp my::ntp
            1 n_t_p "n_t_p""#]]
        .assert_eq(&look("ntp", 10).join("\n"));
        assert_eq!(look("ntp", 2), look("ntp", 10)[..2]);
        assert_eq!(look("zzz", 10).len(), 0);
        let all = look("", 20).join("|");
        for name in ["last last", "a b a b", "c::d:e c::d:e", "other other"] {
            assert!(all.contains(name), "{name}: {all}");
        }
        assert_eq!(look("", 20).len(), 9);
        assert!(first_look(TEXTS, "", 10, &|| true).is_empty());
    }

    #[test]
    fn it_finds_what_the_index_will_find() {
        let text = "b: 1\na::c: {x: y}\n\"q\": z\nlookup_options: {}\na::b: 1\n's': ''\n";
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        let snapshot = workspace.apply(Change::Open {
            path: "/w/data/a.yaml".into(),
            text: text.into(),
            version: 1,
        });
        for typed in ["", "a", "q", "b", "::"] {
            let found = first_look([text], typed, 100, &|| false);
            let found: Vec<_> = found.iter().map(|key| (&*key.name, key.range)).collect();
            let later = workspace_symbols(&snapshot, typed, 100, &|| false);
            let later: Vec<_> = later
                .iter()
                .map(|(_, key)| (&*key.name, key.selection))
                .collect();
            assert_eq!(found, later, "{typed:?}");
        }
    }
}
