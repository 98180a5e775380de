//! Ruby's regular expressions, as Ruby matches them.

use super::*;

#[test]
fn a_start_anchor_matches_at_every_line() {
    let pattern = Regexp::lazy("^profile::").unwrap();
    assert_eq!(pattern.is_match("x\nprofile::web"), Ok(true));
    assert_eq!(pattern.is_match("x profile::web"), Ok(false));
    assert_eq!(Regexp::lazy(r"\Aa").unwrap().is_match("b\na"), Ok(false));
}

#[test]
fn a_bracket_that_no_colon_closes_is_no_posix_bracket() {
    for (pattern, is_allowed) in [
        ("[[:xdigit] :]", true),
        ("[[:foo]:]", true),
        ("[[:foo:]]", false),
        ("[[:xdigita:]]", false),
    ] {
        assert_eq!(Regexp::new(pattern).is_ok(), is_allowed, "{pattern}");
    }
}

#[test]
fn named_groups_are_those_of_ruby() {
    let captures = |pattern: &str, text: &str| {
        let pattern = Regexp::new(pattern).unwrap();
        let found = pattern.named_captures(text).unwrap();
        found.map(|all| {
            let all = all.into_iter();
            all.map(|(name, text)| format!("{name}={text}"))
                .collect::<Vec<_>>()
                .join(" ")
        })
    };
    let site = r"^(?<role>[a-z]+)\d+\.(?<site>\w+)\.";
    assert_eq!(
        captures(site, "web01.lon.example.com").unwrap(),
        "role=web site=lon"
    );
    assert_eq!(captures(site, "web.lon"), None);
    // Plain groups are not numbered, and groups that took no part are missing.
    assert_eq!(captures(r"(a)(?<x>b)?(?<y>c)", "ac").unwrap(), "y=c");
    assert_eq!(captures(r"(?<x>a)|(?<x>b)", "b").unwrap(), "x=b");
    assert_eq!(
        captures(r"(?<x>.)\k<x>(?=(?<y>.))", "aab").unwrap(),
        "x=a y=b"
    );
    assert_eq!(captures(r"(?<x>a)", "b\na"), None);
    let pattern = Regexp::new(r"(?<x>a)(?<y>b)|(?<x>c)").unwrap();
    assert_eq!(pattern.names().collect::<Vec<_>>(), ["x", "y"]);
}

#[test]
fn groups_are_counted_as_ruby_counts_them() {
    let captures = |pattern: &str, text: &str| {
        let groups = Regexp::new(pattern).unwrap().captures(text).unwrap();
        groups.map(|all| {
            let shown = all.iter().map(|group| group.as_deref().unwrap_or("-"));
            shown.collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(
        captures(r"^(\w+)\.(x)?(\w)", "web.lon").unwrap(),
        "web.l web - l"
    );
    assert_eq!(captures(r"(a)(?<x>b)", "ab").unwrap(), "ab b");
    assert_eq!(captures(r"^(b)\1", "a\nbb").unwrap(), "bb b");
    assert_eq!(captures("(c)", "ab"), None);
}

#[test]
fn a_repeated_repeat_matches_as_one() {
    for pattern in ["a+?**|^", "(a+?*)*|^", "(?:(?:a+?)+)*|^"] {
        let pattern = Regexp::new(pattern).unwrap();
        assert_eq!(pattern.replace_all("aa\nb", "-"), Ok("--\n-b-".into()));
    }
}

#[test]
fn runaway_backtracking_ends() {
    let pattern = Regexp::new(r"^(?=a)(a|aa|\1)+$").unwrap();
    let text = "a".repeat(64) + "!";
    assert_eq!(pattern.is_match(&text), Err(MatchLimit::Steps));
}

#[test]
fn deep_nesting_and_huge_repeats_are_unsupported_not_crashes() {
    let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
    for pattern in [&deep, r"(?:\w{99999}){99999}"] {
        let refused = Regexp::new(pattern);
        assert!(matches!(refused, Err(RegexpError::Unsupported { .. })));
    }
    assert!(Regexp::new(&"[".repeat(5000)).is_err());
    assert!(Regexp::new(&format!("a{}", "*".repeat(5000))).is_err());
}

proptest::proptest! {
    #[test]
    fn one_line_is_answered_as_many_are(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "a", "b", "k", "K", "s", ":", ".", ".*", ".+?", "[ab]", "[^a]", "[[:alpha:]]",
                r"\w", r"\W", r"\d", r"\b", r"\B", r"\h", "(?i)", "(", "(?:", ")", "|", "*", "?",
                "{2}", "^", "$", r"\A", r"\z", r"\Z", "\u{e9}", "\u{17f}", r"\p{Alpha}", "^a",
                "b$", "(a|b)", "(|ab)$",
            ]),
            0..9,
        ),
        texts in proptest::collection::vec("[abkKsS1:. \u{e9}\u{212a}]{0,6}", 8),
    ) {
        let Ok(pattern) = Regexp::new(&pieces.concat()) else {
            return Ok(());
        };
        let Ok(many_lines) = compile(&pattern.0.root, Lines::Many) else {
            return Ok(());
        };
        for text in &texts {
            let expected = match &many_lines {
                RegexpEngine::Linear(regex) => regex.find(text).map(|found| found.range()),
                RegexpEngine::Backtracking(regex) => match regex.find(text) {
                    Ok(found) => found.map(|found| found.start()..found.end()),
                    Err(_) => return Ok(()),
                },
            };
            proptest::prop_assert_eq!(pattern.is_match(text), Ok(expected.is_some()));
            proptest::prop_assert_eq!(pattern.find(text), Ok(expected), "{:?}", text);
        }
    }
}

#[test]
fn a_knockout_prefix_is_taken_from_every_line() {
    let pattern = Regexp::new("^--").unwrap();
    assert_eq!(pattern.replace_all("--a\n--b--", ""), Ok("a\nb--".into()));
}

#[test]
fn texts_that_begin_otherwise_do_not_match() {
    for (pattern, start) in [
        ("^profile::a", "profile::a"),
        (r"\Aab+c", "a"),
        ("^ab(c|d)", "ab"),
        ("^a|b", ""),
        ("(?i)^ab", ""),
        ("^(?i)ab", ""),
        ("ab", ""),
        ("^a?b", ""),
        (r"^\.x\d", ".x"),
    ] {
        let pattern = Regexp::new(pattern).expect("a pattern");
        assert_eq!(pattern.0.start, start, "{}", pattern.source());
        for text in [
            "",
            "ab",
            "AB",
            "b",
            "abd",
            "profile::ab",
            "x\nabbc",
            "x\nprofile::a",
            ".x1",
        ] {
            let found = pattern.find(text).expect("a search").is_some();
            assert_eq!(
                pattern.is_match(text),
                Ok(found),
                "{} {text:?}",
                pattern.source()
            );
        }
    }
}
