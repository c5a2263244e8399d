//! Dates and times in UTC, for the names of folders and for `run.json`.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today's date, `2024-01-26`.
pub fn today() -> String {
    at(seconds())[..10].to_owned()
}

/// The time of now, `2024-01-26T08:15:00Z`.
pub fn now() -> String {
    at(seconds())
}

fn seconds() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

fn at(seconds: u64) -> String {
    let (year, month, day) = date((seconds / 86_400) as i64);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a number of days since 1970 (Hinnant's algorithm over 400-year eras).
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (5_097_600, "1970-03-01T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_706_256_900, "2024-01-26T08:15:00Z"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(at(seconds), expected);
        }
    }
}
