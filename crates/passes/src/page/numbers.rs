//! Numbers as the page has them: four digits, and words for what is no number.

use serde_json::{Map, Value as Json, json};

/// A number with four digits.
pub(super) fn number(value: f64) -> Json {
    if value.is_nan() {
        return json!("nan");
    }
    if value.is_infinite() {
        return json!(if value > 0.0 { "inf" } else { "-inf" });
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        json!(rounded as i64)
    } else {
        json!(rounded)
    }
}

/// The same of a number that may be missing.
pub(super) fn optional(value: Option<f64>) -> Json {
    value.map_or(Json::Null, number)
}

/// A count beyond what a browser counts exactly is a rounded number.
pub(super) fn count(value: u128) -> Json {
    u64::try_from(value)
        .ok()
        .filter(|&value| value < 1 << 53)
        .map_or_else(|| number(value as f64), |value| json!(value))
}

/// Leaves out entries that say nothing: nulls, empty lists and empty texts.
pub(super) fn drop_unknown(value: &mut Json) {
    match value {
        Json::Object(entries) => drop_unknown_entries(entries),
        Json::Array(items) => items.iter_mut().for_each(drop_unknown),
        _ => {}
    }
}

/// The same of the entries of an object.
pub(super) fn drop_unknown_entries(entries: &mut Map<String, Json>) {
    entries.retain(|_, value| match value {
        Json::Null => false,
        Json::Array(items) => !items.is_empty(),
        Json::String(text) => !text.is_empty(),
        _ => true,
    });
    entries.values_mut().for_each(drop_unknown);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(number(0.123_456), json!(0.1235));
        assert_eq!(number(-123_456.0), json!(-123_500));
        assert_eq!(number(2.0), json!(2));
        assert_eq!(number(f64::NAN), json!("nan"));
        assert_eq!(number(f64::NEG_INFINITY), json!("-inf"));
        assert_eq!(count(1 << 40), json!(1_u64 << 40));
        assert_eq!(count(u128::MAX), json!(3.403e38));
        assert_eq!(optional(None), Json::Null);
        assert_eq!(optional(Some(0.25)), json!(0.25));
    }

    #[test]
    fn numbers_are_whole_as_far_as_a_browser_counts_exactly() {
        assert_eq!(number(-9.999e14), json!(-999_900_000_000_000_i64));
        assert_eq!(number(1e15), json!(1e15));
        assert_eq!(count((1 << 53) - 1), json!((1_u64 << 53) - 1));
        assert_eq!(count(1 << 53), json!(9.007e15));
    }

    #[test]
    fn what_says_nothing_is_left_out_at_every_depth() {
        let mut value = json!({
            "a": null, "b": [], "c": "", "d": 0, "e": false,
            "f": [{ "g": null, "h": "x" }, { "i": [] }],
        });
        drop_unknown(&mut value);
        assert_eq!(
            value,
            json!({ "d": 0, "e": false, "f": [{ "h": "x" }, {}] })
        );
    }
}
