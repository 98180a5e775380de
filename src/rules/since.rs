//! From which version of Puppet on the findings of a rule matter more: one table for messages, formats
//! and pages.

use super::finding::Finding;
use crate::lookup::PuppetVersion;

/// What a later version of Puppet makes of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Since {
    /// The first version.
    pub version: PuppetVersion,
    /// What is so from that version on.
    effect: &'static str,
}

/// The rules with such findings, by code. With `strict_variables` or `strict` set, Puppet 7 does the same
/// as 8.
const RULES_SINCE: [(&str, Since); 9] = [
    fails("foreign-percent-syntax"),
    (
        "interp-structured-in-string",
        Since {
            version: PuppetVersion::V9,
            effect: "another text",
        },
    ),
    (
        "json-escape",
        Since {
            version: PuppetVersion::V9,
            effect: "fails",
        },
    ),
    fails("legacy-config"),
    (
        "legacy-fact",
        Since {
            version: PuppetVersion::V8,
            effect: "no such fact",
        },
    ),
    fails("malformed-call"),
    fails("not-a-hash"),
    fails("unclosed-token"),
    fails("undefined-variable"),
];

const fn fails(code: &'static str) -> (&'static str, Since) {
    let since = Since {
        version: PuppetVersion::V8,
        effect: "fails",
    };
    (code, since)
}

impl Since {
    /// What later versions make of the findings of a rule; `None` if all versions do the same.
    #[must_use]
    pub fn of(code: &str) -> Option<Since> {
        let mut rules = RULES_SINCE.iter();
        rules
            .find(|(rule, _)| *rule == code)
            .map(|(_, since)| *since)
    }

    /// For people: `fails from 8 on`.
    #[must_use]
    pub fn words(self) -> String {
        format!("{} from {} on", self.effect, u8::from(self.version))
    }
}

impl Finding {
    /// Records that a later version of Puppet makes more of it, as the table says of its rule.
    pub(super) fn matters_later(&mut self) {
        self.since = Since::of(self.code);
    }

    /// Adds to the message what a later version than the given one makes of it.
    pub(super) fn name_later_effect(&mut self, version: PuppetVersion) {
        if let Some(since) = self.since.filter(|since| since.version > version) {
            self.message.push_str(&format!(" ({})", since.words()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fixture::{FOLDER, Fixture};
    use crate::rules::{Checker, rule};

    /// A finding of each rule in the table; the rest does not matter later.
    const DATA: &str = "a: '%{nosuch}'\nb: '%{lookup(x)}'\nc: '%{X}i'\nd: 'a %{facts.os} b'\ne: '%{::fqdn}'\n\
                        f: '%{a %{b}'\n#- hiera.yaml\nversion: 5\nhierarchy: [{name: all, paths: [common.yaml, list.yaml]}, {name: j, data_hash: json_data, path: j.json}]\n\
                        #- data/j.json\n{\"a\": \"\\d\"}\n\
                        #- data/list.yaml\n- 1\n#- modules/m/hiera.yaml\nversion: 3\n";

    #[test]
    fn every_rule_of_the_table_says_what_later_versions_do() {
        let snapshot = Fixture::new("data/common.yaml", DATA).on_disk();
        let found = |version| {
            let mut found = Checker::new(&snapshot, version).all();
            found.retain(|finding| finding.since.is_some());
            found
        };
        for (version, mentioned) in [
            (PuppetVersion::V7, 9),
            (PuppetVersion::V8, 2),
            (PuppetVersion::V9, 0),
        ] {
            let found = found(version);
            for (code, since) in RULES_SINCE {
                let finding = found.iter().find(|finding| finding.code == code);
                let finding = finding.unwrap_or_else(|| panic!("{code} in {version:?}"));
                assert_eq!(finding.since, Some(since), "{code}");
                let words = format!(" ({})", since.words());
                let is_said = finding.message.ends_with(&words);
                assert_eq!(is_said, since.version > version, "{}", finding.message);
                let page = rule(code).expect("a rule").page;
                assert!(page.contains(&since.words()), "{code}: {}", since.words());
            }
            let said = found.iter().filter(|it| it.message.contains(" on)"));
            let said: std::collections::BTreeSet<_> = said.map(|it| it.code).collect();
            assert_eq!(said.len(), mentioned, "{said:?}");
        }
        let path: Arc<str> = format!("{FOLDER}/data/common.yaml").into();
        assert!(snapshot.file(&path).is_some());
    }
}
