//! Finds parameters of included classes whose default is wrong, and the nodes that get it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Affected, FileRange, Included, Inclusions};
use crate::analysis::Defined;
use crate::analysis::evaluation_order::Viewpoint;
use crate::analysis::members::Members;
use crate::lookup::{Data, SessionHost};
use crate::puppet::{ClassText, CodeFile, DefaultOutcome, WrongDefault, default_outcome};
use crate::scope::Scope;
use crate::text::TextRange;
use crate::workspace::ParameterFact;

/// A default that nodes certainly get, and that Puppet refuses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongDefaultValue {
    /// The class.
    pub class: Arc<str>,
    /// The parameter.
    pub parameter: Arc<str>,
    /// The range of the default.
    pub default: FileRange,
    /// What is wrong with it.
    pub wrong: WrongDefault,
    /// The nodes that get it.
    pub affected: Affected,
}

/// A class and its parent, as texts.
struct ClassTexts {
    class: (Arc<CodeFile>, TextRange),
    parent: Option<(Arc<CodeFile>, TextRange)>,
}

impl<'a> Inclusions<'_, 'a> {
    /// The wrong defaults of the included classes. O(parameters), and lookups for those that may be
    /// wrong.
    pub(super) fn wrong_defaults(&self) -> Vec<WrongDefaultValue> {
        let mut found = Vec::new();
        for included in self.classes.values() {
            self.wrong_defaults_of(included, &mut found);
        }
        found
    }

    fn wrong_defaults_of(&self, included: &Included<'a>, found: &mut Vec<WrongDefaultValue>) {
        let Defined { file, definition } = included.class;
        let mut parameters = definition.parameters.iter();
        if included.may_be_declared || !parameters.any(|it| it.default.is_some()) {
            return;
        }
        let texts = self.texts_of(included.class);
        let class = &definition.name;
        let with_defaults = definition.parameters.iter().filter(|it| !it.captures_rest);
        for parameter in with_defaults {
            let Some(range) = parameter.default else {
                continue;
            };
            let open = Scope::open();
            let outcome = self.judged(&texts, included.class, parameter, &open).0;
            if outcome.is_fine || self.declarations.may_give(class, &parameter.name) {
                continue;
            }
            let key = format!("{class}::{}", parameter.name);
            let lacking = self.lacking(Viewpoint::Class(class), &key, &included.seen);
            for (wrong, members) in self.by_wrong(&texts, included.class, parameter, &lacking) {
                if let Some(affected) = self.affected(&members, &included.seen) {
                    found.push(WrongDefaultValue {
                        class: Arc::clone(class),
                        parameter: Arc::clone(&parameter.name),
                        default: FileRange {
                            path: Arc::clone(file.path()),
                            range,
                        },
                        wrong,
                        affected,
                    });
                }
            }
        }
    }

    /// What is wrong with a default, with the members for which it is. An evaluation for each
    /// distinct combination of the values that decide it, plus O(members).
    fn by_wrong(
        &self,
        texts: &ClassTexts,
        class: Defined<'a>,
        parameter: &ParameterFact,
        members: &Members,
    ) -> BTreeMap<WrongDefault, Members> {
        let judge = |member: usize| {
            let scope = self.scope_of(member);
            let (outcome, read) = self.judged(texts, class, parameter, &scope);
            let from = Viewpoint::Class(&class.definition.name);
            let is_hidden = |name: &Arc<str>| self.order.may_miss_from(from, name);
            let wrong = outcome.wrong.filter(|_| !read.iter().any(is_hidden));
            (wrong, read)
        };
        let mut found: BTreeMap<WrongDefault, Members> = BTreeMap::new();
        for (member, wrong) in self.by_case(members, None, judge) {
            if let Some(wrong) = wrong {
                found.entry(wrong).or_default().insert(member);
            }
        }
        found
    }

    /// The outcome of a default, with the variables that decide it.
    fn judged(
        &self,
        texts: &ClassTexts,
        class: Defined<'a>,
        parameter: &ParameterFact,
        scope: &Scope,
    ) -> (DefaultOutcome, BTreeSet<Arc<str>>) {
        let host = SessionHost::new(self.view.session(), Data::Allowed);
        let own = &class.definition.name;
        let has_default = |name: &str| {
            let key = format!("{own}::{name}");
            let snapshot = self.analysis().snapshot;
            snapshot.count_with(&key) == 0
                && !self.view.has_outside(&key)
                && !self.declarations.may_give(own, &Arc::from(name))
        };
        let texts = (text_of(&texts.class), texts.parent.as_ref().map(text_of));
        let mut outcome = default_outcome(&host, scope, texts, &parameter.name, &has_default);
        let read = self.read_by(std::mem::take(&mut outcome.variables), &host);
        outcome.is_fine &= host.keys().is_empty();
        (outcome, read)
    }

    fn texts_of(&self, class: Defined<'a>) -> ClassTexts {
        let analysis = self.analysis();
        let text = |it: Defined<'a>| {
            let source = analysis.configs.source(it.file.path(), it.file.text());
            (source, it.definition.range)
        };
        let parent = class.definition.parent.as_ref();
        let parent = parent.and_then(|(name, _)| analysis.autoloaded(self.view.root, name));
        ClassTexts {
            class: text(class),
            parent: parent.map(text),
        }
    }
}

fn text_of((source, range): &(Arc<CodeFile>, TextRange)) -> ClassText<'_> {
    ClassText {
        source,
        range: *range,
    }
}
