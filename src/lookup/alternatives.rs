//! What must hold of a node for an answer, where no nodes are known.

use std::fmt;
use std::sync::Arc;

/// Conditions of which one must hold. `Display` gives them for people: `role = web or db, or site = lon`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Alternatives {
    /// None: the answer is for known nodes, or for all.
    #[default]
    None,
    /// No condition of another answer holds.
    Otherwise,
    /// Variables and their values, all of which must hold together.
    AnyOf(Vec<Vec<(Arc<str>, String)>>),
    /// A condition that is not known in detail.
    Words(&'static str),
}

impl Alternatives {
    /// Whether nothing has to hold.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Alternatives::None
    }

    /// The first five, and how many more there are.
    #[must_use]
    pub fn first(&self) -> String {
        const MOST: usize = 5;
        let Alternatives::AnyOf(all) = self else {
            return self.to_string();
        };
        let shown = Alternatives::AnyOf(all.iter().take(MOST).cloned().collect());
        match all.len().saturating_sub(MOST) {
            0 => shown.to_string(),
            more => format!("{shown} or {more} more"),
        }
    }

    /// Adds the conditions of another answer that turned out to be the same; one for all others stays so.
    pub(super) fn add(&mut self, more: Alternatives) {
        if let (Alternatives::AnyOf(all), Alternatives::AnyOf(more)) = (self, more) {
            all.extend(more);
        }
    }
}

impl fmt::Display for Alternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = match self {
            Alternatives::None => return Ok(()),
            Alternatives::Otherwise => return f.write_str("otherwise"),
            Alternatives::Words(words) => return f.write_str(words),
            Alternatives::AnyOf(all) => all,
        };
        let mut before: Option<&[(Arc<str>, String)]> = None;
        for bindings in all {
            if let (Some([known @ .., (of_known, _)]), [rest @ .., (variable, value)]) =
                (before, bindings.as_slice())
                && known == rest
                && of_known == variable
            {
                write!(f, " or {value}")?;
            } else {
                if before.is_some() {
                    f.write_str(", or ")?;
                }
                for (at, (variable, value)) in bindings.iter().enumerate() {
                    let between = if at == 0 { "" } else { ", " };
                    write!(f, "{between}{variable} = {value}")?;
                }
            }
            before = Some(bindings);
        }
        Ok(())
    }
}
