//! Prints what the kernels reach on this machine, for each instruction set: `cargo run --release --example rates`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use kernels::batch_norm::{self, ChannelLayout};
use kernels::conv::{ConvShape, conv_backward_data, conv_backward_weight, conv_forward};
use kernels::gemm::{Init, gemm, transpose};
use kernels::int_gemm::{LeftRows, Places, Starts, gemm_int, gemm_rows, gemm_rows_narrow};
use kernels::nhwc::{NhwcConv, WinogradConv};
use kernels::optimizer::{AdamStep, adam};
use kernels::pool::{PoolShape, max_pool_backward, max_pool_forward};
use kernels::requantize::{Rescale, rescale_once};
use kernels::softmax::cross_entropy;
use kernels::{Isa, force};
use std::hint::black_box;

/// Nanoseconds of one call on the CPU: the fastest of several short runs.
fn time(mut f: impl FnMut()) -> f64 {
    let mut calls = 1u32;
    let mut best = f64::INFINITY;
    let mut spent = 0.0;
    let mut runs = 0;
    while spent < 60e6 || runs < 4 {
        let start = cpu_nanoseconds();
        (0..calls).for_each(|_| f());
        let elapsed = cpu_nanoseconds() - start;
        best = best.min(elapsed / f64::from(calls));
        if elapsed < 1e6 {
            calls *= 2;
        }
        spent += elapsed;
        runs += 1;
    }
    best
}

/// Time on the CPU and not of the clock, as other work may share the machine.
fn cpu_nanoseconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// One line: `work` operations in the time of `f`.
fn line(name: &str, work: usize, unit: &str, f: impl FnMut()) {
    let ns = time(f);
    println!(
        "  {name:<44} {:>9.2} µs {:>8.1} {unit}",
        ns / 1e3,
        work as f64 / ns
    );
}

fn floats(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0)
        .collect()
}

fn product(name: &str, [m, k, n]: [usize; 3], [a_row, a_col]: [usize; 2]) {
    let (a, b, mut c) = (floats(m * k), floats(k * n), floats(m * n));
    line(name, 2 * m * k * n, "GFLOP/s", || {
        gemm(
            m,
            k,
            n,
            &a,
            a_row,
            a_col,
            &b,
            n,
            black_box(&mut c),
            n,
            Init::Zero,
        );
    });
}

fn products() {
    for (m, k, n) in [
        (256, 16, 64),
        (256, 64, 32),
        (256, 32, 32),
        (256, 32, 5),
        (64, 400, 120),
        (256, 256, 256),
        (512, 512, 512),
        (1000, 1000, 1000),
    ] {
        product(&format!("gemm {m}×{k}×{n}"), [m, k, n], [k, 1]);
    }
    for (m, k, n) in [
        (16, 256, 64),
        (64, 256, 32),
        (32, 256, 32),
        (32, 256, 5),
        (400, 64, 120),
        (512, 512, 512),
    ] {
        let name = format!("gemm {m}×{k}×{n}, A transposed");
        product(&name, [m, k, n], [1, m]);
    }
    for (m, n) in [(64, 32), (512, 512)] {
        let (a, mut c) = (floats(m * n), floats(m * n));
        line(&format!("transpose {m}×{n}"), 8 * m * n, "GB/s", || {
            transpose(m, n, &a, n, black_box(&mut c), m);
        });
    }
}

fn integers() {
    for (m, k, n) in [(256, 64, 32), (256, 32, 32), (256, 256, 256)] {
        let (a, b) = (vec![77u8; m * k], vec![-33i8; k * n]);
        let signed = vec![77i8; m * k];
        let (mut c, mut out) = (vec![0i32; m * n], vec![0u8; m * n]);
        let rescale = Rescale::new(vec![1.0 / 128.0; 64], vec![0.0; 64], (0.0, 255.0));
        line(
            &format!("u8·i8 {m}×{k}×{n}"),
            2 * m * k * n,
            "Gop/s",
            || {
                gemm_int::<u8>(m, k, n, &a, &b, None, black_box(&mut c), n);
            },
        );
        line(
            &format!("i8·i8 {m}×{k}×{n}"),
            2 * m * k * n,
            "Gop/s",
            || {
                gemm_int::<i8>(m, k, n, &signed, &b, None, black_box(&mut c), n);
            },
        );
        line(
            &format!("u8·i8 {m}×{k}×{n} and requantize"),
            2 * m * k * n,
            "Gop/s",
            || {
                gemm_int::<u8>(m, k, n, &a, &b, None, &mut c, n);
                rescale_once(&c, &rescale, black_box(&mut out));
            },
        );
        let small = vec![-7i8; k * n];
        line(
            &format!("u8·i4 {m}×{k}×{n}"),
            2 * m * k * n,
            "Gop/s",
            || {
                let rows = LeftRows::dense(m, k, &a);
                gemm_rows_narrow(&rows, n, &small, [255, 8], None, black_box(&mut c), n);
            },
        );
        let (wide_a, wide_b) = (vec![77i16; m * k], vec![-33i16; k * n]);
        line(
            &format!("i16·i16 {m}×{k}×{n}"),
            2 * m * k * n,
            "Gop/s",
            || {
                gemm_int::<i16>(m, k, n, &wide_a, &wide_b, None, black_box(&mut c), n);
            },
        );
    }
    // The windows of a picture of pixels, where they lie.
    for (side, channels, kernel, n) in [(32, 1, 5, 6), (14, 6, 5, 16), (16, 64, 3, 64)] {
        let (out, run) = (side - kernel + 1, kernel * channels);
        let runs: Vec<usize> = (0..kernel).map(|r| r * side * channels).collect();
        let starts: Vec<usize> = (0..out * out)
            .map(|at| (at / out * side + at % out) * channels)
            .collect();
        let places = Places::new(starts);
        let elements = vec![77i16; side * side * channels + 1];
        let weights = vec![-33i16; kernel * run.next_multiple_of(2) * n];
        let rows = LeftRows {
            elements: &elements,
            starts: Starts::At(&places, 0, out * out),
            runs: &runs,
            run,
        };
        let mut c = vec![0i32; out * out * n];
        line(
            &format!("i16·i16 windows {kernel}×{kernel}, {channels} to {n}, {out}×{out}"),
            2 * out * out * kernel * run * n,
            "Gop/s",
            || gemm_rows(&rows, n, &weights, None, black_box(&mut c), n),
        );
    }
}

fn convolutions() {
    let lenet = |in_channels, out_channels, size, padding| ConvShape {
        batch: 64,
        in_channels,
        out_channels,
        groups: 1,
        input: [size; 2],
        kernel: [5; 2],
        stride: [1; 2],
        padding: [padding; 2],
        dilation: [1; 2],
    };
    for s in [lenet(1, 6, 28, 2), lenet(6, 16, 14, 0)] {
        let (x, w, bias) = (
            floats(s.input_len()),
            floats(s.weight_len()),
            floats(s.out_channels),
        );
        let (mut y, mut dx, mut dw) = (floats(s.output_len()), x.clone(), w.clone());
        let (dy, mut scratch) = (floats(s.output_len()), vec![0.0; s.scratch_len()]);
        let work = 2 * s.output_len() * s.weight_len() / s.out_channels;
        let name = |what: &str| format!("conv {}→{} {what}", s.in_channels, s.out_channels);
        line(&name("forward"), work, "GFLOP/s", || {
            conv_forward(&s, &x, &w, Some(&bias), black_box(&mut y), &mut scratch);
        });
        line(&name("backward data"), work, "GFLOP/s", || {
            conv_backward_data(&s, &dy, &w, black_box(&mut dx), &mut scratch);
        });
        line(&name("backward weight"), work, "GFLOP/s", || {
            conv_backward_weight(&s, &x, &dy, black_box(&mut dw), None, &mut scratch);
        });
    }
    let s = PoolShape {
        planes: 64 * 6,
        channels: 1,
        input: [28; 2],
        kernel: [2; 2],
        stride: [2; 2],
        padding: [0; 2],
        dilation: [1; 2],
        overhang: [0; 2],
    };
    let x = floats(s.planes * 28 * 28);
    let (mut y, dy, mut dx) = (vec![0.0; x.len() / 4], floats(x.len() / 4), x.clone());
    line("max pool 2×2 forward", 5 * x.len(), "GB/s", || {
        max_pool_forward(&s, &x, black_box(&mut y));
    });
    line("max pool 2×2 backward", 10 * x.len(), "GB/s", || {
        max_pool_backward(&s, &x, &y, &dy, black_box(&mut dx));
    });
}

/// A convolution on pixels of channels, forward and both gradients, and by minimal filtering where it has that form.
fn pixels(batch: usize, [from, to]: [usize; 2], side: usize, kernel: usize, groups: usize) {
    let shape = ConvShape {
        batch,
        in_channels: from,
        out_channels: to,
        groups,
        input: [side; 2],
        kernel: [kernel; 2],
        stride: [1; 2],
        padding: [kernel / 2; 2],
        dilation: [1; 2],
    };
    let Some(conv) = NhwcConv::new(shape) else {
        return;
    };
    let work = 2 * shape.output_len() * shape.weight_len() / to;
    let name =
        |what: &str| format!("{kernel}×{kernel}, {from} to {to}, {batch}×{side}×{side} {what}");
    let (x, w, dy) = (
        floats(shape.input_len()),
        floats(shape.weight_len()),
        floats(shape.output_len()),
    );
    let (mut y, mut dx, mut dw) = (dy.clone(), x.clone(), w.clone());
    let mut scratch = vec![0.0; conv.forward_scratch_len().max(conv.backward_scratch_len())];
    let mut packed = vec![0.0; conv.packed_len()];
    conv.pack(&w, &mut packed);
    line(&name("forward"), work, "GFLOP/s", || {
        conv.forward(&x, &packed, None, None, black_box(&mut y), &mut scratch);
    });
    let mut adjoint = vec![0.0; conv.packed_adjoint_len()];
    conv.pack_adjoint(&w, &mut adjoint);
    line(&name("backward data"), work, "GFLOP/s", || {
        conv.backward_data(&dy, &adjoint, black_box(&mut dx), &mut scratch);
    });
    line(&name("backward weight"), work, "GFLOP/s", || {
        conv.backward_weight(&x, &dy, black_box(&mut dw), None, &mut scratch);
    });
    if let Some(minimal) = WinogradConv::new(shape) {
        let mut packed = vec![0.0; minimal.packed_len()];
        let mut scratch = vec![0.0; minimal.scratch_len()];
        minimal.pack(&w, &mut packed);
        line(&name("minimal"), work, "GFLOP/s", || {
            minimal.forward(&x, &packed, None, None, black_box(&mut y), &mut scratch);
        });
    }
}

fn convolutions_on_pixels() {
    pixels(16, [64, 64], 56, 3, 1);
    pixels(16, [128, 128], 28, 3, 1);
    pixels(16, [256, 256], 14, 3, 1);
    pixels(16, [512, 512], 7, 3, 1);
    pixels(32, [512, 512], 2, 3, 1);
    pixels(16, [256, 256], 2, 3, 1);
    pixels(16, [128, 128], 4, 3, 1);
    pixels(16, [24, 144], 56, 1, 1);
    pixels(16, [144, 24], 56, 1, 1);
    pixels(16, [96, 576], 14, 1, 1);
    pixels(16, [320, 1280], 7, 1, 1);
    pixels(16, [144, 144], 56, 3, 144);
    pixels(16, [576, 576], 14, 3, 576);
}

fn norms_and_losses() {
    for (batch, channels, inner) in [(256, 16, 1), (256, 64, 1), (64, 16, 784)] {
        let l = ChannelLayout {
            batch,
            channels,
            inner,
        };
        let (x, mut y) = (floats(l.len()), floats(l.len()));
        let [mut a, mut b, c] = [(); 3].map(|()| floats(channels));
        let name = |what: &str| format!("batch norm {batch}×{channels}×{inner} {what}");
        line(&name("moments"), 4 * l.len(), "GB/s", || {
            batch_norm::moments(&l, &x, &mut a, black_box(&mut b));
        });
        line(&name("affine, ReLU"), 8 * l.len(), "GB/s", || {
            batch_norm::affine_relu(&l, &x, &c, &c, black_box(&mut y));
        });
        line(&name("backward sums"), 8 * l.len(), "GB/s", || {
            batch_norm::backward_sums(&l, &x, &y, &c, &c, &mut a, black_box(&mut b));
        });
        let mut dx = floats(l.len());
        line(&name("backward dx"), 12 * l.len(), "GB/s", || {
            batch_norm::backward_dx(&l, &x, &y, [&c; 3], black_box(&mut dx));
        });
    }
    for classes in [5, 10, 1000] {
        let (logits, labels) = (floats(256 * classes), vec![1; 256]);
        let mut d = logits.clone();
        line(
            &format!("cross-entropy 256×{classes}"),
            256_000,
            "Mrow/s",
            || {
                black_box(cross_entropy(classes, &logits, &labels, Some(&mut d), 0.1));
            },
        );
    }
    let n = 4000;
    let (mut p, g, mut m, mut v) = (floats(n), floats(n), vec![0.0; n], vec![0.0; n]);
    let step = AdamStep {
        step_size: 1e-3,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        bias2_sqrt: 0.5,
        weight_decay: 0.0,
        decoupled_decay: 0.0,
    };
    line("adam, 4000 parameters", n, "Gparam/s", || {
        adam(black_box(&mut p), &g, &mut m, &mut v, step);
    });
}

fn main() {
    for isa in Isa::ALL {
        if force(Some(isa)) == isa {
            println!("{isa:?}");
            products();
            integers();
            convolutions();
            convolutions_on_pixels();
            norms_and_losses();
        }
    }
}
