//! Layers on codes against the products of a definition in `f64`.

use super::*;
use crate::conv::tests::{for_each_product, square};
use crate::isa::testing::on_every_isa;
use crate::testing::noise;
use format::{Overflow, Rounding};

fn fixed(width: u32, frac_width: i32, signed: bool) -> Integer {
    Integer {
        width,
        frac_width,
        signed,
        rounding: Rounding::NearestEven,
        overflow: Overflow::Saturate,
    }
}

/// The value of a code of a format, by definition.
fn value(format: Integer, x: f32) -> f64 {
    let span = 2_f64.powi(format.width as i32 - i32::from(format.signed));
    let lowest = if format.signed { -span } else { 0.0 };
    let scale = 2_f64.powi(format.frac_width);
    (f64::from(x) * scale)
        .round_ties_even()
        .clamp(lowest, span - 1.0)
        / scale
}

/// Inputs, outputs, and every product: input, weight, output.
struct Case {
    lens: [usize; 3],
    n: usize,
    products: Vec<[usize; 3]>,
}

fn dense([m, k, n]: [usize; 3]) -> Case {
    let rows = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
    Case {
        lens: [m * k, n * k, m * n],
        n,
        products: rows
            .flat_map(|(i, j)| (0..k).map(move |p| [i * k + p, j * k + p, i * n + j]))
            .collect(),
    }
}

fn convolution(s: &ConvShape) -> Case {
    let pixel = |at: usize, channels: usize, [h, w]: [usize; 2]| {
        let (picture, place) = (at / (channels * h * w), at % (h * w));
        (picture * h * w + place) * channels + at / (h * w) % channels
    };
    let mut products = Vec::new();
    for_each_product(s, |i, p, o| {
        let input = pixel(i, s.in_channels, s.input);
        products.push([input, p, pixel(o, s.out_channels, s.output())]);
    });
    Case {
        lens: [s.input_len(), s.weight_len(), s.output_len()],
        n: s.out_channels,
        products,
    }
}

fn check(case: &Case, [data, weight]: [Integer; 2], make: &dyn Fn() -> CodedLayer, what: &str) {
    let x: Vec<f32> = noise(case.lens[0], 1).iter().map(|x| 9.0 * x).collect();
    let w: Vec<f32> = noise(case.lens[1], 2).iter().map(|x| 3.0 * x).collect();
    let sum_frac = data.frac_width + weight.frac_width;
    let starts: Vec<i32> = noise(case.n, 3)
        .iter()
        .map(|x| (900.0 * x) as i32)
        .collect();
    let first = |o: usize| f64::from(starts[o % case.n]) * 2_f64.powi(-sum_frac);
    let mut sums: Vec<f64> = (0..case.lens[2]).map(first).collect();
    for &[i, p, o] in &case.products {
        sums[o] += value(data, x[i]) * value(weight, w[p]);
    }
    let bounds = [(f32::NEG_INFINITY, f32::INFINITY), (0.0, 6.0)];
    on_every_isa(|isa| {
        let layer = make();
        let mut packed = vec![f32::NAN; layer.packed_len()];
        layer.pack(weight, &w, &starts, &mut packed);
        for (lo, hi) in bounds {
            let scaling = Scaling {
                factor: 2_f32.powi(-sum_frac),
                lo,
                hi,
            };
            let mut scratch = vec![f32::NAN; layer.scratch_len()];
            let mut y = vec![f32::NAN; case.lens[2]];
            assert!(!layer.forward(&x, &packed, scaling, &mut y, &mut scratch));
            for (at, (&y, &sum)) in y.iter().zip(&sums).enumerate() {
                let want = sum.max(lo.into()).min(hi.into());
                assert_eq!(f64::from(y), want, "{isa:?} {what} at {at}, {data:?}");
            }
        }
    });
}

#[test]
fn layers_of_any_size_are_exact_sums() {
    let shapes = [
        square(2, [1, 6, 1], 12, 5, 1, 2),
        square(3, [3, 16, 1], 7, 3, 2, 1),
        ConvShape {
            dilation: [1, 2],
            ..square(2, [2, 5, 1], 9, 3, 1, 2)
        },
    ];
    let formats = [
        [fixed(8, 3, true), fixed(8, 5, true)],
        [fixed(4, 2, true), fixed(8, 5, true)],
        [fixed(8, 4, false), fixed(8, 5, true)],
        [fixed(8, 4, true), fixed(4, 2, true)],
        [fixed(1, 0, true), fixed(2, 0, true)],
        [fixed(8, 4, false), fixed(3, 1, true)],
    ];
    for formats @ [data, weight] in formats {
        let max_weight = 1 << (weight.width - 1);
        for [m, k, n] in [
            [1, 1, 1],
            [3, 5, 7],
            [13, 16, 5],
            [70, 18, 33],
            [64, 64, 70],
        ] {
            let make = || CodedLayer::dense(k, n, data, max_weight);
            check(&dense([m, k, n]), formats, &make, &format!("{m}×{k}×{n}"));
        }
        for shape in shapes {
            let make = || CodedLayer::convolution(shape, data, max_weight).expect("one group");
            check(&convolution(&shape), formats, &make, &format!("{shape:?}"));
        }
    }
    let grouped = square(1, [4, 4, 2], 5, 3, 1, 1);
    assert!(CodedLayer::convolution(grouped, fixed(8, 3, true), 128).is_none());
}

#[test]
fn what_is_no_number_is_told_and_spreads_to_what_sees_it() {
    let data = fixed(8, 4, true);
    let shape = square(2, [2, 3, 1], 5, 3, 1, 1);
    let cases = [
        (dense([10, 7, 4]), None),
        (convolution(&shape), Some(shape)),
    ];
    for (case, shape) in cases {
        let make = || match shape {
            Some(shape) => CodedLayer::convolution(shape, data, 128).expect("one group"),
            None => CodedLayer::dense(7, 4, data, 128),
        };
        on_every_isa(|isa| {
            let layer = make();
            let mut packed = vec![0.0; layer.packed_len()];
            layer.pack(data, &noise(case.lens[1], 2), &vec![0; case.n], &mut packed);
            let mut scratch = vec![0.0; layer.scratch_len()];
            for at in (0..case.lens[0]).step_by(3) {
                let mut x = noise(case.lens[0], 4);
                x[at] = f32::NAN;
                let mut y = vec![0.0; case.lens[2]];
                let scaling = Scaling::by(1.0 / 256.0);
                assert!(
                    layer.forward(&x, &packed, scaling, &mut y, &mut scratch),
                    "{isa:?} {at}"
                );
                layer.spread_nan(&x, &mut y);
                for (o, y) in y.iter().enumerate() {
                    let sees = case.products.iter().any(|&[i, _, to]| i == at && to == o);
                    assert_eq!(y.is_nan(), sees, "{isa:?} {at} {o}");
                }
            }
        });
    }
}
