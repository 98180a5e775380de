//! Conditions of answers of which one must hold, as texts: `role = web or db, or site = lon`.

/// What stands between conditions of which one must hold.
const OR: &str = " or ";

/// Some of the conditions of which one must hold, and how many more there are.
#[must_use]
pub fn first_of(condition: &str) -> String {
    /// Most that are shown.
    const MOST: usize = 5;
    let all: Vec<&str> = condition.split(OR).collect();
    match all.len().saturating_sub(MOST) {
        0 => condition.to_owned(),
        more => format!("{} or {more} more", all[..MOST].join(OR)),
    }
}

/// Two conditions of which one must hold: the values alone, where the last variable's are all that
/// differs.
pub(super) fn either(known: &str, condition: &str) -> String {
    let last = known.rsplit(", or ").next().unwrap_or(known);
    match (last.rsplit_once(" = "), condition.rsplit_once(" = ")) {
        (Some((of_known, _)), Some((variable, value))) if of_known == variable => {
            format!("{known} or {value}")
        }
        (_, _) => format!("{known}, or {condition}"),
    }
}
