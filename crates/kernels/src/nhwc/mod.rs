//! Convolution on channels-last data, `[image, y, x, channel]`; 1-D is height one. Weights are trained as
//! `[out, in / groups, kh, kw]` and packed once for many calls.
//!
//! There is no im2col: a tile of output pixels holds a pointer to the source pixel of each tap, and padding points at
//! zeros or is skipped where all pixels of a tile lose the tap. So pixels of several images share a tile, and neither
//! strides nor small planes cost more than their products. The gradient of the data is the same product over the
//! taps that lead back. Only where a pixel has few channels the windows are spelled out first.
//!
//! An output element is one chain of multiply-adds from its bias over `(ky, kx, channel)`, cut where the sizes of the
//! convolution say; a sum never depends on the other pixels of a tile.

mod depthwise;
mod gradient;
mod pack;
mod product;
mod taps;
#[cfg(test)]
mod tests;
mod tile;
mod winograd;

use crate::conv::ConvShape;
use crate::isa::versions;
use pack::Packing;
use taps::Taps;
pub use winograd::WinogradConv;

/// Channels of a source pixel below which windows are spelled out.
const FEW_CHANNELS: usize = 8;

/// Pixels of the largest plane whose order is tabulated.
const MAX_PLANE: usize = 1 << 22;

/// A convolution prepared for its sizes.
#[derive(Clone, Debug)]
pub struct NhwcConv {
    shape: ConvShape,
    kind: Kind,
    /// Outputs reading inputs, and inputs reading outputs.
    forward: Taps,
    backward: Taps,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Every output channel reads every input channel.
    Dense { forward: Packing, adjoint: Packing },
    /// Every output channel reads the input channel of the same number.
    Depthwise,
}

impl NhwcConv {
    /// True when there are kernels for a shape: it has one group or one for each channel, a window and planes of usual
    /// sizes, and reads anything at all.
    pub fn takes(s: &ConvShape) -> bool {
        let is_depthwise = s.groups == s.in_channels && s.groups == s.out_channels;
        let is_plain = s.groups == 1 || is_depthwise;
        let has_sizes = s.batch > 0 && s.in_channels > 0 && s.out_channels > 0;
        let plane = |[height, width]: [usize; 2]| height.saturating_mul(width);
        let fits = plane(s.input).max(plane(s.output())) <= MAX_PLANE
            && plane(s.kernel) <= taps::MAX_WINDOW.min(pack::TOGETHER);
        is_plain
            && has_sizes
            && !s.stride.contains(&0)
            && fits
            && (0..2).all(|axis| taps::reads(s, axis))
    }

    /// The convolution of a shape, where there are [kernels](NhwcConv::takes) for it.
    pub fn new(shape: ConvShape) -> Option<Self> {
        let s = &shape;
        if !Self::takes(s) {
            return None;
        }
        let (forward, backward) = (Taps::forward(s), Taps::backward(s));
        let window = s.kernel[0] * s.kernel[1];
        let kind = if s.groups == 1 {
            Kind::Dense {
                forward: Packing::forward(s.out_channels, s.in_channels, window, &forward.live),
                adjoint: Packing::adjoint(s.in_channels, s.out_channels, window, &backward.live),
            }
        } else {
            Kind::Depthwise
        };
        Some(Self {
            shape,
            kind,
            forward,
            backward,
        })
    }

    /// The sizes.
    pub fn shape(&self) -> &ConvShape {
        &self.shape
    }

    /// Floats of the weights packed for [`NhwcConv::forward`].
    pub fn packed_len(&self) -> usize {
        match &self.kind {
            Kind::Dense { forward, .. } => forward.len(),
            Kind::Depthwise => self.forward.live.len() * self.shape.in_channels,
        }
    }

    /// Floats of the weights packed for [`NhwcConv::backward_data`].
    pub fn packed_adjoint_len(&self) -> usize {
        match &self.kind {
            Kind::Dense { adjoint, .. } => adjoint.len(),
            Kind::Depthwise => self.backward.live.len() * self.shape.in_channels,
        }
    }

    /// Packs weights for [`NhwcConv::forward`].
    pub fn pack(&self, weights: &[f32], packed: &mut [f32]) {
        match &self.kind {
            Kind::Dense { forward, .. } => forward.pack(weights, packed),
            Kind::Depthwise => self.pack_depthwise(&self.forward, weights, packed),
        }
    }

    /// Packs weights for [`NhwcConv::backward_data`].
    pub fn pack_adjoint(&self, weights: &[f32], packed: &mut [f32]) {
        match &self.kind {
            Kind::Dense { adjoint, .. } => adjoint.pack(weights, packed),
            Kind::Depthwise => self.pack_depthwise(&self.backward, weights, packed),
        }
    }

    fn pack_depthwise(&self, taps: &Taps, weights: &[f32], packed: &mut [f32]) {
        let window = self.shape.kernel[0] * self.shape.kernel[1];
        depthwise::pack(&taps.live, window, self.shape.in_channels, weights, packed);
    }

    /// Floats of scratch that [`NhwcConv::forward`] needs.
    pub fn forward_scratch_len(&self) -> usize {
        match &self.kind {
            Kind::Dense { forward, .. } => product_scratch(&self.forward, forward),
            Kind::Depthwise => 0,
        }
    }

    /// Floats of scratch that the gradients need.
    pub fn backward_scratch_len(&self) -> usize {
        match &self.kind {
            Kind::Dense { forward, adjoint } => {
                let weight = gradient::scratch_len(forward, spells_out(forward)) + forward.len();
                weight.max(product_scratch(&self.backward, adjoint))
            }
            Kind::Depthwise => self.packed_len() + self.shape.in_channels,
        }
    }

    /// `y = clamp(x ∗ w + bias)`.
    ///
    /// # Panics
    /// When lengths do not fit the shape: an error of the caller.
    pub fn forward(
        &self,
        x: &[f32],
        packed: &[f32],
        bias: Option<&[f32]>,
        clamp: Option<(f32, f32)>,
        y: &mut [f32],
        scratch: &mut [f32],
    ) {
        self.check(x.len(), y.len());
        match &self.kind {
            Kind::Dense { forward, .. } => {
                let operands = product::Operands {
                    taps: &self.forward,
                    packing: forward,
                    spells_out: spells_out(forward),
                    x,
                    packed,
                    bias,
                    clamp,
                };
                product::product(&operands, y, scratch);
            }
            Kind::Depthwise => {
                let channels = self.shape.in_channels;
                depthwise::product(&self.forward, channels, x, packed, bias, clamp, y);
            }
        }
    }

    /// Gradient of the input; overwrites `dx`.
    ///
    /// # Panics
    /// When lengths do not fit the shape: an error of the caller.
    pub fn backward_data(
        &self,
        dy: &[f32],
        packed_adjoint: &[f32],
        dx: &mut [f32],
        scratch: &mut [f32],
    ) {
        self.check(dx.len(), dy.len());
        match &self.kind {
            Kind::Dense { adjoint, .. } => {
                let operands = product::Operands {
                    taps: &self.backward,
                    packing: adjoint,
                    spells_out: spells_out(adjoint),
                    x: dy,
                    packed: packed_adjoint,
                    bias: None,
                    clamp: None,
                };
                product::product(&operands, dx, scratch);
            }
            Kind::Depthwise => {
                let channels = self.shape.in_channels;
                let (taps, packed) = (&self.backward, packed_adjoint);
                depthwise::product(taps, channels, dy, packed, None, None, dx);
            }
        }
    }

    /// Gradients of the weights and biases; overwrites both.
    ///
    /// # Panics
    /// When lengths do not fit the shape: an error of the caller.
    pub fn backward_weight(
        &self,
        x: &[f32],
        dy: &[f32],
        dw: &mut [f32],
        db: Option<&mut [f32]>,
        scratch: &mut [f32],
    ) {
        self.check(x.len(), dy.len());
        if let Some(db) = db {
            sum_pixels(dy, db);
        }
        let (packed, scratch) = scratch.split_at_mut(self.packed_len());
        match &self.kind {
            Kind::Dense { forward, .. } => {
                let operands = gradient::Operands {
                    taps: &self.forward,
                    packing: forward,
                    spells_out: spells_out(forward),
                    x,
                    dy,
                };
                gradient::gradient(&operands, packed, scratch);
                forward.unpack(packed, dw);
            }
            Kind::Depthwise => {
                let (taps, channels) = (&self.forward, self.shape.in_channels);
                depthwise::gradient(taps, channels, x, dy, packed, scratch);
                let window = self.shape.kernel[0] * self.shape.kernel[1];
                depthwise::unpack(&taps.live, window, packed, dw);
            }
        }
    }

    fn check(&self, x: usize, y: usize) {
        let s = &self.shape;
        assert!(
            x == s.input_len() && y == s.output_len(),
            "conv: {x} inputs and {y} outputs, {s:?} needs {} and {}",
            s.input_len(),
            s.output_len()
        );
    }
}

/// True when windows are spelled out before the product.
fn spells_out(packing: &Packing) -> bool {
    packing.inputs < FEW_CHANNELS && packing.live.len() > 1
}

/// A row of zeros, or a block's windows.
fn product_scratch(taps: &Taps, packing: &Packing) -> usize {
    if spells_out(packing) {
        taps.block() * packing.depth()
    } else {
        packing.inputs
    }
}

versions! {
    /// The sum of rows of `sums.len()` elements, in parts so that long sums stay exact enough.
    fn sum_pixels(rows: &[f32], sums: &mut [f32]) {
        const LANES: usize = 16;
        const TOGETHER: usize = 256;
        let n = sums.len().max(1);
        sums.fill(0.0);
        for part in rows.chunks(n * TOGETHER) {
            for (block, sums) in sums.chunks_mut(LANES).enumerate() {
                let mut acc = [0.0; LANES];
                for row in part.chunks_exact(n) {
                    for (acc, &x) in acc.iter_mut().zip(&row[block * LANES..][..sums.len()]) {
                        *acc += x;
                    }
                }
                for (sum, acc) in sums.iter_mut().zip(acc) {
                    *sum += acc;
                }
            }
        }
    }
}
