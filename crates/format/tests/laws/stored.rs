//! Formats with stored fields, against the same format rounding every element by itself.

use crate::gradient::passes;
use crate::specs::{mixed, quantized};
use format::{FieldValue, Format, Point, StoredArray};

/// A format, the shape of what it rounds, and for each place of its arrays the format with the values of that place.
struct Case {
    format: Format,
    shape: &'static [usize],
    places: Vec<Format>,
    /// The place of each element.
    place: fn(&[usize], usize) -> usize,
}

/// The name of a stored field and its value at each place.
type Field = (&'static str, fn(usize) -> f32);

fn array(shape: &[usize], values: impl Fn(usize) -> f32) -> StoredArray {
    StoredArray {
        shape: shape.to_vec(),
        values: (0..shape.iter().product()).map(values).collect(),
    }
}

fn case(
    spec: &str,
    shape: &'static [usize],
    place: fn(&[usize], usize) -> usize,
    fields: &[Field],
    scalar: fn(usize) -> String,
) -> Case {
    let bare = Format::parse(spec).unwrap();
    let of_sample = spec.contains("axis") || shape.len() < 3;
    let own = if of_sample { shape } else { &shape[1..] };
    let stored = bare.stored_shape(own).unwrap();
    let with = |format: Format, (name, value): &Field| {
        format.with_stored(name, array(&stored, value)).unwrap()
    };
    let n_places = stored.iter().product();
    Case {
        format: fields.iter().fold(bare, with),
        shape,
        places: (0..n_places)
            .map(|place| Format::parse(&scalar(place)).unwrap())
            .collect(),
        place,
    }
}

fn frac(place: usize) -> f32 {
    (place * 7 % 9) as f32 - 3.0
}

fn width(place: usize) -> f32 {
    (place % 6 + 1) as f32
}

fn scale(place: usize) -> f32 {
    0.01 + 0.037 * place as f32
}

fn zero(place: usize) -> f32 {
    (place * 5 % 11) as f32 - 4.0
}

fn cases() -> Vec<Case> {
    fn integer(place: usize) -> String {
        format!("integer({}, {})", width(place), frac(place))
    }
    fn affine(place: usize) -> String {
        format!("affine(6, {}, {})", scale(place), zero(place))
    }
    fn directed(place: usize) -> String {
        format!("affine(6, {}, rounding = floor)", scale(place))
    }
    vec![
        case(
            "integer(stored, stored, axis = 0)",
            &[6, 35],
            |shape, at| at / shape[1],
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "integer(stored, stored, axis = 1)",
            &[6, 35],
            |shape, at| at % shape[1],
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "integer(5, stored, axis = 1)",
            &[5, 3, 2, 7],
            |shape, at| at / (shape[2] * shape[3]) % shape[1],
            &[("frac_width", frac)],
            |place| format!("integer(5, {})", frac(place)),
        ),
        case(
            "integer(stored, stored)",
            &[6, 35],
            |_, at| at,
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "integer(stored, stored)",
            &[4, 5, 11],
            |shape, at| at % (shape[1] * shape[2]),
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "affine(6, stored, stored, axis = 0)",
            &[6, 35],
            |shape, at| at / shape[1],
            &[("scale", scale), ("zero_point", zero)],
            affine,
        ),
        case(
            "affine(6, stored, stored, axis = 1, block = 8)",
            &[6, 35],
            |shape, at| at / shape[1] * 5 + at % shape[1] / 8,
            &[("scale", scale), ("zero_point", zero)],
            affine,
        ),
        case(
            "affine(6, stored, axis = 0, block = 4, rounding = floor)",
            &[7, 35],
            |shape, at| at / shape[1] / 4 * shape[1] + at % shape[1],
            &[("scale", scale)],
            directed,
        ),
        case(
            "bipolar(stored, axis = 0)",
            &[6, 35],
            |shape, at| at / shape[1],
            &[("scale", scale)],
            |place| format!("bipolar({})", scale(place)),
        ),
    ]
}

#[test]
fn every_element_is_rounded_as_its_place_says() {
    for case in cases() {
        let Case {
            format,
            shape,
            places,
            place,
        } = case;
        let len = shape.iter().product();
        let mut x = mixed(len, 11);
        (x[3], x[7], x[20]) = (f32::NAN, f32::INFINITY, 0.0);
        let alone = |at: usize| &places[place(shape, at)];
        let y = quantized(&format, &x, shape);
        let codes = format.encode(&x, shape);
        let decoded = format.decode(&codes, shape);
        let pass = passes(&format, &x, shape);
        for at in 0..len {
            let want = quantized(alone(at), &[x[at]], &[1])[0];
            assert_eq!(y[at].to_bits(), want.to_bits(), "{format} at {at}");
            assert_eq!(
                pass[at],
                passes(alone(at), &[x[at]], &[1])[0],
                "{format} at {at}"
            );
            if !want.is_nan() {
                assert_eq!(decoded[at], want, "{format} at {at}");
                let code = alone(at).encode(&[x[at]], &[1]).get(0);
                assert_eq!(codes.get(at), code, "{format} at {at}");
            }
        }
        let bits = places.iter().map(|place| place.bits(&[1])).sum::<f64>() / places.len() as f64;
        let scales = format
            .stored_fields()
            .iter()
            .filter(|(name, _)| *name == "scale")
            .count();
        let shared = 32.0 * (scales * places.len()) as f64 / len as f64;
        assert!(
            (format.bits(shape) - bits - shared).abs() < 1e-9,
            "{format}"
        );
    }
}

#[test]
fn the_text_says_what_is_stored_and_not_the_values() {
    for case in cases() {
        let text = case.format.to_string();
        let read = Format::parse(&text).unwrap();
        assert_eq!(read.to_string(), text);
        let given = case.format.stored_fields();
        let with = given.iter().fold(read, |format, (name, array)| {
            assert_eq!(format.stored_fields().len(), given.len());
            format.with_stored(name, array.unwrap().clone()).unwrap()
        });
        assert_eq!(with, case.format, "{text}");
    }
}

#[test]
fn an_element_without_bits_is_zero() {
    let format = Format::parse("integer(stored, 2)").unwrap();
    let widths = array(&[4], |place| if place % 2 == 0 { 0.0 } else { 4.0 });
    let format = format.with_stored("width", widths).unwrap();
    let x = [1.0, 1.0, -3.0, -3.0];
    assert_eq!(quantized(&format, &x, &[4]), [0.0, 1.0, 0.0, -2.0]);
    assert_eq!(format.bits(&[4]), 2.0);
    let codes = format.encode(&x, &[4]);
    assert_eq!(format.decode(&codes, &[4]), [0.0, 1.0, 0.0, -2.0]);
}

#[test]
fn values_that_a_field_cannot_have_are_told_with_their_place() {
    let bad = |spec: &str, field: &str, value: f32| {
        let format = Format::parse(spec).unwrap();
        let values = array(&[3], |place| if place == 1 { value } else { 1.0 });
        format.with_stored(field, values).unwrap_err()
    };
    for (got, want) in [
        (
            bad("integer(8, stored, axis = 0)", "frac_width", 0.5),
            "frac_width at 1 is 0.5, which is no whole number from -104 to 149",
        ),
        (
            bad("integer(stored, 4)", "width", 65.0),
            "width at 1 is 65, which is no whole number from 0 to 64",
        ),
        (
            bad("integer(8, stored)", "frac_width", 150.0),
            "frac_width at 1 is 150, which is no whole number from -104 to 149",
        ),
        (
            bad(
                "integer(stored, 4, signed = false, overflow = wrap)",
                "width",
                25.0,
            ),
            "width at 1 is 25, which is more than the 24 bits of unsigned codes that wrap",
        ),
        (
            bad("affine(8, stored)", "scale", 0.0),
            "scale at 1 is 0, which is not a positive, normal 32-bit float",
        ),
        (
            bad("affine(8, stored)", "scale", f32::NAN),
            "scale at 1 is NaN, which is not a positive, normal 32-bit float",
        ),
        (
            bad("affine(8, 1.0, stored)", "zero_point", 200.0),
            "zero_point at 1 is 200, which is outside -128 to 127",
        ),
        (
            bad("affine(8, stored)", "zero_point", 0.0),
            "the format does not store zero_point",
        ),
    ] {
        assert_eq!(got, want);
    }
}

#[test]
fn values_up_to_the_last_that_a_field_can_have_are_taken() {
    for (spec, field, values) in [
        ("integer(stored, 4)", "width", [0.0, 64.0]),
        ("integer(8, stored)", "frac_width", [-104.0, 149.0]),
        ("integer(stored, 4, overflow = wrap)", "width", [0.0, 64.0]),
        ("integer(stored, 4, signed = false)", "width", [0.0, 64.0]),
        (
            "integer(stored, 4, signed = false, overflow = wrap)",
            "width",
            [0.0, 24.0],
        ),
        (
            "integer(8, stored, signed = false, overflow = wrap)",
            "frac_width",
            [-104.0, 149.0],
        ),
        ("affine(8, 0.5, stored)", "zero_point", [-128.0, 127.0]),
        ("bipolar(stored)", "scale", [f32::MIN_POSITIVE, f32::MAX]),
    ] {
        let format = Format::parse(spec).unwrap();
        let with = format.with_stored(field, array(&[2], |place| values[place]));
        let kept = with.unwrap().stored_fields()[0].1.unwrap().values.clone();
        assert_eq!(kept, values, "{spec}");
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let format = Format::parse("integer(stored, stored)").unwrap();
    let one = |len: usize| StoredArray {
        shape: vec![3],
        values: vec![1.0; len],
    };
    let with = format.with_stored("width", one(3)).unwrap();
    for (shape, values) in [([4], 4), ([3], 4), ([3], 2)] {
        let other = StoredArray {
            shape: shape.to_vec(),
            values: vec![1.0; values],
        };
        let error = with.with_stored("frac_width", other).unwrap_err();
        let want = format!("frac_width has the shape {shape:?}, width has [3]");
        assert_eq!(error, want, "{values} values");
    }
    let none = Format::parse("log(4)")
        .unwrap()
        .with_stored("width", one(3));
    assert_eq!(none, Err("the format does not store width".to_owned()));
}

/// What follows from the formats of the places.
#[test]
fn a_format_answers_for_all_of_its_places() {
    for Case {
        format,
        shape,
        places,
        place,
    } in cases()
    {
        let own = format.of_elements(shape).unwrap();
        let want = (0..own.len()).map(|at| places[place(shape, at)].clone());
        assert!(own.iter().cloned().eq(want), "{format}");
        let ranges = places.iter().map(Format::range);
        let (lo, hi): (Vec<f64>, Vec<f64>) = ranges.unzip();
        let min = lo.into_iter().fold(f64::INFINITY, f64::min);
        let max = hi.into_iter().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(format.range(), (min, max), "{format}");
        let x = vec![0.0; own.len()];
        let keeps_zero = quantized(&format, &x, shape) == x;
        assert_eq!(format.has_zero(), keeps_zero, "{format}");
        assert_eq!(format.point(), Point::Stored, "{format}");
        assert_eq!(format.values(), None, "{format}");
        assert!(!format.is_blocked() && !format.rounds_alone(), "{format}");
        assert_eq!(
            format.block_extents(shape),
            vec![1; shape.len()],
            "{format}"
        );
        // No magnitude changes a scale.
        assert_eq!(format.scale_ceiling(3.0), f32::MAX, "{format}");
        let bare = format.without_stored();
        assert_eq!(bare.to_string(), format.to_string());
        assert!(
            bare.stored_fields()
                .iter()
                .all(|(_, array)| array.is_none()),
            "{format}"
        );
        // The names of what is stored, and none of the many numbers.
        let shown = format!("{format:?}");
        let names = format.stored_fields().into_iter().map(|(name, _)| name);
        assert!(
            shown.contains(&format!("{:?}", names.collect::<Vec<_>>())),
            "{shown}"
        );
        assert_eq!(shown, format!("{bare:?}"));
    }
    let between = Format::parse("affine(4, 0.5, stored, offset = before)").unwrap();
    let with = |zero: f32| {
        between
            .with_stored("zero_point", array(&[2], |_| zero))
            .unwrap()
    };
    assert_eq!((with(2.0).has_zero(), with(2.5).has_zero()), (true, false));
}

#[test]
fn before_the_values_are_there_the_base_answers() {
    let bare = Format::parse("affine(6, stored, 3)").unwrap();
    let base = Format::parse("affine(6, 1.0, 3)").unwrap();
    assert_eq!(bare.bits(&[4]), 6.0);
    assert_eq!(bare.range(), base.range());
    for format in [base, Format::parse("mxint(8)").unwrap()] {
        assert_eq!(
            (format.of_elements(&[4]), format.stored_fields().len()),
            (None, 0)
        );
        assert_eq!(
            (format.stored_places(&[4]), format.stored_shape(&[4])),
            (None, None)
        );
        assert_eq!(format.without_stored(), format);
    }
    for spec in [
        "integer(8, stored, axis = 2)",
        "affine(8, stored, axis = 2, block = 2)",
    ] {
        let format = Format::parse(spec).unwrap();
        assert_eq!(format.stored_shape(&[4, 6]), None, "{spec}");
        assert_eq!(format.stored_places(&[4, 6]), None, "{spec}");
    }
}

/// Rows of axis 0 have the same places only where these lie behind it, which rounding row by row shows.
#[test]
fn rows_are_apart_where_places_lie_behind_them() {
    for (spec, shape, own, apart) in [
        ("affine(8, stored, axis = 0)", &[4, 6][..], &[4][..], false),
        ("affine(8, stored, axis = 1)", &[4, 6], &[6], true),
        (
            "affine(8, stored, axis = 1, block = 2)",
            &[4, 6],
            &[4, 3],
            false,
        ),
        (
            "affine(8, stored, axis = 0, block = 2)",
            &[4, 6],
            &[2, 6],
            false,
        ),
        ("affine(8, stored)", &[4, 6], &[6], true),
    ] {
        let format = Format::parse(spec).unwrap();
        let format = format.with_stored("scale", array(own, scale)).unwrap();
        assert_eq!(format.keeps_rows_apart(shape), apart, "{spec}");
        let x = mixed(24, 4);
        if apart {
            let by_row = x.chunks(6).flat_map(|row| quantized(&format, row, &[1, 6]));
            assert!(by_row.eq(quantized(&format, &x, shape)), "{spec}");
        }
    }
}

#[test]
#[should_panic(expected = "3 stored values do not fit the shape [4, 2]")]
fn values_for_another_shape_are_told() {
    let format = Format::parse("integer(8, stored, axis = 0)").unwrap();
    let format = format.with_stored("frac_width", array(&[3], frac)).unwrap();
    quantized(&format, &[0.0; 8], &[4, 2]);
}

#[test]
#[should_panic(expected = "3 stored values do not fit the shape [4, 2]")]
fn values_for_other_elements_are_told() {
    let format = Format::parse("integer(8, stored)").unwrap();
    let format = format.with_stored("frac_width", array(&[3], frac)).unwrap();
    quantized(&format, &[0.0; 8], &[4, 2]);
}

#[test]
fn a_field_is_changed_and_the_others_stay() {
    let with = |spec: &str, field: &str, value: FieldValue| {
        let changed = Format::parse(spec).unwrap().with_field(field, value);
        changed.map(|format| format.to_string())
    };
    for (spec, field, value, want) in [
        (
            "integer(8, 3, signed = false)",
            "width",
            6.into(),
            Some("integer(6, 3, false)"),
        ),
        (
            "integer(8, 3)",
            "frac_width",
            "stored".into(),
            Some("integer(8, stored)"),
        ),
        ("integer(8, 3)", "width", 65.into(), None),
        ("integer(8, 3)", "scale", 1.into(), None),
        (
            "mxint(8)",
            "skip_first_dim",
            true.into(),
            Some("mxint(8, skip_first_dim = true)"),
        ),
    ] {
        assert_eq!(with(spec, field, value).as_deref(), want, "{spec} {field}");
    }
    let both = Format::parse("integer(stored, stored)").unwrap();
    let both = both.with_stored("width", array(&[6], width)).unwrap();
    let both = both.with_stored("frac_width", array(&[6], frac)).unwrap();
    let floor = both.with_field("rounding", "floor".into()).unwrap();
    assert_eq!(floor.stored_fields(), both.stored_fields());
    let one = both.with_field("width", 5.into()).unwrap();
    assert_eq!(one.to_string(), "integer(5, stored)");
    assert_eq!(one.stored_fields(), both.stored_fields()[1..]);
}

/// Doubles are rounded once: these lie beyond a tie by less than a float can tell.
#[test]
fn doubles_are_rounded_once() {
    let x = [0.031_25 + 1e-12, -0.031_25 - 1e-12, 0.093_75 - 1e-12, 1e300];
    assert_eq!(x.map(|x| x as f32)[..3], [0.031_25, -0.031_25, 0.093_75]);
    let want = [0.0625, -0.0625, 0.0625, 7.9375];
    let same = Format::parse("integer(8, stored)").unwrap();
    let same = same
        .with_stored("frac_width", array(&[4], |_| 4.0))
        .unwrap();
    for format in [Format::parse("integer(8, 4)").unwrap(), same] {
        let mut y = [9.0; 4];
        assert!(format.round_doubles(|at| x[at], &[4], &mut y));
        assert_eq!(y, want, "{format}");
    }
    let places = Format::parse("integer(8, stored)").unwrap();
    let places = places
        .with_stored("frac_width", array(&[4], |at| at as f32))
        .unwrap();
    let mut y = [9.0; 4];
    assert!(places.round_doubles(|_| 0.75 - 1e-12, &[4], &mut y));
    assert_eq!(y, [1.0, 0.5, 0.75, 0.75]);
    for spec in ["affine(8, 0.5)", "log(4)", "bipolar(0.5)"] {
        let mut y = [9.0; 4];
        assert!(
            !Format::parse(spec)
                .unwrap()
                .round_doubles(|at| x[at], &[4], &mut y)
        );
        assert_eq!(y, [9.0; 4], "{spec}");
    }
}

/// A scale that is a power of two makes an affine format a fixed point.
#[test]
fn affine_with_a_power_of_two_is_fixed_point() {
    let x: Vec<f32> = mixed(2000, 3)
        .into_iter()
        .chain((-600..600).map(|k: i16| f32::from(k) / 64.0))
        .chain([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0])
        .collect();
    for width in 1..=16 {
        for frac in [-6, -1, 0, 1, 3, 5, 9] {
            for signed in [true, false] {
                let fixed = Format::parse(&format!("integer({width}, {frac}, signed = {signed})"));
                let scale = 0.5f32.powi(frac);
                let affine = Format::parse(&format!("affine({width}, {scale}, signed = {signed})"));
                let (fixed, affine) = (fixed.unwrap(), affine.unwrap());
                let (a, b) = (
                    quantized(&fixed, &x, &[x.len()]),
                    quantized(&affine, &x, &[x.len()]),
                );
                let same = a
                    .iter()
                    .zip(&b)
                    .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
                assert!(same, "{fixed} {affine}");
                assert_eq!(
                    passes(&fixed, &x, &[x.len()]),
                    passes(&affine, &x, &[x.len()]),
                    "{fixed}"
                );
                assert_eq!(fixed.range(), affine.range(), "{fixed}");
                assert_eq!(
                    fixed.encode(&x, &[x.len()]),
                    affine.encode(&x, &[x.len()]),
                    "{fixed}"
                );
            }
        }
    }
}
