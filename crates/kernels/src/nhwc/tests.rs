//! The three kernels against the definition in `f64`, over edge shapes and random ones.

use super::{NhwcConv, WinogradConv};
use crate::conv::ConvShape;
use crate::conv::tests::{for_each_product, square};
use crate::isa::testing::on_every_isa;
use crate::testing::{assert_close, noise};
use proptest::prelude::*;

/// Planes of channels as pixels of channels.
fn channels_last<T: Copy>(x: &[T], channels: usize, plane: usize) -> Vec<T> {
    let images = x.chunks_exact((channels * plane).max(1));
    let pixels = images.flat_map(|image| {
        (0..plane * channels).map(|at| image[at % channels * plane + at / channels])
    });
    pixels.collect()
}

fn check(s: &ConvShape) {
    let Some(conv) = NhwcConv::new(*s) else {
        return;
    };
    let (x, w) = (noise(s.input_len(), 1), noise(s.weight_len(), 2));
    let (dy, bias) = (noise(s.output_len(), 3), noise(s.out_channels, 4));
    let [inputs, outputs] = [s.input, s.output()].map(|[h, w]| h * w);
    let mut y: Vec<f64> = (0..dy.len())
        .map(|i| f64::from(bias[i / outputs % s.out_channels]))
        .collect();
    let (mut dx, mut dw) = (vec![0.0; x.len()], vec![0.0; w.len()]);
    let mut db = vec![0.0; s.out_channels];
    for_each_product(s, |i, p, o| {
        y[o] += f64::from(x[i]) * f64::from(w[p]);
        dx[i] += f64::from(dy[o]) * f64::from(w[p]);
        dw[p] += f64::from(dy[o]) * f64::from(x[i]);
    });
    for (i, &dy) in dy.iter().enumerate() {
        db[i / outputs % s.out_channels] += f64::from(dy);
    }
    let of_input = |x: &[f32]| channels_last(x, s.in_channels, inputs);
    let of_output = |y: &[f64]| channels_last(y, s.out_channels, outputs);
    let (x, dx) = (of_input(&x), channels_last(&dx, s.in_channels, inputs));
    let dy = channels_last(&dy, s.out_channels, outputs);
    // Errors grow with the root of the number of products.
    let error = |products: usize| 1e-6 * (products as f64).sqrt().max(10.0);
    let depth = s.in_channels / s.groups * s.kernel[0] * s.kernel[1];
    let adjoint_depth = s.out_channels / s.groups * s.kernel[0] * s.kernel[1];
    let clamped: Vec<f64> = y.iter().map(|y| y.clamp(-0.5, 0.75)).collect();
    on_every_isa(|isa| {
        let what = |name: &str| format!("{name} {isa:?} {s:?}");
        // Scratch starts as NaN: nothing may be read before it is written.
        let mut scratch = vec![f32::NAN; conv.forward_scratch_len()];
        let mut packed = vec![f32::NAN; conv.packed_len()];
        conv.pack(&w, &mut packed);
        for (clamp, want) in [(None, &y), (Some((-0.5, 0.75)), &clamped)] {
            let mut got = vec![9.0; dy.len()];
            conv.forward(&x, &packed, Some(&bias), clamp, &mut got, &mut scratch);
            assert_close(&got, &of_output(want), error(depth), &what("y"));
        }
        if let Some(conv) = WinogradConv::new(*s) {
            let mut scratch = vec![f32::NAN; conv.scratch_len()];
            let mut packed = vec![f32::NAN; conv.packed_len()];
            conv.pack(&w, &mut packed);
            for (clamp, want) in [(None, &y), (Some((-0.5, 0.75)), &clamped)] {
                let mut got = vec![9.0; dy.len()];
                conv.forward(&x, &packed, Some(&bias), clamp, &mut got, &mut scratch);
                assert_close(
                    &got,
                    &of_output(want),
                    3.0 * error(depth),
                    &what("filtered y"),
                );
            }
            if let Some(adjoint) = conv.adjoint() {
                let mut scratch = vec![f32::NAN; adjoint.scratch_len()];
                let mut packed = vec![f32::NAN; adjoint.packed_len()];
                adjoint.pack_flipped(&w, &mut packed);
                let mut got = vec![9.0; x.len()];
                adjoint.forward(&dy, &packed, None, None, &mut got, &mut scratch);
                let error = 3.0 * error(adjoint_depth);
                assert_close(&got, &dx, error, &what("filtered dx"));
            }
        }
        let mut scratch = vec![f32::NAN; conv.backward_scratch_len()];
        let mut packed = vec![f32::NAN; conv.packed_adjoint_len()];
        conv.pack_adjoint(&w, &mut packed);
        let mut got = vec![9.0; x.len()];
        conv.backward_data(&dy, &packed, &mut got, &mut scratch);
        assert_close(&got, &dx, error(adjoint_depth), &what("dx"));
        let mut scratch = vec![f32::NAN; conv.backward_scratch_len()];
        let (mut got, mut got_bias) = (vec![9.0; w.len()], vec![9.0; s.out_channels]);
        conv.backward_weight(&x, &dy, &mut got, Some(&mut got_bias), &mut scratch);
        assert_close(&got, &dw, error(s.batch * outputs), &what("dw"));
        assert_close(&got_bias, &db, error(s.batch * outputs), &what("db"));
    });
}

#[test]
fn known_networks_and_edges() {
    check(&square(3, [3, 24, 1], 19, 7, 2, 3));
    check(&square(7, [16, 40, 1], 8, 3, 1, 1));
    check(&square(5, [20, 17, 1], 4, 3, 2, 1));
    check(&square(9, [33, 8, 1], 2, 3, 1, 1));
    check(&square(16, [9, 37, 1], 2, 3, 1, 1));
    check(&square(13, [9, 31, 1], 1, 3, 1, 1));
    check(&square(13, [9, 16, 1], 2, 3, 2, 1));
    check(&square(2, [16, 24, 1], 11, 1, 1, 0));
    check(&square(2, [16, 24, 1], 11, 1, 2, 0));
    check(&square(2, [24, 24, 24], 10, 3, 1, 1));
    check(&square(2, [45, 45, 45], 9, 5, 2, 2));
    check(&square(2, [20, 20, 20], 13, 3, 1, 1));
    check(&square(2, [20, 20, 20], 21, 3, 2, 1));
    check(&square(1, [1, 1, 1], 1, 1, 1, 0));
    check(&square(2, [2, 3, 1], 5, 2, 1, 3));
}

#[test]
fn deep_windows_are_cut() {
    check(&square(1, [130, 5, 1], 4, 3, 1, 1));
    check(&square(1, [600, 18, 1], 2, 3, 1, 1));
}

#[test]
fn planes_of_several_blocks() {
    check(&square(2, [8, 8, 1], 23, 3, 1, 1));
    check(&square(40, [8, 12, 1], 6, 3, 1, 1));
}

#[test]
fn minimal_filtering_fits_odd_planes_and_several_blocks() {
    assert!(WinogradConv::new(square(1, [8, 8, 1], 9, 3, 2, 1)).is_none());
    assert!(WinogradConv::new(square(1, [8, 8, 1], 9, 5, 1, 1)).is_none());
    check(&square(3, [24, 40, 1], 9, 3, 1, 1));
    check(&square(2, [7, 19, 1], 6, 3, 1, 0));
    check(&square(1, [4, 4, 1], 5, 3, 1, 2));
    check(&square(4, [64, 64, 1], 23, 3, 1, 1));
}

#[test]
fn groups_of_several_channels_are_refused() {
    assert!(NhwcConv::new(square(1, [8, 8, 2], 4, 3, 1, 1)).is_none());
    assert!(NhwcConv::new(square(1, [4, 8, 4], 4, 3, 1, 1)).is_none());
    assert!(NhwcConv::new(square(1, [4, 8, 1], 2, 5, 1, 0)).is_none());
}

#[test]
#[should_panic(expected = "conv: 15 inputs and 16 outputs")]
fn wrong_lengths_are_named() {
    let conv = NhwcConv::new(square(1, [1, 1, 1], 4, 3, 1, 1)).expect("a plain convolution");
    let mut packed = vec![0.0; conv.packed_len()];
    conv.pack(&[0.0; 9], &mut packed);
    conv.forward(
        &[0.0; 15],
        &packed,
        None,
        None,
        &mut [0.0; 16],
        &mut [0.0; 999],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_shape_matches_the_definition(
        batch in 1usize..9, depthwise: bool, inputs in 1usize..40, outputs in 1usize..40,
        input in (1usize..12, 1usize..20), kernel in (1usize..4, 1usize..6), stride in (1usize..4, 1usize..4),
        padding in (0usize..3, 0usize..3), dilation in (1usize..3, 1usize..3),
    ) {
        check(&ConvShape {
            batch,
            in_channels: inputs,
            out_channels: if depthwise { inputs } else { outputs },
            groups: if depthwise { inputs } else { 1 },
            input: input.into(),
            kernel: kernel.into(),
            stride: stride.into(),
            padding: padding.into(),
            dilation: dilation.into(),
        });
    }
}
