//! Formats as fixed point: what rounding does to every element, and the reasons against it.

use crate::specs::{mixed, quantized};
use format::{FixedPoint, Format, NotFixedPoint, Overflow, Rounding, StoredArray};

/// Every element is rounded to the multiples of a power of two that its place says.
#[test]
fn fixed_points_of_places_say_what_rounding_does() {
    let shape = [2, 3, 4];
    let x: Vec<f32> = mixed(24, 5)
        .into_iter()
        .map(|x| x.clamp(-1e4, 1e4))
        .collect();
    for (text, arrays) in [
        ("integer(6, 2, signed = false)", &[][..]),
        ("integer(6, 2, rounding = floor)", &[]),
        ("integer(6, 2, rounding = nearest_up)", &[]),
        ("integer(9, 1, rounding = nearest_up, overflow = wrap)", &[]),
        ("integer(3, 0, signed = false, overflow = wrap)", &[]),
        (
            "integer(stored, stored, axis = 2, rounding = nearest_up, overflow = wrap)",
            &[
                ("width", &[0.0, 4.0, 9.0, 12.0][..]),
                ("frac_width", &[9.0, -1.0, 3.0, 5.0]),
            ],
        ),
        ("affine(5, 0.25, -3)", &[]),
        ("affine(5, 2.0, 7, signed = false, narrow = true)", &[]),
        ("affine(5, 0.5, offset = before)", &[]),
        (
            "integer(stored, stored, axis = 1)",
            &[
                ("width", &[0.0, 4.0, 9.0][..]),
                ("frac_width", &[9.0, -1.0, 3.0]),
            ],
        ),
        (
            "integer(7, stored)",
            &[("frac_width", &[3.0, 1.0, 2.0, 5.0])],
        ),
        (
            "affine(4, stored, stored, axis = 2)",
            &[
                ("scale", &[0.5, 4.0, 1.0, 0.125]),
                ("zero_point", &[7.0, -8.0, 0.0, 3.0]),
            ],
        ),
        (
            "affine(4, stored, axis = 1, block = 2)",
            &[("scale", &[0.5, 4.0, 1.0, 0.125, 8.0])],
        ),
    ] {
        let mut format = Format::parse(text).unwrap();
        for &(field, values) in arrays {
            let own = format.stored_shape(&shape).unwrap();
            let len = own.iter().product();
            let values = values.iter().cycle().take(len).copied().collect();
            let array = StoredArray { shape: own, values };
            format = format.with_stored(field, array).unwrap();
        }
        let points = format.fixed_points().unwrap();
        let places = format.stored_places(&shape);
        let places = places.unwrap_or_else(|| vec![0; x.len()]);
        let rounded = quantized(&format, &x, &shape);
        for ((&x, &y), &place) in x.iter().zip(&rounded).zip(&places) {
            let point = points[place];
            let scaled = f64::from(x) * 2f64.powi(point.frac_width);
            let whole = match point.rounding {
                Rounding::NearestEven => scaled.round_ties_even(),
                Rounding::NearestUp => (scaled + 0.5).floor(),
                Rounding::Floor => scaled.floor(),
            };
            let code = match point.overflow {
                Overflow::Saturate => whole.clamp(point.min as f64, point.max as f64),
                Overflow::Wrap => {
                    let span = point.max - point.min + 1;
                    ((whole as i128 - point.min).rem_euclid(span) + point.min) as f64
                }
            };
            assert_eq!(
                f64::from(y),
                code * 2f64.powi(-point.frac_width),
                "{format} of {x}"
            );
        }
    }
}

#[test]
fn only_a_place_without_bits_is_zero() {
    let format = Format::parse("integer(stored, 3, signed = false)").unwrap();
    let array = StoredArray {
        shape: vec![3],
        values: vec![0.0, 1.0, 8.0],
    };
    let points = format.with_stored("width", array).unwrap().fixed_points();
    let zeros: Vec<bool> = points.unwrap().iter().map(FixedPoint::is_zero).collect();
    assert_eq!(zeros, [true, false, false]);
    let one_bit = Format::parse("integer(1, 0)").unwrap().fixed_points();
    assert!(!one_bit.unwrap()[0].is_zero());
}

#[test]
fn formats_that_are_no_fixed_point_say_why() {
    let why = |text: &str| Format::parse(text).unwrap().fixed_points().unwrap_err();
    assert_eq!(why("minifloat_ieee(8, 4)"), NotFixedPoint::Kind);
    assert_eq!(why("affine(8, 0.3)"), NotFixedPoint::Scale(0.3));
    assert_eq!(
        why("affine(8, 0.5, rounding = ceil)"),
        NotFixedPoint::Rounding
    );
    assert_eq!(
        why("affine(8, 0.5, 1, offset = before)"),
        NotFixedPoint::Offset
    );
    assert_eq!(why("affine(32, 0.5)"), NotFixedPoint::Width(32));
    assert_eq!(why("integer(8, stored)"), NotFixedPoint::Missing);
    // The power of two in place of a scale is the nearest by its exponent.
    for (scale, power) in [
        (0.3, 0.25),
        (0.1, 0.125),
        (0.36, 0.5),
        (3e38, 2f32.powi(127)),
        (f32::MIN_POSITIVE * 1.25, f32::MIN_POSITIVE),
    ] {
        let text = NotFixedPoint::Scale(scale).to_string();
        let end = format!("or take one, for example {power:?}");
        assert!(text.ends_with(&end), "{text}");
    }
    for (why, way_out) in [
        (
            NotFixedPoint::Kind,
            "give it one that is, for example integer(8, 4)",
        ),
        (NotFixedPoint::Rounding, "take half_even"),
        (
            NotFixedPoint::Offset,
            "take offset = after, or the zero point 0",
        ),
        (
            NotFixedPoint::Width(32),
            "of 32 bits are rounded to floats; take at most 24 bits",
        ),
        (NotFixedPoint::Missing, "give it some"),
    ] {
        let text = why.to_string();
        assert!(text.starts_with("wh") && text.ends_with(way_out), "{text}");
    }
    let two_to = |exponent: i32| format!("affine(8, {:?})", 2f32.powi(exponent));
    for exponent in [-126, -20, 0, 3, 127] {
        let points = Format::parse(&two_to(exponent)).unwrap().fixed_points();
        assert_eq!(points.unwrap()[0].frac_width, -exponent);
    }
}
