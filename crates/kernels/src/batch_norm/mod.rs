//! Batch normalisation over `[batch, channels, inner]`: statistics, affine maps and the sums of its backward.
//!
//! `inner = 1` is `[N, C]`, vectorised across channels; otherwise vectors run along `inner`. Sums are `f32` per lane over
//! short blocks, folded in `f64`, in an order that depends on the layout and the level alone.

mod walk;

use crate::isa::vector_versions;
use crate::simd::Vector;
use walk::{apply, reduce};

/// Data of `batch · channels · inner` elements, row-major: NCHW with `inner = H·W`, or `[N, C]` with `inner = 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelLayout {
    /// Number of samples.
    pub batch: usize,
    /// Number of channels; statistics and parameters have one element each.
    pub channels: usize,
    /// Elements of one channel in one sample.
    pub inner: usize,
}

impl ChannelLayout {
    /// Elements in all.
    pub fn len(&self) -> usize {
        self.batch * self.channels * self.inner
    }

    /// True when there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements of one channel.
    pub fn per_channel(&self) -> usize {
        self.batch * self.inner
    }

    fn check(&self, data: &[&[f32]], parameters: &[&[f32]]) {
        for data in data {
            assert_eq!(
                data.len(),
                self.len(),
                "batch_norm: {} elements for {self:?}",
                data.len()
            );
        }
        for parameter in parameters {
            assert_eq!(
                parameter.len(),
                self.channels,
                "batch_norm: {} channel values for {self:?}",
                parameter.len()
            );
        }
    }
}

/// Mean and centred sum of squares `Σ (x − mean)²` of each channel; both zero when there are no samples.
///
/// One pass, shifted by the mean of the channel's first samples, so nothing cancels when the mean is large.
pub fn moments(l: &ChannelLayout, x: &[f32], mean: &mut [f32], m2: &mut [f32]) {
    l.check(&[x], &[mean, m2]);
    mean.fill(0.0);
    m2.fill(0.0);
    if !l.is_empty() {
        first_means(l, x, mean);
        // SAFETY: the lengths were checked above.
        unsafe { moments_vector(l, x.as_ptr(), mean.as_mut_ptr(), m2.as_mut_ptr()) }
    }
}

/// `y = x · scale[c] + shift[c]`.
pub fn affine(l: &ChannelLayout, x: &[f32], scale: &[f32], shift: &[f32], y: &mut [f32]) {
    l.check(&[x, y], &[scale, shift]);
    // SAFETY: the lengths were checked above.
    unsafe {
        affine_vector(
            l,
            x.as_ptr(),
            scale.as_ptr(),
            shift.as_ptr(),
            y.as_mut_ptr(),
        );
    }
}

/// `y = max(x · scale[c] + shift[c], 0)`; NaN stays NaN.
pub fn affine_relu(l: &ChannelLayout, x: &[f32], scale: &[f32], shift: &[f32], y: &mut [f32]) {
    l.check(&[x, y], &[scale, shift]);
    // SAFETY: the lengths were checked above.
    unsafe {
        affine_relu_vector(
            l,
            x.as_ptr(),
            scale.as_ptr(),
            shift.as_ptr(),
            y.as_mut_ptr(),
        );
    }
}

/// `s0 = Σ dy` and `s1 = Σ dy · (x − mean) · inv_std` of each channel.
pub fn backward_sums(
    l: &ChannelLayout,
    x: &[f32],
    dy: &[f32],
    mean: &[f32],
    inv_std: &[f32],
    s0: &mut [f32],
    s1: &mut [f32],
) {
    l.check(&[x, dy], &[mean, inv_std, s0, s1]);
    let (mean, inv_std) = (mean.as_ptr(), inv_std.as_ptr());
    let out = [s0.as_mut_ptr(), s1.as_mut_ptr()];
    // SAFETY: the lengths were checked above.
    unsafe { backward_sums_vector(l, x.as_ptr(), dy.as_ptr(), mean, inv_std, out) }
}

/// As [`backward_sums`] under a following rectifier of `x · scale[c] + shift[c]`: `dy` counts where that is positive. The
/// result of the rectifier is not read: its sign follows from `x`, which is read anyway.
pub fn backward_sums_relu(
    l: &ChannelLayout,
    x: &[f32],
    dy: &[f32],
    [mean, inv_std]: [&[f32]; 2],
    [scale, shift]: [&[f32]; 2],
    s0: &mut [f32],
    s1: &mut [f32],
) {
    l.check(&[x, dy], &[mean, inv_std, scale, shift, s0, s1]);
    let constants = [mean, scale, shift].map(<[f32]>::as_ptr);
    let out = [s0.as_mut_ptr(), s1.as_mut_ptr()];
    // SAFETY: the lengths were checked above.
    unsafe {
        backward_sums_relu_vector(l, x.as_ptr(), dy.as_ptr(), constants, inv_std.as_ptr(), out);
    }
}

/// `dx = a[c] · dy + b[c] · x + c[c]`.
pub fn backward_dx(
    l: &ChannelLayout,
    x: &[f32],
    dy: &[f32],
    [a, b, c]: [&[f32]; 3],
    dx: &mut [f32],
) {
    l.check(&[x, dy, dx], &[a, b, c]);
    let constants = [a.as_ptr(), b.as_ptr(), c.as_ptr()];
    // SAFETY: the lengths were checked above.
    unsafe { backward_dx_vector(l, x.as_ptr(), dy.as_ptr(), constants, dx.as_mut_ptr()) }
}

/// As [`backward_dx`] under a following rectifier of `x · a[c] + shift[c]`: `dy` counts where that is positive.
pub fn backward_dx_relu(
    l: &ChannelLayout,
    x: &[f32],
    dy: &[f32],
    [a, b, c]: [&[f32]; 3],
    shift: &[f32],
    dx: &mut [f32],
) {
    l.check(&[x, dy, dx], &[a, b, c, shift]);
    let constants = [a, b, c, shift].map(<[f32]>::as_ptr);
    // SAFETY: the lengths were checked above.
    unsafe { backward_dx_relu_vector(l, x.as_ptr(), dy.as_ptr(), constants, dx.as_mut_ptr()) }
}

/// A shift near each channel's mean: the mean of its first up to eight samples.
fn first_means(l: &ChannelLayout, x: &[f32], shift: &mut [f32]) {
    let samples = if l.inner == 1 { l.batch } else { l.inner }.min(8);
    if l.inner == 1 {
        for row in x.chunks_exact(l.channels).take(samples) {
            for (shift, x) in shift.iter_mut().zip(row) {
                *shift += x;
            }
        }
    } else {
        for (shift, plane) in shift.iter_mut().zip(x.chunks_exact(l.inner)) {
            *shift = plane[..samples].iter().sum();
        }
    }
    crate::elementwise::scale(shift, 1.0 / samples as f32);
}

/// `Σ dz` and `Σ dz · (x − mean) · inv_std` of each channel; the first constant is the mean, and `dz` is given by the constants,
/// place, mask and `x`.
#[inline(always)]
unsafe fn gradient_sums<V: Vector, const K: usize>(
    l: &ChannelLayout,
    x: *const f32,
    constants: [*const f32; K],
    inv_std: *const f32,
    out: [*mut f32; 2],
    dz: impl Fn([V; K], usize, V::Mask, V) -> V,
) {
    // SAFETY: the caller's pointers are valid for the layout, and it runs where the level's features are.
    unsafe {
        reduce::<V, K>(
            l,
            constants,
            out,
            #[inline(always)]
            |constants, at, mask| {
                let x = V::load_masked(x.add(at), mask);
                let dz = dz(constants, at, mask, x);
                (dz, dz.mul(x.sub(constants[0])))
            },
            #[inline(always)]
            |channel, s0, s1| {
                let inv_std = f64::from(*inv_std.add(channel));
                (s0 as f32, (s1 * inv_std) as f32)
            },
        );
    }
}

vector_versions! {
    unsafe fn moments_vector<V>(l: &ChannelLayout, x: *const f32, mean: *mut f32, m2: *mut f32) {
        let count = l.per_channel() as f64;
        reduce::<V, 1>(
            l,
            [mean],
            [mean, m2],
            #[inline(always)] |[shift], at, mask| {
                let d = V::load_masked(x.add(at), mask).sub(shift);
                (d, d.mul(d))
            },
            #[inline(always)] |channel, sum, square| {
                let shift = f64::from(*mean.add(channel));
                ((shift + sum / count) as f32, (square - sum * sum / count).max(0.0) as f32)
            },
        );
    }

    unsafe fn affine_vector<V>(l: &ChannelLayout, x: *const f32, scale: *const f32, shift: *const f32, y: *mut f32) {
        apply::<V, 2>(l, [scale, shift], #[inline(always)] |[scale, shift], at, mask| {
            V::load_masked(x.add(at), mask).fma(scale, shift).store_masked(y.add(at), mask);
        });
    }

    unsafe fn affine_relu_vector<V>(l: &ChannelLayout, x: *const f32, scale: *const f32, shift: *const f32, y: *mut f32) {
        apply::<V, 2>(l, [scale, shift], #[inline(always)] |[scale, shift], at, mask| {
            V::load_masked(x.add(at), mask).fma(scale, shift).relu().store_masked(y.add(at), mask);
        });
    }

    unsafe fn backward_sums_vector<V>(
        l: &ChannelLayout,
        x: *const f32,
        dy: *const f32,
        mean: *const f32,
        inv_std: *const f32,
        out: [*mut f32; 2],
    ) {
        gradient_sums::<V, 1>(l, x, [mean], inv_std, out, #[inline(always)] |_, at, mask, _| V::load_masked(dy.add(at), mask));
    }

    unsafe fn backward_sums_relu_vector<V>(
        l: &ChannelLayout,
        x: *const f32,
        dy: *const f32,
        constants: [*const f32; 3],
        inv_std: *const f32,
        out: [*mut f32; 2],
    ) {
        gradient_sums::<V, 3>(l, x, constants, inv_std, out, #[inline(always)] |[_, scale, shift], at, mask, x| {
            V::load_masked(dy.add(at), mask).keep_where_positive(x.fma(scale, shift))
        });
    }

    unsafe fn backward_dx_vector<V>(
        l: &ChannelLayout,
        x: *const f32,
        dy: *const f32,
        constants: [*const f32; 3],
        dx: *mut f32,
    ) {
        apply::<V, 3>(l, constants, #[inline(always)] |[a, b, c], at, mask| {
            let rest = V::load_masked(x.add(at), mask).fma(b, c);
            V::load_masked(dy.add(at), mask).fma(a, rest).store_masked(dx.add(at), mask);
        });
    }

    unsafe fn backward_dx_relu_vector<V>(
        l: &ChannelLayout,
        x: *const f32,
        dy: *const f32,
        constants: [*const f32; 4],
        dx: *mut f32,
    ) {
        apply::<V, 4>(l, constants, #[inline(always)] |[a, b, c, shift], at, mask| {
            let x = V::load_masked(x.add(at), mask);
            let dz = V::load_masked(dy.add(at), mask).keep_where_positive(x.fma(a, shift));
            dz.fma(a, x.fma(b, c)).store_masked(dx.add(at), mask);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{assert_close, noise};

    const LAYOUTS: [(usize, usize, usize); 12] = [
        (1, 1, 1),
        (2, 5, 1),
        (256, 5, 1),
        (33, 16, 1),
        (256, 64, 1),
        (7, 17, 1),
        (1025, 3, 1),
        (1, 2, 7),
        (3, 4, 16),
        (5, 3, 100),
        (2, 6, 784),
        (0, 4, 9),
    ];

    fn layouts() -> impl Iterator<Item = ChannelLayout> {
        LAYOUTS
            .into_iter()
            .map(|(batch, channels, inner)| ChannelLayout {
                batch,
                channels,
                inner,
            })
    }

    /// The elements of a channel as `f64`, through the definition of the layout.
    fn channel<'a>(
        l: &'a ChannelLayout,
        x: &'a [f32],
        c: usize,
    ) -> impl Iterator<Item = f64> + Clone + 'a {
        (0..l.batch * l.inner)
            .map(move |i| f64::from(x[(i / l.inner * l.channels + c) * l.inner + i % l.inner]))
    }

    fn of(l: &ChannelLayout, i: usize) -> usize {
        i / l.inner % l.channels
    }

    #[test]
    fn moments_are_right_even_far_from_zero() {
        on_every_isa(|isa| {
            for l in layouts() {
                for offset in [0.0, 1000.0, -3000.0] {
                    let x: Vec<f32> = noise(l.len(), 3).iter().map(|x| x + offset).collect();
                    let (mut mean, mut m2) = (vec![9.0; l.channels], vec![9.0; l.channels]);
                    moments(&l, &x, &mut mean, &mut m2);
                    for c in 0..l.channels {
                        let n = l.per_channel().max(1) as f64;
                        let exact = channel(&l, &x, c).sum::<f64>() / n;
                        let square: f64 = channel(&l, &x, c).map(|x| (x - exact).powi(2)).sum();
                        assert!(
                            (f64::from(mean[c]) - exact).abs() <= 1e-7 * exact.abs().max(1.0),
                            "{isa:?} {l:?}"
                        );
                        let error = (f64::from(m2[c]) - square).abs();
                        assert!(
                            error <= 1e-6 * square + 1e-12,
                            "{isa:?} {l:?} {offset}: {} {square}",
                            m2[c]
                        );
                    }
                }
            }
        });
    }

    #[test]
    fn affine_maps_follow_their_formulas() {
        on_every_isa(|isa| {
            for l in layouts() {
                let (x, dz) = (noise(l.len(), 1), noise(l.len(), 2));
                let [a, b, c] = [3, 4, 5].map(|seed| noise(l.channels, seed));
                let what = format!("{isa:?} {l:?}");
                let mut y = vec![0.0; l.len()];
                let plain =
                    |i: usize| f64::from(x[i]) * f64::from(a[of(&l, i)]) + f64::from(b[of(&l, i)]);
                affine(&l, &x, &a, &b, &mut y);
                assert_close(
                    &y,
                    &(0..l.len()).map(plain).collect::<Vec<_>>(),
                    2e-7,
                    &what,
                );
                affine_relu(&l, &x, &a, &b, &mut y);
                assert_close(
                    &y,
                    &(0..l.len()).map(|i| plain(i).max(0.0)).collect::<Vec<_>>(),
                    2e-7,
                    &what,
                );
                let dx = |i: usize, dz: f32| {
                    let channel = of(&l, i);
                    f64::from(a[channel]) * f64::from(dz)
                        + f64::from(b[channel]) * f64::from(x[i])
                        + f64::from(c[channel])
                };
                backward_dx(&l, &x, &dz, [&a, &b, &c], &mut y);
                let all: Vec<f64> = (0..l.len()).map(|i| dx(i, dz[i])).collect();
                assert_close(&y, &all, 4e-7, &what);
                // The rectifier's own result is the gate.
                let mut gate = vec![0.0; l.len()];
                affine_relu(&l, &x, &a, &c, &mut gate);
                backward_dx_relu(&l, &x, &dz, [&a, &b, &c], &c, &mut y);
                let gated = |i: usize| dx(i, if gate[i] > 0.0 { dz[i] } else { 0.0 });
                let all: Vec<f64> = (0..l.len()).map(gated).collect();
                assert_close(&y, &all, 4e-7, &what);
            }
        });
    }

    #[test]
    fn backward_sums_match_f64() {
        on_every_isa(|isa| {
            for l in layouts() {
                let (x, dy) = (noise(l.len(), 1), noise(l.len(), 3));
                let (mean, inv_std) = (noise(l.channels, 4), noise(l.channels, 5));
                let (scale, shift) = (noise(l.channels, 6), noise(l.channels, 7));
                let mut y = vec![0.0; l.len()];
                affine_relu(&l, &x, &scale, &shift, &mut y);
                let masked: Vec<f32> = dy
                    .iter()
                    .zip(&y)
                    .map(|(&d, &y)| if y > 0.0 { d } else { 0.0 })
                    .collect();
                for relu in [false, true] {
                    let (mut s0, mut s1) = (vec![9.0; l.channels], vec![9.0; l.channels]);
                    let used = if relu { &masked } else { &dy };
                    if relu {
                        let (statistics, gate) = ([&*mean, &*inv_std], [&*scale, &*shift]);
                        backward_sums_relu(&l, &x, &dy, statistics, gate, &mut s0, &mut s1);
                    } else {
                        backward_sums(&l, &x, &dy, &mean, &inv_std, &mut s0, &mut s1);
                    }
                    let first: Vec<f64> = (0..l.channels)
                        .map(|c| channel(&l, used, c).sum())
                        .collect();
                    let second: Vec<f64> = (0..l.channels)
                        .map(|c| {
                            let (mean, inv_std) = (f64::from(mean[c]), f64::from(inv_std[c]));
                            let pairs = channel(&l, &x, c).zip(channel(&l, used, c));
                            pairs.map(|(x, d)| d * (x - mean) * inv_std).sum()
                        })
                        .collect();
                    assert_close(&s0, &first, 3e-6, &format!("s0 {isa:?} {l:?}"));
                    assert_close(&s1, &second, 3e-6, &format!("s1 {isa:?} {l:?}"));
                }
            }
        });
    }
}
