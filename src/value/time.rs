//! Parses Puppet's texts of timestamps and spans (`puppet/pops/time`) into nanoseconds.

use super::Rich;

/// The nanoseconds of a `Timestamp` or a `Timespan`.
pub(super) fn nanoseconds(rich: &Rich) -> Option<i128> {
    match rich.ptype {
        "Timestamp" => timestamp_nanoseconds(&rich.text),
        _ => timespan_nanoseconds(&rich.text),
    }
}

/// Nanoseconds since 1970 of `2020-01-01T00:00:00.000000000 UTC`.
fn timestamp_nanoseconds(text: &str) -> Option<i128> {
    let (date, clock) = text.strip_suffix(" UTC")?.split_once('T')?;
    let [year, month, day] = numbers(date)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(&clock.replace(':', "-"))?;
    // Days from the civil calendar, with years that begin in March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year.checked_sub(1)?, month.checked_add(9)?)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = i128::from(year) * 365 + i128::from(leap_days);
    let days = days + (i128::from(month) * 153 + 2) / 5 + i128::from(day) - 719_469;
    let seconds = days.checked_mul(86_400)? + clock_seconds([hour, minute, second]);
    let nanoseconds = seconds.checked_mul(1_000_000_000)?;
    Some(nanoseconds + i128::from(fraction_nanoseconds(fraction)?))
}

/// Nanoseconds of `1-00:00:01.5`: days, hours, minutes, seconds and a fraction.
fn timespan_nanoseconds(text: &str) -> Option<i128> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (days, clock) = text.split_once('-')?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(&clock.replace(':', "-"))?;
    let days: i128 = days.parse().ok()?;
    let seconds = days.checked_mul(86_400)?;
    let seconds = seconds.checked_add(clock_seconds([hour, minute, second]))?;
    let nanoseconds = seconds.checked_mul(1_000_000_000)?;
    let fraction = i128::from(fraction_nanoseconds(fraction)?);
    Some(sign * nanoseconds.checked_add(fraction)?)
}

fn clock_seconds([hour, minute, second]: [i64; 3]) -> i128 {
    i128::from(hour) * 3600 + i128::from(minute) * 60 + i128::from(second)
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
