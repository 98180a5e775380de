//! Makes one entry of those that a file has for one key: the last, which counts.

use super::{Cursor, Kind, Offer};
use crate::ide::edit::Plan;

pub(super) fn offer(cursor: &Cursor<'_>) -> Option<Offer> {
    let sheet = &cursor.sheet;
    let all = sheet.all(&cursor.key);
    let (_, earlier) = all.split_last()?;
    let mut plan = Plan::default();
    for entry in earlier {
        // An anchor in it may be used below.
        let lines = sheet.lines(*entry).filter(|_| sheet.is_plain(*entry))?;
        plan.add(cursor.at(), sheet.removal(lines));
    }
    (!plan.is_empty()).then(|| Offer {
        title: format!(
            "Keep only the last of {} entries of '{}'",
            all.len(),
            cursor.key
        ),
        kind: Kind::Rewrite,
        plan,
    })
}
