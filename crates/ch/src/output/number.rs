//! Numbers as people read them.

/// A float32 with the fewest digits that give it back; very large and very small ones with an exponent.
pub fn shortest(value: f32) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && value.is_finite() && !(1e-5..1e9).contains(&magnitude) {
        return format!("{value:e}");
    }
    value.to_string()
}

/// A number with at most six significant digits: for differences, whose further digits are those of the operands.
pub fn rounded(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value
            .abs()
            .to_string()
            .replace("inf", if value < 0.0 { "-inf" } else { "inf" });
    }
    let text = format!("{value:.5e}");
    match text.parse::<f64>() {
        Ok(short) if (1e-5..1e9).contains(&short.abs()) => short.to_string(),
        Ok(short) => format!("{short:e}"),
        Err(_) => text,
    }
}

/// `1 step`, `2 steps`.
pub fn count(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}
