//! The three kernels against the definition in `f64`, over edge shapes and random ones.

use super::{ConvShape, conv_backward_data, conv_backward_weight, conv_forward};
use crate::isa::testing::on_every_isa;
use crate::testing::{assert_close, noise};
use proptest::prelude::*;

/// Calls `f(input, weight, output)` with flat indices for every product of the convolution.
pub(crate) fn for_each_product(s: &ConvShape, mut f: impl FnMut(usize, usize, usize)) {
    let ([oh, ow], [h, w], [kh, kw]) = (s.output(), s.input, s.kernel);
    let (inputs, outputs) = (s.in_channels / s.groups, s.out_channels / s.groups);
    for image in 0..s.batch {
        for (oc, ic) in (0..s.out_channels).flat_map(|oc| (0..inputs).map(move |ic| (oc, ic))) {
            let channel = image * s.in_channels + oc / outputs * inputs + ic;
            for (oy, ox) in (0..oh).flat_map(|y| (0..ow).map(move |x| (y, x))) {
                for (ky, kx) in (0..kh).flat_map(|y| (0..kw).map(move |x| (y, x))) {
                    let y = (oy * s.stride[0] + ky * s.dilation[0]).wrapping_sub(s.padding[0]);
                    let x = (ox * s.stride[1] + kx * s.dilation[1]).wrapping_sub(s.padding[1]);
                    if y < h && x < w {
                        let output = ((image * s.out_channels + oc) * oh + oy) * ow + ox;
                        f(
                            (channel * h + y) * w + x,
                            ((oc * inputs + ic) * kh + ky) * kw + kx,
                            output,
                        );
                    }
                }
            }
        }
    }
}

fn check(s: &ConvShape) {
    let (x, w) = (noise(s.input_len(), 1), noise(s.weight_len(), 2));
    let (dy, bias) = (noise(s.output_len(), 3), noise(s.out_channels, 4));
    let plane = s.output()[0] * s.output()[1];
    let mut y: Vec<f64> = (0..dy.len())
        .map(|i| f64::from(bias[i / plane % s.out_channels]))
        .collect();
    let (mut dx, mut dw, mut db) = (
        vec![0.0; x.len()],
        vec![0.0; w.len()],
        vec![0.0; s.out_channels],
    );
    for_each_product(s, |i, p, o| {
        y[o] += f64::from(x[i]) * f64::from(w[p]);
        dx[i] += f64::from(dy[o]) * f64::from(w[p]);
        dw[p] += f64::from(dy[o]) * f64::from(x[i]);
    });
    for (i, &dy) in dy.iter().enumerate() {
        db[i / plane % s.out_channels] += f64::from(dy);
    }
    on_every_isa(|isa| {
        let what = |name: &str| format!("{name} {isa:?} {s:?}");
        // Scratch starts as NaN: nothing may be read before it is written. One more float must stay as it is.
        let mut scratch = vec![f32::NAN; s.scratch_len()];
        let mut got = vec![9.0; dy.len()];
        conv_forward(s, &x, &w, Some(&bias), &mut got, &mut scratch);
        assert_close(&got, &y, 1e-5, &what("y"));
        let mut scratch = vec![f32::NAN; s.scratch_len()];
        let mut got = vec![9.0; x.len()];
        conv_backward_data(s, &dy, &w, &mut got, &mut scratch);
        assert_close(&got, &dx, 1e-5, &what("dx"));
        let mut scratch = vec![f32::NAN; s.scratch_len()];
        let (mut got, mut got_bias) = (vec![9.0; w.len()], vec![9.0; s.out_channels]);
        conv_backward_weight(s, &x, &dy, &mut got, Some(&mut got_bias), &mut scratch);
        // Long sums, in an order of their own.
        assert_close(&got, &dw, 3e-5, &what("dw"));
        assert_close(&got_bias, &db, 1e-5, &what("db"));
    });
}

pub(crate) fn square(
    batch: usize,
    channels: [usize; 3],
    input: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) -> ConvShape {
    let [in_channels, out_channels, groups] = channels;
    ConvShape {
        batch,
        in_channels,
        out_channels,
        groups,
        input: [input; 2],
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding: [padding; 2],
        dilation: [1; 2],
    }
}

#[test]
fn known_networks_and_edges() {
    check(&square(3, [1, 6, 1], 28, 5, 1, 2));
    check(&square(9, [6, 16, 1], 14, 5, 1, 0));
    check(&square(2, [16, 8, 1], 7, 1, 1, 0));
    check(&square(2, [3, 7, 1], 9, 3, 2, 1));
    check(&square(2, [6, 6, 6], 10, 3, 1, 1));
    check(&square(2, [6, 12, 6], 10, 3, 2, 1));
    check(&square(2, [8, 4, 2], 6, 1, 2, 0));
    check(&square(0, [2, 3, 1], 5, 3, 1, 1));
    check(&square(2, [2, 3, 1], 2, 5, 1, 0));
    check(&square(1, [1, 1, 1], 1, 1, 1, 0));
    // More padding than the window reaches: the adjoint does not exist.
    check(&square(2, [2, 3, 1], 5, 2, 1, 3));
}

#[test]
fn windows_longer_than_one_block() {
    check(&square(1, [130, 5, 1], 4, 3, 1, 1));
    check(&square(1, [130, 5, 1], 5, 3, 2, 1));
}

#[test]
fn one_dimension_is_height_one() {
    let s = ConvShape {
        input: [1, 50],
        kernel: [1, 7],
        stride: [1, 1],
        padding: [0, 3],
        ..square(4, [3, 5, 1], 1, 1, 1, 0)
    };
    check(&s);
    check(&ConvShape {
        stride: [1, 3],
        dilation: [1, 2],
        ..s
    });
}

#[test]
fn wide_windows_are_added_back() {
    let wide = ConvShape {
        input: [2, 70],
        kernel: [1, 40],
        padding: [0, 3],
        ..square(2, [3, 2, 1], 1, 1, 1, 0)
    };
    check(&wide);
    check(&ConvShape {
        padding: [0, 45],
        ..wide
    });
}

/// The work of both ways counted place by place: products of the grid up to its last output, read twice where fewer than
/// four outputs share a window, against products of whole vectors and five operations for each element of a column.
#[test]
fn the_shorter_way_to_the_gradient_is_the_one_with_less_work() {
    let mut seen = [0; 2];
    for (inputs, outputs) in (1..9).flat_map(|i| (1..6).map(move |o| (i, o))) {
        for (groups, kernel, dilation) in [(1, 3, 1), (2, 5, 1), (1, 2, 3), (3, 1, 1)] {
            for (width, padding) in (9..40).map(|width| (width, width % 3)) {
                let s = ConvShape {
                    input: [7 + 2 * padding, width],
                    kernel: [3, kernel],
                    padding: [0, padding],
                    dilation: [1, dilation],
                    ..square(1, [groups * inputs, groups * outputs, groups], 1, 1, 1, 0)
                };
                let [rows, columns] = s.output();
                let places = (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x)));
                let last = places.map(|(y, x)| y * (width + 2 * padding) + x).max();
                let products = inputs * (last.unwrap() + 1);
                let reads = if outputs >= 4 { 1 } else { 2 };
                let vectors = (0..width).step_by(16).count();
                let stored = 16 * vectors * s.input[0];
                let is_shorter = products * reads <= inputs * stored + 5 * stored;
                assert_eq!(s.beats_columns(), is_shorter, "{s:?}");
                seen[usize::from(is_shorter)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
}

#[test]
#[should_panic(expected = "conv: the weights have 8 elements")]
fn wrong_lengths_are_named() {
    let s = square(1, [1, 1, 1], 4, 3, 1, 1);
    conv_forward(
        &s,
        &[0.0; 16],
        &[0.0; 8],
        None,
        &mut [0.0; 16],
        &mut [0.0; 1000],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_shape_matches_the_definition(
        batch in 1usize..3, groups in 1usize..3, inputs in 1usize..4, outputs in 1usize..8,
        input in (1usize..12, 1usize..20), kernel in (1usize..4, 1usize..6), stride in (1usize..4, 1usize..4),
        padding in (0usize..3, 0usize..3), dilation in (1usize..3, 1usize..3), unit_stride: bool,
    ) {
        check(&ConvShape {
            batch,
            in_channels: groups * inputs,
            out_channels: groups * outputs,
            groups,
            input: input.into(),
            kernel: kernel.into(),
            stride: if unit_stride { [1, 1] } else { stride.into() },
            padding: padding.into(),
            dilation: dilation.into(),
        });
    }
}
