//! What of a lookup depends on the version of Puppet. An answer tells whether something did
//! ([`Answer::depends_on_version`](super::Answer::depends_on_version)): a place that gives another value or an
//! error in some version asks here, or calls [`Engine::note_version`]. Warnings are not counted.

use super::context::{PuppetVersion, Strict};
use super::engine::Engine;
use crate::value::Value;
use crate::workspace::DataFile;

impl Engine<'_> {
    /// Notes that the answer may be another one in another version of Puppet, or that the levels may.
    pub(super) fn note_version(&mut self) {
        if self.in_levels {
            self.levels_depend_on_version = true;
        } else {
            self.reads.depend_on_version = true;
        }
    }

    pub(super) fn is_from_8_on(&mut self) -> bool {
        self.note_version();
        self.settings().puppet_version >= PuppetVersion::V8
    }

    /// The text that a value leaves in a string.
    pub(super) fn text_of(&mut self, value: &Value) -> String {
        if value.is_collection() {
            self.note_version();
        }
        value.to_s_in(self.settings().ruby)
    }

    /// Notes that another version of Ruby refuses the file, if one does.
    pub(super) fn note_later_error(&mut self, file: &DataFile) {
        if file.later_error.is_some() {
            self.note_version();
        }
    }

    /// Puppet's setting `strict`; in plans it is always the same (`Puppet::Pal.main` in
    /// puppet/pal/pal_impl.rb).
    pub(super) fn strict(&self) -> Strict {
        if self.session.environment.is_of_plans {
            Strict::Error
        } else {
            self.settings().strict
        }
    }

    pub(super) fn is_strict_error(&mut self) -> bool {
        self.note_version();
        self.strict() == Strict::Error
    }
}
