//! Moments as ISO 8601 writes them, in UTC with microseconds, and back.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// `2026-11-15T07:48:19.267479+00:00`.
pub(super) fn to_iso(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = date(since.as_secs() / DAY);
    let second = since.as_secs() % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}+00:00",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros()
    )
}

/// The moment that a text of [`to_iso`], or one of Python's with another offset, stands for.
pub(super) fn from_iso(text: &str) -> Option<SystemTime> {
    let (date, rest) = text.split_once('T')?;
    let mut parts = date.splitn(3, '-').map(str::parse::<u64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let at = rest.find(['+', '-', 'Z']).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at(at);
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (
        parts.next()?.parse::<u64>().ok()?,
        parts.next()?.parse::<u64>().ok()?,
    );
    let second: f64 = parts.next()?.parse().ok()?;
    if hour > 23 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    let seconds =
        (days(year, month, day) * DAY + hour * 3600 + minute * 60) as i64 - offset_seconds(offset)?;
    let micros = (second * 1e6).round() as u64;
    Some(
        UNIX_EPOCH
            + Duration::from_secs(u64::try_from(seconds).ok()?)
            + Duration::from_micros(micros),
    )
}

fn offset_seconds(offset: &str) -> Option<i64> {
    if offset.is_empty() || offset == "Z" {
        return Some(0);
    }
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (hours.parse::<u8>().ok()?, minutes.parse::<u8>().ok()?);
    let size = i64::from(hours) * 3600 + i64::from(minutes) * 60;
    Some(if offset.starts_with('-') { -size } else { size })
}

/// Days from 1970-01-01 to a day of the Gregorian calendar; years begin in March, so that the leap day comes last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month > 2 { year } else { year - 1 };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

/// The other way round.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (
        of_year - (153 * shifted + 2) / 5 + 1,
        (shifted + 2) % 12 + 1,
    );
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_back_as_themselves() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000+00:00"),
            (951_782_400, "2000-02-29T00:00:00.000000+00:00"),
            (1_794_728_899, "2026-11-15T07:48:19.000000+00:00"),
            (4_107_542_399, "2100-02-28T23:59:59.000000+00:00"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(to_iso(time), text);
            assert_eq!(from_iso(text), Some(time));
        }
        for day in (0..60_000).step_by(7) {
            let time = UNIX_EPOCH + Duration::from_micros(day * DAY * 1_000_000 + 123_457);
            assert_eq!(from_iso(&to_iso(time)), Some(time));
        }
    }

    #[test]
    fn other_offsets_are_understood_and_nonsense_is_not() {
        for (text, seconds) in [
            ("1970-01-01T02:00:00+02:00", 0),
            ("1970-01-01T05:30:00+05:30", 0),
            ("1970-01-01T00:00:00-05:30", 19_800),
            ("1970-01-01T00:01:02Z", 62),
            ("1970-01-01T23:59:60", 86_400),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(from_iso(text), Some(time), "{text}");
        }
        assert_eq!(
            from_iso("1970-01-01T00:00:01"),
            Some(UNIX_EPOCH + Duration::from_secs(1))
        );
        for text in [
            "",
            "now",
            "2026-13-01T00:00:00",
            "2026-01-01",
            "2026-01-01T24:00:00",
            "2026-01-01T00:60:00",
            "2026-01-01T00:00:61",
            "1970-01-01T00:00:00+02:00",
            "2026-00-01T00:00:00",
            "2026-01-32T00:00:00",
            "0001-01-01T00:00:00",
            "2026-01-01T00:00:00+9223372036854775807:00",
            "2026-01-01T00:00:00+00:-9223372036854775808",
        ] {
            assert_eq!(from_iso(text), None, "{text}");
        }
    }
}
