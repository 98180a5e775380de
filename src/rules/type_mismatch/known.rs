//! What known nodes say about a value: for which of them it is wrong, and whether these include the
//! class.

use std::collections::BTreeMap;

use super::Findings;
use super::effective::{EffectiveKey, ReaderLookups, WrongPart};
use crate::analysis::{Affected, Analysis, SiteNodes, quoted, request, sources};
use crate::datatype;
use crate::lookup::{self, LookupLimit, Run};
use crate::rules::kept::{KnownReaders, ReadersName, WrongAnswer};
use crate::rules::{Finding, Severity};
use crate::scope::{Knowledge, KnownNodes};
use crate::text::TextRange;
use crate::value::Value;

/// The end of a message about nodes whose manifests do not include the class.
pub(super) const NO_CLASS: &str =
    "; none of the known nodes that read this file includes the class";

/// A mismatch for known nodes.
struct WrongForNodes {
    part: WrongPart,
    /// The index of the first of these nodes.
    first: usize,
    /// Number of nodes with this message.
    count: usize,
    /// Number of nodes with another message.
    others: usize,
    /// Number of nodes with a mismatch, with those that do not include the class.
    of_readers: usize,
    /// Whether one of them certainly includes the class.
    is_certain: bool,
}

impl ReaderLookups<'_> {
    /// Whether nodes with facts read the file, and manifests include a class for none of them.
    pub(super) fn no_reader_has(&self, class: &str) -> bool {
        let ReaderLookups {
            at, reader, view, ..
        } = self;
        let root = reader.root.root;
        let Some(site) = at.checker.site_nodes(root) else {
            return false;
        };
        let nodes = site.nodes();
        let readers = lookup::readers(&view.session(), nodes, &view.layer, at.file.path());
        let is_named = |&node: &usize| nodes.knowledge(node) != Knowledge::Label;
        let possible = at.checker.possible_inclusions(root, &site);
        !readers.is_empty()
            && readers.iter().all(is_named)
            && !readers
                .into_iter()
                .any(|node| possible.may_have(class, node))
    }
}

impl EffectiveKey<'_> {
    /// Reports a mismatch for all nodes that read the file: an error, unless nodes are known and none
    /// of them includes the class.
    pub(super) fn report<'f>(
        &self,
        range: TextRange,
        message: String,
        findings: &'f mut Findings<'_>,
    ) -> &'f mut Finding {
        if self.lookups.no_reader_has(self.class()) {
            let message = format!("{message}{NO_CLASS}");
            findings.report_as(Severity::Warning, range, message)
        } else {
            findings.report(range, message)
        }
    }

    fn may_have_class(&self, site: &SiteNodes, node: usize) -> bool {
        let (checker, root) = (self.lookups.at.checker, self.lookups.reader.root.root);
        checker
            .possible_inclusions(root, site)
            .may_have(self.class(), node)
    }

    fn has_class(&self, site: &SiteNodes, node: usize) -> bool {
        let (checker, root) = (self.lookups.at.checker, self.lookups.reader.root.root);
        checker
            .certain_inclusions(root, site)
            .has(self.class(), node)
    }

    /// Reports mismatches for some of the known nodes that read the file. A lookup for each distinct set
    /// of sources among the nodes whose value the file may give or change, unless it is kept.
    pub(super) fn for_known_nodes(&self, findings: &mut Findings<'_>) {
        let EffectiveKey { lookups, key, .. } = self;
        let ReaderLookups { at, view, .. } = lookups;
        let checker = at.checker;
        let Some(site) = checker.site_nodes(lookups.reader.root.root) else {
            return;
        };
        let name = ReadersName::new(&key.name, at.file.path(), (view.root, &view.layer));
        let asked = (site.nodes().id(), &checker.settings);
        let kept = &checker.kept;
        let readers = kept.readers(at.snapshot(), &name, asked, || self.known_readers(&site));
        let Some(readers) = readers else {
            return;
        };
        let KnownReaders {
            of,
            some_may_have,
            wrong,
            are_all_right: _,
        } = &*readers;
        let mut found: BTreeMap<TextRange, WrongForNodes> = BTreeMap::new();
        for wrong in wrong {
            let parts = self.wrong_parts(&wrong.found, None);
            let has_class = |node: &usize| self.has_class(&site, *node);
            let is_certain = !parts.is_empty() && wrong.members.iter().any(has_class);
            let count = wrong.members.len();
            for part in parts {
                let is_new = |known: &WrongForNodes| known.part.message != part.message;
                let others = found.get(&part.range).is_some_and(is_new);
                let of_part = found.entry(part.range).or_insert(WrongForNodes {
                    part,
                    first: wrong.members[0],
                    count: 0,
                    others: 0,
                    of_readers: 0,
                    is_certain: false,
                });
                if others {
                    of_part.others += count;
                } else {
                    of_part.count += count;
                }
                of_part.of_readers += wrong.of_readers;
                of_part.is_certain |= is_certain;
            }
        }
        for wrong in found.into_values() {
            if findings.has(wrong.part.range) {
                continue;
            }
            let example = site.nodes().shared_name(wrong.first);
            let count = wrong.count;
            let affected = Affected::Nodes {
                count,
                of: *of,
                example,
            };
            let more = match wrong.others {
                0 => String::new(),
                others => format!(", and another wrong value for {others} more"),
            };
            // Perhaps only other nodes have the class.
            let is_error = *some_may_have && (wrong.of_readers == *of || wrong.is_certain);
            let severity = if is_error {
                Severity::Error
            } else {
                Severity::Warning
            };
            let end = if *some_may_have { "" } else { NO_CLASS };
            let message = format!("{}{affected}{more}{end}", wrong.part.message);
            let finding = findings.report_as(severity, wrong.part.range, message);
            finding.related = wrong.part.related;
        }
    }

    /// `None` if the work was cancelled.
    fn known_readers(&self, site: &SiteNodes) -> Option<KnownReaders> {
        let EffectiveKey { lookups, key, .. } = self;
        let ReaderLookups { at, view, .. } = lookups;
        let nodes = site.nodes();
        let session = view.session();
        let readers = lookup::readers(&session, nodes, &view.layer, at.file.path());
        let of = readers.len();
        let members = self.deciding(nodes, readers);
        let is_cancelled = || at.checker.is_cancelled();
        let limit = LookupLimit::unlimited(&is_cancelled);
        let request = request(&key.name);
        let runs = lookup::runs_within(&session, nodes, &request, &members, &limit);
        if is_cancelled() {
            return None;
        }
        let is_wrong = |run: &Run| {
            let value = run.answer.result.as_ref();
            value.is_ok_and(|value| datatype::check(&self.expected, value).is_err())
        };
        let wrong: Vec<_> = runs.into_iter().filter(is_wrong).collect();
        let are_all_right = wrong.is_empty();
        let is_seen = |run: &Run| {
            let mut read = run.answer.reads.variables.iter();
            !read.any(|it| at.checker.may_not_see(self.class(), it))
        };
        let wrong: Vec<_> = wrong.into_iter().filter(is_seen).collect();
        let is_partial = wrong.iter().map(|run| run.members.len()).sum::<usize>() < of;
        let may_have = |node: &usize| self.may_have_class(site, *node);
        let some_may_have = wrong.iter().any(|run| run.members.iter().any(may_have));
        // A value that is wrong for all is wrong without the class, too.
        let counts = |node: &usize| {
            if some_may_have {
                may_have(node)
            } else {
                !is_partial
            }
        };
        let wrong = wrong.into_iter().filter_map(|run| {
            let Run { answer, members } = run;
            // A missing value is no mismatch: a level may still set it.
            let is_missing = answer.result.as_ref().is_ok_and(Value::is_undef);
            let of_readers = members.len();
            let members: Vec<usize> = members.into_iter().filter(counts).collect();
            let first = *members.first().filter(|_| !is_missing)?;
            let given = sources(&answer, &quoted(&key.name));
            if !given.iter().any(|source| self.gives(source)) {
                return None;
            }
            let found = view.key_answer_from(&key.name, &nodes.scope(first), answer, given);
            Some(WrongAnswer {
                found,
                members,
                of_readers,
            })
        });
        Some(KnownReaders {
            of,
            are_all_right,
            some_may_have,
            wrong: wrong.collect(),
        })
    }

    /// Those of some nodes for which the file may give or change the value. O(files with the key +
    /// nodes that read them), without a lookup.
    fn deciding(&self, nodes: &KnownNodes, mut readers: Vec<usize>) -> Vec<usize> {
        let ReaderLookups { at, view, .. } = self.lookups;
        let analysis = Analysis {
            nodes,
            ..view.analysis
        };
        if let Some(first) = analysis.at(view.root).first_files(&self.key.name, None) {
            let path = at.file.path();
            let own = first.files.iter().position(|file| file == path);
            let own = own.map(|own| own as u32);
            readers.retain(|&member| own.is_some() && first.of[member] == own);
        }
        readers
    }
}
