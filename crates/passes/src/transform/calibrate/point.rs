//! The point of a format: the one field whose steps halve or double every value of the format.

use format::{FieldValue, Format, Point};

/// The field that moves the point; `Err` is the reason why the format has none.
pub fn field(format: &Format) -> Result<&'static str, &'static str> {
    match format.point() {
        Point::Field(field) | Point::Factor(field) => Ok(field),
        Point::Stored => Err("its stored fields differ from place to place"),
        Point::FollowsData => Err("its scales follow the data"),
        Point::Fixed => Err("has no point to move"),
    }
}

/// The value of the field; of a factor the nearest power of two, by the number of times that it is halved.
pub fn position(format: &Format) -> Option<i64> {
    let field = field(format).ok()?;
    let mut fields = format.fields().into_iter();
    match fields.find(|(name, _)| *name == field)?.1 {
        FieldValue::Int(value) => Some(value),
        FieldValue::Float(factor) => Some(-factor.log2().round() as i64),
        _ => None,
    }
}

/// The format with its point elsewhere; nothing if no float would be among its values.
pub fn moved(format: &Format, position: i64) -> Option<Format> {
    let field = field(format).ok()?;
    let mut fields = format.fields().into_iter();
    let value = match fields.find(|(name, _)| *name == field)?.1 {
        // A factor keeps what makes it no power of two.
        FieldValue::Float(factor) => {
            let steps = self::position(format)?.checked_sub(position)?;
            FieldValue::Float(factor * 2f64.powi(i32::try_from(steps).ok()?))
        }
        _ => FieldValue::Int(position),
    };
    format.with_field(field, value)
}

/// The format for numbers that are never negative: one bit more of magnitude, where a field says so. The codes of other
/// formats have a sign, or the data decide whether it is used.
pub fn unsigned(format: &Format) -> Format {
    let unsigned = format.with_field("signed", FieldValue::Bool(false));
    unsigned.unwrap_or_else(|| format.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVABLE: [&str; 6] = [
        "integer(8, 4)",
        "affine(8, 0.25, 3)",
        "bipolar(0.5)",
        "log(6)",
        "minifloat_ieee(8, 4)",
        "minifloat_denorm(8, 4)",
    ];

    #[test]
    fn a_format_with_the_field_of_a_point_has_one_that_is_tested() {
        let has = |entry: &format::FormatEntry, field: &str| {
            entry.fields.iter().any(|known| known.name == field)
        };
        for entry in Format::TABLE {
            let is_shared = has(entry, "block_size") || has(entry, "granularity");
            let fields = ["frac_width", "exponent_bias", "scale"];
            let has_point = fields.iter().any(|field| has(entry, field));
            let mut movable = MOVABLE.iter().map(|spec| Format::parse(spec).unwrap());
            let is_movable = movable.any(|format| format.name() == entry.name);
            assert_eq!(is_movable, has_point && !is_shared, "{}", entry.name);
        }
    }

    #[test]
    fn a_step_halves_every_value() {
        let x: Vec<f32> = (-40..40).map(|k| k as f32 * 0.37 + 0.01).collect();
        for spec in MOVABLE {
            let format = Format::parse(spec).unwrap();
            let finer = moved(&format, position(&format).unwrap() + 1).unwrap();
            let halves: Vec<f32> = x.iter().map(|x| x / 2.0).collect();
            let (mut y, mut z) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            format.quantize(&x, &[x.len()], &mut y);
            finer.quantize(&halves, &[x.len()], &mut z);
            let doubled: Vec<f32> = z.iter().map(|z| z * 2.0).collect();
            assert_eq!(y, doubled, "{spec}");
        }
    }
}
