//! Every pooling against its definition in `f64`.

use super::*;
use crate::isa::testing::on_every_isa;
use crate::testing::{assert_close, noise};

fn shape(
    planes: usize,
    input: [usize; 2],
    kernel: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
) -> PoolShape {
    let [kernel, stride, padding, dilation] = [kernel, stride, padding, dilation].map(|n| [n; 2]);
    PoolShape {
        planes,
        channels: 1,
        input,
        kernel,
        stride,
        padding,
        dilation,
        overhang: [0; 2],
    }
}

/// The positions of each output's window inside the input, flat, in row-major order.
fn windows(s: &PoolShape) -> Vec<Vec<usize>> {
    let ([h, w], [oh, ow]) = (s.input, s.output());
    let mut out = vec![];
    for (plane, oy, ox) in
        (0..s.planes).flat_map(|p| (0..oh).flat_map(move |y| (0..ow).map(move |x| (p, y, x))))
    {
        let mut window = vec![];
        for (ky, kx) in (0..s.kernel[0]).flat_map(|y| (0..s.kernel[1]).map(move |x| (y, x))) {
            let y = (oy * s.stride[0] + ky * s.dilation[0]).wrapping_sub(s.padding[0]);
            let x = (ox * s.stride[1] + kx * s.dilation[1]).wrapping_sub(s.padding[1]);
            if y < h && x < w {
                window.push((plane * h + y) * w + x);
            }
        }
        out.push(window);
    }
    out
}

fn adaptive_windows(planes: usize, input: [usize; 2], output: [usize; 2]) -> Vec<Vec<usize>> {
    let range = |axis: usize, o: usize| {
        let (n, m) = (input[axis] as f64, output[axis] as f64);
        (o as f64 * n / m).floor() as usize..((o + 1) as f64 * n / m).ceil() as usize
    };
    let mut out = vec![];
    for (plane, oy, ox) in (0..planes)
        .flat_map(|p| (0..output[0]).flat_map(move |y| (0..output[1]).map(move |x| (p, y, x))))
    {
        let cells = range(0, oy)
            .flat_map(|y| range(1, ox).map(move |x| (plane * input[0] + y) * input[1] + x));
        out.push(cells.collect());
    }
    out
}

/// Coarse values, so that windows have ties.
fn coarse(n: usize, seed: u64) -> Vec<f32> {
    noise(n, seed).iter().map(|x| (x * 4.0).round()).collect()
}

fn first_maximum(x: &[f32], window: &[usize]) -> usize {
    window
        .iter()
        .copied()
        .reduce(|best, i| if x[i] > x[best] { i } else { best })
        .unwrap()
}

fn means(x: &[f32], windows: &[Vec<usize>], divisor: impl Fn(&[usize]) -> usize) -> Vec<f64> {
    windows
        .iter()
        .map(|w| w.iter().map(|&i| f64::from(x[i])).sum::<f64>() / divisor(w) as f64)
        .collect()
}

fn shares(
    len: usize,
    dy: &[f32],
    windows: &[Vec<usize>],
    divisor: impl Fn(&[usize]) -> usize,
) -> Vec<f64> {
    let mut dx = vec![0.0; len];
    for (w, &dy) in windows.iter().zip(dy) {
        for &i in w {
            dx[i] += f64::from(dy) / divisor(w) as f64;
        }
    }
    dx
}

fn to_winners(x: &[f32], dy: &[f32], windows: &[Vec<usize>]) -> Vec<f64> {
    let mut dx = vec![0.0; x.len()];
    for (w, &dy) in windows.iter().zip(dy) {
        dx[first_maximum(x, w)] += f64::from(dy);
    }
    dx
}

fn shapes() -> Vec<PoolShape> {
    let mut all = vec![
        shape(2, [7, 9], 3, 2, 1, 1),
        shape(1, [9, 9], 3, 1, 1, 2),
        shape(3, [6, 6], 3, 3, 0, 1),
        shape(2, [1, 1], 1, 1, 0, 1),
        shape(0, [4, 4], 2, 2, 0, 1),
        PoolShape {
            kernel: [1, 3],
            stride: [1, 2],
            padding: [0, 1],
            ..shape(4, [1, 20], 1, 1, 0, 1)
        },
        PoolShape {
            overhang: [1, 2],
            ..shape(2, [6, 7], 3, 2, 0, 1)
        },
    ];
    for width in [2, 3, 10, 14, 16, 28, 31, 32, 33, 34, 66, 70] {
        all.push(shape(2, [5, width], 2, 2, 0, 1));
        all.push(shape(3, [4, width], 2, 2, 0, 1));
    }
    all
}

/// The smallest reach beyond the padding that makes an output.
#[test]
fn an_overhang_is_just_enough_for_its_output() {
    for (s, output, overhang) in [
        (shape(1, [6, 6], 3, 2, 0, 1), [2, 3], [0, 1]),
        (shape(1, [6, 7], 2, 2, 0, 1), [3, 4], [0, 1]),
        (shape(1, [5, 5], 3, 2, 1, 1), [3, 4], [0, 2]),
        (shape(1, [5, 9], 3, 3, 0, 2), [2, 3], [3, 2]),
        (shape(1, [4, 4], 3, 1, 0, 1), [0, 2], [0, 0]),
    ] {
        assert_eq!(s.overhang_of(output), overhang, "{s:?} {output:?}");
        for axis in [0, 1] {
            let mut with = PoolShape { overhang, ..s };
            assert!(with.output()[axis] >= output[axis], "{with:?}");
            if overhang[axis] > 0 {
                with.overhang[axis] -= 1;
                assert!(with.output()[axis] < output[axis], "{with:?}");
            }
        }
    }
}

#[test]
fn maxima_and_their_gradients() {
    on_every_isa(|isa| {
        for s in shapes() {
            let windows = windows(&s);
            let x = coarse(s.planes * s.input[0] * s.input[1], 1);
            let dy = noise(windows.len(), 2);
            let (mut y, mut dx) = (vec![9.0; dy.len()], vec![9.0; x.len()]);
            max_pool_forward(&s, &x, &mut y);
            for (w, &y) in windows.iter().zip(&y) {
                assert_eq!(y, x[first_maximum(&x, w)], "{isa:?} {s:?}");
            }
            max_pool_backward(&s, &x, &y, &dy, &mut dx);
            assert_close(
                &dx,
                &to_winners(&x, &dy, &windows),
                1e-6,
                &format!("{isa:?} {s:?}"),
            );
        }
    });
}

#[test]
fn means_and_their_gradients() {
    on_every_isa(|isa| {
        for s in shapes() {
            for include in [false, true] {
                let windows = windows(&s);
                let divisor = |w: &[usize]| {
                    if include && s.overhang == [0, 0] {
                        s.kernel[0] * s.kernel[1]
                    } else {
                        w.len()
                    }
                };
                let x = noise(s.planes * s.input[0] * s.input[1], 1);
                let dy = noise(windows.len(), 2);
                let (mut y, mut dx) = (vec![9.0; dy.len()], vec![9.0; x.len()]);
                avg_pool_forward(&s, include, &x, &mut y);
                assert_close(
                    &y,
                    &means(&x, &windows, divisor),
                    1e-6,
                    &format!("{isa:?} {s:?}"),
                );
                avg_pool_backward(&s, include, &dy, &mut dx);
                assert_close(
                    &dx,
                    &shares(x.len(), &dy, &windows, divisor),
                    1e-6,
                    &format!("{isa:?} {s:?}"),
                );
            }
        }
    });
}

#[test]
fn adaptive_windows_cover_the_input() {
    on_every_isa(|isa| {
        for (input, output) in [
            ([5, 7], [1, 1]),
            ([5, 7], [2, 3]),
            ([6, 6], [3, 3]),
            ([3, 4], [5, 2]),
            ([1, 9], [1, 4]),
        ] {
            let windows = adaptive_windows(2, input, output);
            let shape = AdaptiveShape {
                planes: 2,
                channels: 1,
                input,
                output,
            };
            let x = coarse(2 * input[0] * input[1], 1);
            let dy = noise(windows.len(), 2);
            let (mut y, mut dx) = (vec![9.0; dy.len()], vec![9.0; x.len()]);
            let what = format!("{isa:?} {input:?} {output:?}");
            adaptive_avg_forward(&shape, &x, &mut y);
            assert_close(&y, &means(&x, &windows, <[usize]>::len), 1e-6, &what);
            adaptive_avg_backward(&shape, &dy, &mut dx);
            assert_close(
                &dx,
                &shares(x.len(), &dy, &windows, <[usize]>::len),
                1e-6,
                &what,
            );
            adaptive_max_forward(&shape, &x, &mut y);
            assert!(
                windows
                    .iter()
                    .zip(&y)
                    .all(|(w, &y)| y == x[first_maximum(&x, w)]),
                "{what}"
            );
            adaptive_max_backward(&shape, &x, &y, &dy, &mut dx);
            assert_close(&dx, &to_winners(&x, &dy, &windows), 1e-6, &what);
        }
    });
}

#[test]
fn nan_wins_every_maximum() {
    on_every_isa(|_| {
        for s in [shape(1, [4, 40], 2, 2, 0, 1), shape(1, [4, 40], 2, 1, 0, 1)] {
            for (w, window) in windows(&s).iter().enumerate() {
                for &i in window {
                    let mut x = noise(160, 1);
                    x[i] = f32::NAN;
                    let mut y = vec![0.0; windows(&s).len()];
                    max_pool_forward(&s, &x, &mut y);
                    assert!(y[w].is_nan());
                }
            }
        }
    });
}

/// Planes of channels as pixels of channels.
fn as_pixels(x: &[f32], channels: usize, plane: usize) -> Vec<f32> {
    let images = x.chunks_exact((channels * plane).max(1));
    let pixels =
        images.flat_map(|x| (0..plane * channels).map(|i| x[i % channels * plane + i / channels]));
    pixels.collect()
}

#[test]
fn pixels_of_several_channels_pool_as_planes_do() {
    let (images, channels) = (2, 37);
    on_every_isa(|isa| {
        for s in shapes().into_iter().filter(|s| s.planes > 0) {
            let planes = PoolShape {
                planes: images * channels,
                ..s
            };
            let pixels = PoolShape {
                planes: images,
                channels,
                ..s
            };
            let [input, output] = [s.input, s.output()].map(|[h, w]| h * w);
            let x = coarse(planes.planes * input, 1);
            let dy = noise(planes.planes * output, 2);
            let turned = |x: &[f32], plane: usize| as_pixels(x, channels, plane);
            let (x_pixels, dy_pixels) = (turned(&x, input), turned(&dy, output));
            let (mut y, mut dx) = (vec![9.0; dy.len()], vec![9.0; x.len()]);
            let (mut got, mut got_dx) = (y.clone(), dx.clone());
            let what = format!("{isa:?} {s:?}");
            let close = |got: &[f32], want: &[f32], plane: usize| {
                let want: Vec<f64> = turned(want, plane).into_iter().map(f64::from).collect();
                assert_close(got, &want, 1e-6, &what);
            };
            max_pool_forward(&planes, &x, &mut y);
            max_pool_forward(&pixels, &x_pixels, &mut got);
            assert_eq!(got, turned(&y, output), "{what}");
            max_pool_backward(&planes, &x, &y, &dy, &mut dx);
            max_pool_backward(&pixels, &x_pixels, &got, &dy_pixels, &mut got_dx);
            close(&got_dx, &dx, input);
            for include in [false, true] {
                avg_pool_forward(&planes, include, &x, &mut y);
                avg_pool_forward(&pixels, include, &x_pixels, &mut got);
                close(&got, &y, output);
                avg_pool_backward(&planes, include, &dy, &mut dx);
                avg_pool_backward(&pixels, include, &dy_pixels, &mut got_dx);
                close(&got_dx, &dx, input);
            }
        }
    });
}
