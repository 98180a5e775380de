//! What Puppet's times count, read from the texts that they are printed as (`puppet/pops/time`).

/// Nanoseconds since 1970 of `2020-01-01T00:00:00.000000000 UTC`.
pub(super) fn timestamp_nanoseconds(text: &str) -> Option<i128> {
    let (date, clock) = text.strip_suffix(" UTC")?.split_once('T')?;
    let [year, month, day] = numbers(date)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(&clock.replace(':', "-"))?;
    // Days from the civil calendar, with years that begin in March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some(i128::from(seconds) * 1_000_000_000 + i128::from(fraction_nanoseconds(fraction)?))
}

/// Nanoseconds of `1-00:00:01.5`: days, hours, minutes, seconds and a fraction.
pub(super) fn timespan_nanoseconds(text: &str) -> Option<i128> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (days, clock) = text.split_once('-')?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(&clock.replace(':', "-"))?;
    let days: i128 = days.parse().ok()?;
    let seconds = days * 86_400 + i128::from(hour * 3600 + minute * 60 + second);
    Some(sign * (seconds * 1_000_000_000 + i128::from(fraction_nanoseconds(fraction)?)))
}

fn fraction_nanoseconds(digits: &str) -> Option<i64> {
    if digits.len() > 9 {
        return None;
    }
    format!("{digits:0<9}").parse().ok()
}

/// Three numbers with `-` between them.
pub(super) fn numbers(text: &str) -> Option<[i64; 3]> {
    let numbers: Option<Vec<i64>> = text.split('-').map(|part| part.parse().ok()).collect();
    numbers?.try_into().ok()
}
