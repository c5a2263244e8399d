//! Blocks in arrays of any rank, against a slow and plain grouping of the elements.

use std::collections::BTreeMap;

use crate::gradient::passes;
use crate::specs::{all, mixed, quantized};
use format::{FieldValue, Format};
use proptest::prelude::*;

/// The elements of each block, by the block's position along every axis.
fn groups(shape: &[usize], size: &FieldValue, skip: bool) -> BTreeMap<Vec<usize>, Vec<usize>> {
    let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for index in 0..shape.iter().product() {
        let mut rest = index;
        let mut key = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            let position = rest % shape[axis];
            rest /= shape[axis];
            key[axis] = match size_along(size, shape.len() - axis) {
                _ if skip && axis == 0 && shape.len() > 1 => position,
                -1 => 0,
                size => position / size as usize,
            };
        }
        groups.entry(key).or_default().push(index);
    }
    groups
}

/// A block's size along the axis that is `from_end` axes from the end; −1 is the whole axis.
fn size_along(size: &FieldValue, from_end: usize) -> i64 {
    match size {
        FieldValue::Int(size) if from_end == 1 => *size,
        FieldValue::Int(_) => 1,
        FieldValue::List(sizes) => *sizes.iter().rev().nth(from_end - 1).unwrap_or(&-1),
        other => panic!("no block size: {other}"),
    }
}

fn format_with(spec: &str, size: &FieldValue, skip: bool) -> Format {
    let format = Format::parse(spec).unwrap();
    let mut fields: Vec<(String, FieldValue)> = format
        .fields()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    fields.retain(|(name, _)| name != "block_size" && name != "skip_first_dim");
    fields.push(("block_size".to_owned(), size.clone()));
    fields.push(("skip_first_dim".to_owned(), FieldValue::Bool(skip)));
    Format::from_fields(format.name(), &fields).unwrap()
}

const BLOCKED: [&str; 5] = [
    "block_fp(8, 8)",
    "block_minifloat(8, 4, 8)",
    "block_log(4, 8)",
    "mxint(8)",
    "mxfp(2, 1)",
];

/// Arrays with usual magnitudes, and with some at the end of what a float holds beside them.
fn check(spec: &str, shape: &[usize], size: &FieldValue, skip: bool) {
    let mut x = mixed(shape.iter().product(), 5);
    check_array(spec, &x, shape, size, skip);
    let tiny = x.chunks_mut(20).step_by(2).flatten();
    tiny.for_each(|x| *x *= 1e-38);
    check_array(spec, &x, shape, size, skip);
}

/// Each group rounded as an array of its own, its gradient, and the bits that its scale costs.
fn check_array(spec: &str, x: &[f32], shape: &[usize], size: &FieldValue, skip: bool) {
    let format = format_with(spec, size, skip);
    let alone = format_with(spec, &FieldValue::List(vec![-1]), false);
    let (mut want, mut want_pass) = (vec![0.0; x.len()], vec![false; x.len()]);
    let groups = groups(shape, size, skip);
    for group in groups.values() {
        let block: Vec<f32> = group.iter().map(|&index| x[index]).collect();
        let rounded = quantized(&alone, &block, &[block.len()]);
        let pass = passes(&alone, &block, &[block.len()]);
        for (&index, (y, pass)) in group.iter().zip(rounded.into_iter().zip(pass)) {
            (want[index], want_pass[index]) = (y, pass);
        }
    }
    assert_eq!(quantized(&format, x, shape), want, "{format} {shape:?}");
    assert_eq!(passes(&format, x, shape), want_pass, "{format} {shape:?}");
    let codes = format.encode(x, shape);
    assert_eq!(codes.shared.len(), groups.len(), "{format} {shape:?}");
    assert_eq!(format.decode(&codes, shape), want, "{format} {shape:?}");
    if !x.is_empty() {
        let (width, scale_bits) = (format.bits(&[0]), 8.0);
        let bits = width + scale_bits * groups.len() as f64 / x.len() as f64;
        assert!(
            (format.bits(shape) - bits).abs() < 1e-12,
            "{format} {shape:?}"
        );
    }
}

#[test]
fn blocks_of_every_layout() {
    let shapes: [&[usize]; 14] = [
        &[],
        &[1],
        &[37],
        &[0],
        &[3, 0, 2],
        &[6, 40],
        &[2, 1100],
        &[1, 7],
        &[7, 1],
        &[4, 5, 6],
        &[2, 1, 9],
        &[4, 3, 5, 5],
        &[2, 3, 1, 2, 3],
        &[2, 2, 3, 2, 2, 3],
    ];
    let lists: [&[i64]; 10] = [
        &[16],
        &[1],
        &[-1],
        &[1, 16],
        &[2, 4],
        &[2, -1],
        &[-1, 2],
        &[3, 2, 2],
        &[2, 1, 2, 1],
        &[2, 2, 2, 2, 2, 2],
    ];
    let lists = lists.map(|sizes| FieldValue::List(sizes.to_vec()));
    let numbers = [16, 1, 5, 32, -1].map(FieldValue::Int);
    for shape in shapes {
        for size in lists.iter().chain(&numbers) {
            for skip in [false, true] {
                for spec in BLOCKED {
                    check(spec, shape, size, skip);
                }
            }
        }
    }
}

/// A channel is a row of axis 0, a row is along the last axis.
#[test]
fn scales_of_tensors_channels_and_rows() {
    let x = mixed(2 * 3 * 7, 2);
    for (granularity, len) in [("tensor", 42), ("channel", 21), ("row", 7)] {
        let parse = |spec: &str| Format::parse(spec).unwrap();
        let format = parse(&format!("scale_integer(6, granularity = {granularity})"));
        let blocks = x
            .chunks(len)
            .flat_map(|x| quantized(&parse("scale_integer(6)"), x, &[len]));
        assert_eq!(
            quantized(&format, &x, &[2, 3, 7]),
            blocks.collect::<Vec<_>>()
        );
        assert_eq!(format.bits(&[2, 3, 7]), 6.0 + 32.0 / len as f64);
    }
}

#[test]
fn bits_without_a_shared_scale_are_the_width() {
    for (spec, bits) in [
        ("integer(8, 4)", 8.0),
        ("log(5)", 5.0),
        ("binary(bipolar = true)", 1.0),
        ("binary(width = 8, bipolar = true)", 8.0),
        ("ternary()", 2.0),
        ("ternary(4)", 4.0),
    ] {
        assert_eq!(Format::parse(spec).unwrap().bits(&[3, 5]), bits, "{spec}");
    }
}

#[test]
#[should_panic(expected = "shape [2, 3] has 6 elements, the arrays have 5 and 5")]
fn wrong_lengths_are_told() {
    quantized(&Format::parse("integer(8, 4)").unwrap(), &[0.0; 5], &[2, 3]);
}

fn block_size() -> impl Strategy<Value = FieldValue> {
    let size = || prop_oneof![Just(-1i64), 1i64..7];
    let list = prop::collection::vec(size(), 1..6).prop_map(FieldValue::List);
    prop_oneof![size().prop_map(FieldValue::Int), list]
}

/// What the OCP specification asks for: 32 elements of one row, however many rows there are.
#[test]
fn default_blocks_keep_rows_apart() {
    let (rows, columns) = (3, 70);
    let mut x = mixed(rows * columns, 4);
    x[64..110].fill(-0.0);
    for (spec, len) in [
        ("mxint(8)", 32),
        ("mxfp(4, 3)", 32),
        ("block_fp(8, 8)", 16),
        ("block_minifloat(8, 4, 8)", 16),
        ("block_log(8, 8)", 16),
    ] {
        let format = Format::parse(spec).unwrap();
        let blocks = x.chunks(columns).flat_map(|row| row.chunks(len));
        let want = blocks.flat_map(|block| quantized(&format, block, &[block.len()]));
        // Bit for bit: a block comes out the same whether it is rounded alone or beside others.
        let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<u32>>();
        let whole = quantized(&format, &x, &[rows, columns]);
        assert_eq!(bits(&whole), bits(&want.collect::<Vec<f32>>()), "{format}");
    }
}

proptest! {
    #[test]
    fn random_layouts(
        shape in prop::collection::vec(0usize..6, 0..6),
        size in block_size(),
        skip: bool,
        which in 0usize..BLOCKED.len(),
    ) {
        check(BLOCKED[which], &shape, &size, skip);
    }

    #[test]
    fn any_bits_round_and_come_back(
        bits in prop::collection::vec(any::<u32>(), 24),
        which in 0usize..crate::specs::SPECS.len(),
    ) {
        let format = Format::parse(crate::specs::SPECS[which]).unwrap();
        let x: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
        let y = quantized(&format, &x, &[4, 6]);
        let decoded = format.decode(&format.encode(&x, &[4, 6]), &[4, 6]);
        for ((x, y), decoded) in x.iter().zip(y).zip(decoded) {
            prop_assert!(if x.is_nan() { y.is_nan() } else { y == decoded }, "{format} of {x:e}: {y} {decoded}");
        }
    }
}

/// What a format says of its pieces is what rounding in pieces gives.
#[test]
fn elements_and_rows_can_be_rounded_apart_where_the_format_says_so() {
    let shapes: [&[usize]; 4] = [&[12], &[6, 5], &[4, 3, 7], &[2, 3, 4, 5]];
    let mut seen = [[0; 2]; 2];
    for (format, shape) in all().flat_map(|format| shapes.map(|shape| (format.clone(), shape))) {
        let x = mixed(shape.iter().product(), 3);
        let whole = quantized(&format, &x, shape);
        let row = x.len() / shape[0];
        let one_row = [&[1], &shape[1..]].concat();
        let by_row = x.chunks(row).flat_map(|x| quantized(&format, x, &one_row));
        let by_element = x.iter().flat_map(|&x| quantized(&format, &[x], &[1]));
        let (alone, apart) = (format.rounds_alone(), format.keeps_rows_apart(shape));
        assert!(!alone || apart, "{format}: {shape:?}");
        assert!(
            !alone || by_element.eq(whole.iter().copied()),
            "{format}: {shape:?}"
        );
        assert!(
            !apart || by_row.eq(whole.iter().copied()),
            "{format}: {shape:?}"
        );
        seen[usize::from(alone)][usize::from(apart)] += 1;
    }
    assert!(
        seen[0][0] > 0 && seen[0][1] > 0 && seen[1][1] > 0,
        "{seen:?}"
    );
}

/// Within rows, an array is rounded as its rows are, each by itself.
#[test]
fn every_format_can_stay_within_rows() {
    for format in all() {
        let within = format.within_rows();
        for shape in [&[5, 12][..], &[3, 4, 5], &[4, 1]] {
            let x = mixed(shape.iter().product(), 9);
            let row = [&[1], &shape[1..]].concat();
            let want: Vec<f32> = x
                .chunks(row.iter().product())
                .flat_map(|x| quantized(&format, x, &row))
                .collect();
            assert_eq!(quantized(&within, &x, shape), want, "{format} {shape:?}");
            assert!(within.keeps_rows_apart(shape), "{format} {shape:?}");
        }
    }
}

/// Up to the ceiling an element changes no scale, and the next float does.
#[test]
fn the_ceiling_is_the_last_magnitude_with_the_same_scale() {
    let of_statistics = ["binary", "ternary"];
    for format in all().filter(|format| !of_statistics.contains(&format.name())) {
        assert_eq!(format.scale_ceiling(0.0), 0.0, "{format}");
        for max in [1e-30f32, 0.3, 1.0, 1.41, 1.42, 1.5, 1.99, 7.0, 240.0, 3e30] {
            let ceiling = format.scale_ceiling(max);
            let shared = |x: f32| format.encode(&[max, x], &[1, 2]).shared;
            if format.rounds_alone() {
                assert_eq!(ceiling, f32::MAX, "{format}");
            }
            if format.rounds_alone() || format.block_extents(&[1, 2]) != [1, 2] {
                continue;
            }
            assert!(ceiling >= max, "{format} of {max}");
            assert_eq!(shared(ceiling), shared(max), "{format} of {max}");
            let next = ceiling.next_up();
            let is_last = next == f32::INFINITY || shared(next) != shared(max);
            assert!(is_last, "{format} of {max}: {ceiling}");
        }
    }
}

/// Blocks are where a format has a size for them, and they reach as far as rounding shows.
#[test]
fn extents_are_those_of_the_blocks() {
    for format in all() {
        let has_size = format
            .fields()
            .iter()
            .any(|(name, _)| *name == "block_size");
        assert_eq!(format.is_blocked(), has_size, "{format}");
        if format.rounds_alone() {
            assert_eq!(format.block_extents(&[4, 3, 5]), [1; 3], "{format}");
        }
    }
    for (spec, shape, extents) in [
        ("scale_integer(8)", &[4, 3, 5][..], &[4, 3, 5][..]),
        (
            "scale_integer(8, granularity = channel)",
            &[4, 3, 5],
            &[1, 3, 5],
        ),
        (
            "scale_integer(8, granularity = row)",
            &[4, 3, 5],
            &[1, 1, 5],
        ),
        ("scale_integer(8, granularity = channel)", &[4], &[1]),
        ("ternary()", &[4, 3], &[1, 3]),
        ("binary(bipolar = true)", &[4, 3], &[1, 1]),
        ("mxint(8)", &[4, 100], &[1, 32]),
        ("mxint(8)", &[4, 5], &[1, 5]),
        ("mxint(8, [2, 3])", &[4, 7, 9], &[4, 2, 3]),
        (
            "mxint(8, [2, 3, 4], skip_first_dim = true)",
            &[4, 7, 9],
            &[1, 3, 4],
        ),
        ("mxint(8, [3], skip_first_dim = true)", &[4], &[3]),
        ("mxint(8, [2, -1])", &[4, 7], &[2, 7]),
    ] {
        let format = Format::parse(spec).unwrap();
        assert_eq!(format.block_extents(shape), extents, "{spec} {shape:?}");
    }
}
