//! Depthwise convolution: every channel has a window of its own. Packed weights are `[live tap][channel]`.

use super::taps::Taps;
use crate::isa::vector_versions;
use crate::simd::Vector;

/// Pixels that are summed side by side.
const SIDE_BY_SIDE: usize = 4;
/// Taps of one window at most.
const MAX_TAPS: usize = 192;
/// Taps whose gradients are summed side by side.
const TAPS: usize = 9;
/// Pixels whose pointers are looked up at a time.
const PIXELS: usize = 128;

/// Weights `[channel, window]` in the order of the kernels.
pub(super) fn pack(live: &[usize], window: usize, channels: usize, w: &[f32], packed: &mut [f32]) {
    for (&tap, row) in live.iter().zip(packed.chunks_exact_mut(channels.max(1))) {
        for (packed, w) in row.iter_mut().zip(w.chunks_exact(window)) {
            *packed = w[tap];
        }
    }
}

/// The inverse of [`pack`]; taps that nothing reads are zero.
pub(super) fn unpack(live: &[usize], window: usize, packed: &[f32], dw: &mut [f32]) {
    dw.fill(0.0);
    let channels = dw.len() / window.max(1);
    for (&tap, row) in live.iter().zip(packed.chunks_exact(channels.max(1))) {
        for (&packed, dw) in row.iter().zip(dw.chunks_exact_mut(window)) {
            dw[tap] = packed;
        }
    }
}

/// `y[target pixel] = clamp(bias + Σ x[source pixel of the tap] · w[tap])`, channel by channel.
pub(super) fn product(
    taps: &Taps,
    channels: usize,
    x: &[f32],
    packed: &[f32],
    bias: Option<&[f32]>,
    clamp: Option<(f32, f32)>,
    y: &mut [f32],
) {
    let n = taps.live.len();
    assert!(
        n <= MAX_TAPS
            && packed.len() >= n * channels
            && bias.is_none_or(|bias| bias.len() >= channels)
            && y.len() >= taps.pixels() * channels,
        "conv: operands too short"
    );
    let mut reads = [Read {
        x: std::ptr::null(),
        w: std::ptr::null(),
    }; MAX_TAPS];
    for run in taps.runs() {
        let mut count = 0;
        let last = (run.len - 1) * run.source_step;
        taps.for_each_source(run.first, |tap, pixel| {
            if let Some(pixel) = pixel {
                let source = &x[pixel * channels..(pixel + last + 1) * channels];
                reads[count] = Read {
                    x: source.as_ptr(),
                    w: packed[tap * channels..][..channels].as_ptr(),
                };
                count += 1;
            }
        });
        let first = taps.target(run.first);
        let target = &mut y[first * channels..];
        assert!(
            target.len() >= ((run.len - 1) * run.target_step + 1) * channels,
            "conv: output too short"
        );
        let windows = Windows {
            reads: reads.as_ptr(),
            count,
            source_step: run.source_step * channels,
            target_step: run.target_step * channels,
            channels,
            bias: bias.map_or(std::ptr::null(), <[f32]>::as_ptr),
            clamp,
            y: target.as_mut_ptr(),
        };
        // SAFETY: the sources of the first and the last pixel lie inside the input, so do those between; the weights and
        // the bias have `channels` floats, and the target was checked.
        unsafe { all_pixels(windows, run.len) };
    }
}

/// One tap: its source for the first pixel of a run, and its weights.
#[derive(Clone, Copy)]
struct Read {
    x: *const f32,
    w: *const f32,
}

/// Target pixels at fixed distances that read through the same taps.
#[derive(Clone, Copy)]
struct Windows {
    reads: *const Read,
    count: usize,
    /// Floats from one pixel to the next.
    source_step: usize,
    target_step: usize,
    channels: usize,
    /// Null without a bias.
    bias: *const f32,
    clamp: Option<(f32, f32)>,
    y: *mut f32,
}

vector_versions! {
    unsafe fn all_pixels<V>(windows: Windows, pixels: usize) {
        let mut at = 0;
        while at + SIDE_BY_SIDE <= pixels {
            all_channels::<V, SIDE_BY_SIDE>(&windows, at);
            at += SIDE_BY_SIDE;
        }
        while at < pixels {
            all_channels::<V, 1>(&windows, at);
            at += 1;
        }
    }
}

/// P neighbouring pixels, two vectors of channels at a time.
#[inline(always)]
unsafe fn all_channels<V: Vector, const P: usize>(w: &Windows, at: usize) {
    // SAFETY: the caller's windows have these pixels and channels.
    unsafe {
        let full = V::mask(V::LANES);
        let mut from = 0;
        while from + 2 * V::LANES <= w.channels {
            some_channels::<V, P, 2>(w, at, from, full);
            from += 2 * V::LANES;
        }
        while from < w.channels {
            let mask = V::mask(V::LANES.min(w.channels - from));
            some_channels::<V, P, 1>(w, at, from, mask);
            from += V::LANES;
        }
    }
}

/// P pixels × NV vectors of channels from `from` on; the mask is that of the last.
#[inline(always)]
unsafe fn some_channels<V: Vector, const P: usize, const NV: usize>(
    w: &Windows,
    at: usize,
    from: usize,
    mask: V::Mask,
) {
    // SAFETY: as above.
    unsafe {
        let load = |p: *const f32, j: usize| {
            let at = p.add(from + j * V::LANES);
            if NV == 1 {
                V::load_masked(at, mask)
            } else {
                V::load(at)
            }
        };
        let mut acc = [[V::splat(0.0); NV]; P];
        if !w.bias.is_null() {
            for (j, bias) in (0..NV).map(|j| (j, load(w.bias, j))) {
                for acc in &mut acc {
                    acc[j] = bias;
                }
            }
        }
        for k in 0..w.count {
            let read = *w.reads.add(k);
            let source = read.x.add(at * w.source_step);
            for j in 0..NV {
                let weight = load(read.w, j);
                for (p, acc) in acc.iter_mut().enumerate() {
                    acc[j] = load(source.add(p * w.source_step), j).fma(weight, acc[j]);
                }
            }
        }
        for (p, acc) in acc.into_iter().enumerate() {
            for (j, mut acc) in acc.into_iter().enumerate() {
                if let Some((low, high)) = w.clamp {
                    acc = acc.clamp(V::splat(low), V::splat(high));
                }
                let y = w.y.add((at + p) * w.target_step + from + j * V::LANES);
                if NV == 1 {
                    acc.store_masked(y, mask);
                } else {
                    acc.store(y);
                }
            }
        }
    }
}

/// Adds up the packed gradient, which is overwritten: `dw[tap] = Σ x[source pixel of the tap] · dy[target pixel]`. Scratch
/// holds a row of zeros.
pub(super) fn gradient(
    taps: &Taps,
    channels: usize,
    x: &[f32],
    dy: &[f32],
    packed: &mut [f32],
    scratch: &mut [f32],
) {
    let zeros = &mut scratch[..channels];
    zeros.fill(0.0);
    let packed = &mut packed[..taps.live.len() * channels];
    packed.fill(0.0);
    let mut sources = [[zeros.as_ptr(); TAPS]; PIXELS];
    let mut targets = [zeros.as_ptr(); PIXELS];
    for from in (0..taps.pixels()).step_by(PIXELS) {
        let count = PIXELS.min(taps.pixels() - from);
        for first in (0..taps.live.len()).step_by(TAPS) {
            for at in 0..count {
                let place = taps.place(from + at);
                targets[at] = dy[taps.target(from + at) * channels..][..channels].as_ptr();
                for (tap, source) in sources[at].iter_mut().enumerate() {
                    let pixel = if first + tap < taps.live.len() {
                        taps.source(place, first + tap)
                    } else {
                        None
                    };
                    *source = pixel.map_or(zeros.as_ptr(), |pixel| {
                        x[pixel * channels..][..channels].as_ptr()
                    });
                }
            }
            let rows = &mut packed[first * channels..];
            let sums = Sums {
                sources: sources.as_ptr(),
                targets: targets.as_ptr(),
                count,
                taps: TAPS.min(taps.live.len() - first),
                channels,
                dw: rows.as_mut_ptr(),
            };
            // SAFETY: every source and target has `channels` floats, and so has every row of the packed gradient.
            unsafe { sum_pixels(sums) };
        }
    }
}

/// Some taps over a block of pixels.
#[derive(Clone, Copy)]
struct Sums {
    sources: *const [*const f32; TAPS],
    targets: *const *const f32,
    count: usize,
    taps: usize,
    channels: usize,
    dw: *mut f32,
}

vector_versions! {
    unsafe fn sum_pixels<V>(s: Sums) {
        for from in (0..s.channels).step_by(V::LANES) {
            let mask = V::mask(V::LANES.min(s.channels - from));
            let mut acc = [V::splat(0.0); TAPS];
            for at in 0..s.count {
                let dy = V::load_masked((*s.targets.add(at)).add(from), mask);
                let sources = &*s.sources.add(at);
                for (acc, source) in acc.iter_mut().zip(sources) {
                    *acc = V::load_masked(source.add(from), mask).fma(dy, *acc);
                }
            }
            for (tap, acc) in acc.into_iter().enumerate().take(s.taps) {
                let at = s.dw.add(tap * s.channels + from);
                V::load_masked(at, mask).add(acc).store_masked(at, mask);
            }
        }
    }
}
