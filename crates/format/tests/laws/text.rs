//! The text form: printing and parsing are inverse, and errors say what, where and what was meant.

use crate::specs::all;
use format::{FieldValue, Format, FormatError};

#[test]
fn parse_undoes_display() {
    for format in all() {
        let text = format.to_string();
        assert_eq!(Format::parse(&text), Ok(format), "{text}");
    }
}

#[test]
fn fields_make_the_same_format() {
    for format in all() {
        let fields: Vec<(String, FieldValue)> = format
            .fields()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        assert_eq!(Format::from_fields(format.name(), &fields), Ok(format));
    }
}

#[test]
fn one_format_has_one_text() {
    for (spec, text) in [
        ("integer(8)", "integer(8, 4)"),
        ("fixed(width=8,frac_width=4)", "integer(8, 4)"),
        (
            "integer(8, 4, true, floor)",
            "integer(8, 4, rounding = floor)",
        ),
        (
            "integer(8, 4, floor = true, signed = False)",
            "integer(8, 4, false, floor)",
        ),
        (
            "integer(8, 4, rounding = floor, floor = false)",
            "integer(8, 4)",
        ),
        (" integer ( 8 , frac_width = -2 , ) ", "integer(8, -2)"),
        (
            "integer(8, 4, rounding = nearest_even, overflow = saturate)",
            "integer(8, 4)",
        ),
        (
            "integer(8, 4, overflow = wrap, rounding = nearest_up)",
            "integer(8, 4, rounding = nearest_up, overflow = wrap)",
        ),
        ("integer(8, frac_width = \"NA\")", "integer(8, 4)"),
        ("minifloat_ieee(8, 4, 7)", "minifloat_ieee(8, 4)"),
        ("minifloat_ieee(8, 4, 8)", "minifloat_ieee(8, 4, 8)"),
        ("mxint(8, 32)", "mxint(8)"),
        ("mxint(8, [32])", "mxint(8, [32])"),
        ("mxint(8, 16)", "mxint(8, 16)"),
        ("mxfp(4, 3, -1)", "mxfp(4, 3, -1)"),
        ("block_fp(8, 8, 127, 16)", "block_fp(8, 8)"),
        ("block_fp(8, 8, 127, 32)", "block_fp(8, 8, block_size = 32)"),
        ("block_log(8, 8, [16])", "block_log(8, 8, [16])"),
        (
            "mxfp(4, 3, skip_first_dim = true)",
            "mxfp(4, 3, skip_first_dim = true)",
        ),
        ("ternary", "ternary()"),
        ("ternary(mean = 1, median = NA)", "ternary(mean = 1.0)"),
        (
            "block_fp(width = 8, exponent_width = 8, block_size = [1, 16], skip_first_dim = true)",
            "block_fp(8, 8, block_size = [1, 16], skip_first_dim = true)",
        ),
    ] {
        assert_eq!(Format::parse(spec).unwrap().to_string(), text, "{spec}");
    }
}

/// A text, the place of its fault, and the sentence about it.
const FAULTS: &[(&str, usize, &str)] = &[
    (
        "intager(8)",
        0,
        "unknown format 'intager'; did you mean 'integer'?",
    ),
    (
        "integer(8, frac = 4)",
        11,
        "integer: unknown field 'frac'; did you mean 'width', 'frac_width', 'signed', 'rounding', 'floor', 'axis' or 'overflow'?",
    ),
    (
        "integer(8, frac_widht = 4)",
        11,
        "integer: unknown field 'frac_widht'; did you mean 'frac_width'?",
    ),
    ("integer(0)", 8, "integer: width 0 is outside 1 to 64"),
    ("integer(65, 4)", 8, "integer: width 65 is outside 1 to 64"),
    (
        "integer(8, 4000)",
        11,
        "integer: frac_width 4000 is outside -104 to 149",
    ),
    (
        "integer(8, true)",
        11,
        "integer: frac_width takes a whole number, not true",
    ),
    ("integer()", 0, "integer: width is missing"),
    ("integer(8, width = 4)", 11, "integer: width is given twice"),
    (
        "integer(8, 4, true, floor, true, NA, wrap, 1)",
        43,
        "integer: takes at most 7 values",
    ),
    (
        "integer(8, rounding = up)",
        11,
        "integer: rounding up is not one of nearest_even, nearest_up, floor",
    ),
    (
        "integer(25, 4, false, overflow = wrap)",
        22,
        "integer: overflow wrap needs signed codes, or at most 24 bits",
    ),
    (
        "integer(8, overflow = clip)",
        11,
        "integer: overflow clip is not one of saturate, wrap",
    ),
    (
        "integer(8, 4, axis = 0)",
        14,
        "integer: axis 0 is for stored fields, and there are none",
    ),
    (
        "integer(8, 4, signed = stored)",
        14,
        "integer: signed stored is only for width and frac_width",
    ),
    (
        "log(stored)",
        4,
        "log: width takes a whole number, not the text 'stored'",
    ),
    (
        "affine(8, stored, block = 4)",
        18,
        "affine: block 4 needs an axis",
    ),
    (
        "affine(8, 0)",
        10,
        "affine: scale 0 is not a positive, normal 32-bit float",
    ),
    (
        "affine(8, 0.5, 128)",
        15,
        "affine: zero_point 128 is outside -128 to 127",
    ),
    (
        "affine(8, 0.5, 1.5)",
        15,
        "affine: zero_point 1.5 is not a whole number",
    ),
    ("integer(8, width", 16, "expected ',' or ')', found the end"),
    ("integer(8) 4", 11, "expected the end, found '4'"),
    ("", 0, "expected the name of a format, found the end"),
    (
        "integer(width = 8, 4)",
        19,
        "expected field = value, as before, found '4'",
    ),
    ("mxint(8, [1, x])", 13, "expected a whole number, found 'x'"),
    (
        "mxint(8, [0])",
        9,
        "mxint: block_size [0] must list sizes of at least 1, or -1 for a whole axis",
    ),
    (
        "mxfp(4, 2)",
        8,
        "mxfp: frac_width 2 with exponent_width 4 is none of E5M2, E4M3, E3M2, E2M3, E2M1",
    ),
    (
        "mxint(8, 0)",
        9,
        "mxint: block_size 0 must be at least 1, or -1 for the whole last axis",
    ),
    (
        "block_fp(8, 8, block_size = row)",
        15,
        "block_fp: block_size takes a whole number or a list of them, not the text 'row'",
    ),
    (
        "minifloat_ieee(4, 4)",
        18,
        "minifloat_ieee: exponent_width 4 leaves no room for sign and 0 fraction bits in width 4",
    ),
    (
        "minifloat_denorm(4, 3)",
        20,
        "minifloat_denorm: exponent_width 3 leaves no room for sign and 1 fraction bits in width 4",
    ),
    (
        "minifloat_ieee(32, 4)",
        19,
        "minifloat_ieee: exponent_width 4 leaves 27 fraction bits in width 32, a float has 23",
    ),
    (
        "log(4, 500)",
        7,
        "log: exponent_bias 500 puts the exponents -500 to -493 outside -126 to 126",
    ),
    (
        "binary(stochastic = true)",
        7,
        "binary: stochastic true is not available, only false: the same value always gets the same code",
    ),
    (
        "ternary(mean = -1)",
        8,
        "ternary: mean -1 is not a finite number of at least 0",
    ),
];

#[test]
fn errors_say_what_and_where() {
    for &(spec, offset, message) in FAULTS {
        let error: FormatError = Format::parse(spec).unwrap_err();
        assert_eq!(error.to_string(), message, "{spec}");
        assert_eq!(error.offset, Some(offset), "{spec}");
    }
}

/// The last values before an error, and the first that are one.
#[test]
fn bounds_are_within() {
    for spec in [
        "integer(1)",
        "integer(64)",
        "integer(8, -104)",
        "integer(8, 149)",
        "log(4, 133)",
        "log(4, -126)",
        "mxint(8, -1)",
        "mxint(8, [-1, 1])",
        "ternary(mean = 0)",
        "minifloat_ieee(5, 4)",
        "minifloat_denorm(5, 3)",
        "minifloat_ieee(28, 4)",
    ] {
        assert!(Format::parse(spec).is_ok(), "{spec}");
    }
    let size = "must be at least 1, or -1 for the whole last axis";
    let sizes = "must list sizes of at least 1, or -1 for a whole axis";
    for (spec, field, rule) in [
        (
            "log(4, 134)",
            "exponent_bias 134",
            "puts the exponents -134 to -127 outside -126 to 126",
        ),
        (
            "log(4, -127)",
            "exponent_bias -127",
            "puts the exponents 127 to 134 outside -126 to 126",
        ),
        ("mxint(8, -2)", "block_size -2", size),
        ("mxint(8, [4, 0])", "block_size [4, 0]", sizes),
        ("mxint(8, [])", "block_size []", sizes),
    ] {
        let message = Format::parse(spec).unwrap_err().to_string();
        assert!(message.ends_with(&format!(": {field} {rule}")), "{message}");
    }
}

#[test]
fn precision_lists() {
    for (spec, list) in [
        ("integer(8, 4)", "8, 4"),
        ("binary(1, bipolar = true)", "1, false, true"),
        ("ternary(2, true, max = 3)", "2, true, NA, NA, 3.0"),
        ("log(8)", "8, 63"),
        ("minifloat_ieee(8, 4)", "8, 4, 7"),
        ("minifloat_denorm(8, 4)", "8, 4, 7"),
        ("block_fp(8, 8, block_size = [1, 16])", "8, 8, 127, [1, 16]"),
        ("block_minifloat(8, 4, 8, [16])", "8, 4, 8, [16]"),
        ("block_minifloat(8, 4, 8)", "8, 4, 8, 16"),
        ("block_log(8, 8, [16])", "8, 8, [16]"),
        ("mxint(8)", "8, 32"),
        ("mxint(8, [32])", "8, [32]"),
        ("mxfp(4, 3)", "4, 3, 32"),
    ] {
        let precision = Format::parse(spec).unwrap().precision();
        let shown: Vec<String> = precision.iter().map(ToString::to_string).collect();
        assert_eq!(shown.join(", "), list, "{spec}");
    }
}

/// Whatever the text, an answer and no panic.
#[test]
fn broken_texts_are_errors() {
    for format in all() {
        let text = format.to_string();
        for end in text.find('(').unwrap() + 1..text.len() {
            assert!(Format::parse(&text[..end]).is_err(), "{text}");
        }
    }
    for text in [
        "é(8)",
        "integer(é)",
        "integer(8, 'é",
        "integer[8]",
        "integer(8))",
        "mxint(8, [",
        "((",
        "mxint(99999999999999999999)",
    ] {
        assert!(Format::parse(text).is_err(), "{text}");
    }
}

#[test]
fn entries_describe_their_fields() {
    for format in all() {
        let entry = format.entry();
        let described = |name: &str| entry.fields.iter().any(|field| field.name == name);
        assert!(
            format.fields().iter().all(|(name, _)| described(name)),
            "{format}"
        );
        assert!(
            entry.doc.contains(entry.name),
            "{} has no example",
            entry.name
        );
    }
}
