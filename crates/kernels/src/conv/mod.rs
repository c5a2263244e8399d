//! 2-D convolution on NCHW data; 1-D is height one. Weights are `[out, in / groups, kh, kw]`.
//!
//! At stride 1 there is no im2col: over the flat grid `j = y · Wp + x` of the padded image, the im2col row of window
//! element p is the contiguous run from `offset[p]`, so the product reads the image itself, once per offset. Columns
//! `x ≥ ow` of that grid are computed and dropped. Other strides spell the columns out. The gradient of the data at
//! stride 1 is a convolution with flipped weights; the gradient of the weights is a tile of dot products along the grid.
//!
//! An output element is one chain of multiply-adds over `(channel, ky, kx)` in that order, from its bias, cut as in
//! [`crate::gemm`]. A zero weight or gradient times a non-finite input is NaN as always; the weight gradient also meets
//! inputs that only dropped columns see.

mod columns;
mod dots;
mod flip;
mod lattice;
#[cfg(test)]
pub(crate) mod tests;

use crate::gemm::tile::Start;
use crate::isa::versions;
use crate::row_reduce::add_lanes;
use crate::shape::windows;
use crate::strided::{COPY, move_rows};
use flip::flip_weights;
use lattice::Lattice;

/// Sizes of a convolution. `[height, width]` throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvShape {
    /// Number of images.
    pub batch: usize,
    /// Channels of the input.
    pub in_channels: usize,
    /// Channels of the output.
    pub out_channels: usize,
    /// Groups of channels that do not mix; both channel counts are multiples.
    pub groups: usize,
    /// Input plane.
    pub input: [usize; 2],
    /// Kernel window.
    pub kernel: [usize; 2],
    /// Distance of neighbouring windows.
    pub stride: [usize; 2],
    /// Zeros added on both sides.
    pub padding: [usize; 2],
    /// Distance of neighbouring window elements.
    pub dilation: [usize; 2],
}

impl ConvShape {
    /// Output plane; zero along an axis where the window does not fit.
    pub fn output(&self) -> [usize; 2] {
        let sizes = |i: usize| [self.kernel[i], self.stride[i], self.dilation[i]];
        [0, 1].map(|i| windows(self.input[i] + 2 * self.padding[i], sizes(i)))
    }

    /// Floats of scratch that any of the three kernels needs.
    pub fn scratch_len(&self) -> usize {
        let lattice = Lattice::new(self);
        let forward = lattice.source_len + lattice.grid_len(self.out_channels);
        let backward = match self.adjoint() {
            Some(adjoint) => self.weight_len() + forward_len(&adjoint),
            None => self.in_channels * self.window() * lattice.n,
        };
        let (images, per_image) = weight_gradient_images(self, &lattice);
        forward.max(backward).max(images * per_image)
    }

    /// Elements of the input of all images.
    pub fn input_len(&self) -> usize {
        self.batch * self.in_channels * self.input[0] * self.input[1]
    }

    /// Elements of the output of all images.
    pub fn output_len(&self) -> usize {
        let [h, w] = self.output();
        self.batch * self.out_channels * h * w
    }

    /// Elements of the weights.
    pub fn weight_len(&self) -> usize {
        self.out_channels * self.group_inputs() * self.window()
    }

    fn window(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    fn group_inputs(&self) -> usize {
        self.in_channels / self.groups
    }

    fn group_outputs(&self) -> usize {
        self.out_channels / self.groups
    }

    /// The convolution of the output's gradient with flipped weights that gives the input's gradient, where there is one
    /// and it is the shorter way.
    fn adjoint(&self) -> Option<Self> {
        let reach = [0, 1]
            .map(|i| (self.dilation[i] * (self.kernel[i].max(1) - 1)).checked_sub(self.padding[i]));
        let padding = [reach[0]?, reach[1]?];
        if self.stride != [1, 1] || self.output().contains(&0) {
            return None;
        }
        let (in_channels, out_channels, input) =
            (self.out_channels, self.in_channels, self.output());
        let adjoint = Self {
            in_channels,
            out_channels,
            input,
            padding,
            ..*self
        };
        adjoint.beats_columns().then_some(adjoint)
    }

    /// True when an adjoint is less work than columns added back, in multiply-adds. The adjoint also multiplies padding
    /// and dropped columns, and reads more than it computes when it has few outputs to share a window; a column
    /// element costs about five operations to store, load and add.
    fn beats_columns(&self) -> bool {
        let ([h, w], [oh, ow]) = (self.output(), self.input);
        let grid = (h - 1) * (w + self.dilation[1] * (self.kernel[1] - 1)) + w;
        let reads = if self.group_outputs() < 4 { 2 } else { 1 };
        self.group_inputs() * grid * reads
            <= (self.group_inputs() + 5) * oh * ow.next_multiple_of(16)
    }

    fn check(&self, x: usize, w: usize, y: usize, scratch: usize) {
        assert!(
            self.groups > 0
                && self.in_channels.is_multiple_of(self.groups)
                && self.out_channels.is_multiple_of(self.groups),
            "conv: {} and {} channels in {} groups",
            self.in_channels,
            self.out_channels,
            self.groups
        );
        assert!(!self.stride.contains(&0), "conv: stride {:?}", self.stride);
        assert_eq!(
            x,
            self.input_len(),
            "conv: the input has {x} elements, {self:?} needs {}",
            self.input_len()
        );
        assert_eq!(
            w,
            self.weight_len(),
            "conv: the weights have {w} elements, {self:?} needs {}",
            self.weight_len()
        );
        assert_eq!(
            y,
            self.output_len(),
            "conv: the output has {y} elements, {self:?} needs {}",
            self.output_len()
        );
        let need = self.scratch_len();
        assert!(
            scratch >= need,
            "conv: scratch has {scratch} elements, {self:?} needs {need}"
        );
    }
}

/// `y = x ∗ w + bias`. Scratch holds one image's source and its output on the grid.
///
/// # Panics
/// When lengths do not fit the shape: an error of the caller.
pub fn conv_forward(
    s: &ConvShape,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    scratch: &mut [f32],
) {
    s.check(x.len(), w.len(), y.len(), scratch.len());
    if let Some(bias) = bias {
        assert_eq!(
            bias.len(),
            s.out_channels,
            "conv: {} biases for {} channels",
            bias.len(),
            s.out_channels
        );
    }
    if !y.is_empty() {
        forward(s, x, w, bias, y, scratch);
    }
}

/// Gradient of the input; overwrites `dx`. Scratch holds the flipped weights and the adjoint's own scratch, or one
/// image's columns.
///
/// # Panics
/// When lengths do not fit the shape: an error of the caller.
pub fn conv_backward_data(
    s: &ConvShape,
    dy: &[f32],
    w: &[f32],
    dx: &mut [f32],
    scratch: &mut [f32],
) {
    s.check(dx.len(), w.len(), dy.len(), scratch.len());
    if dy.is_empty() || dx.is_empty() {
        dx.fill(0.0);
        return;
    }
    let Some(adjoint) = s.adjoint() else {
        columns::backward_data(s, dy, w, dx, scratch);
        return;
    };
    let (flipped, scratch) = scratch.split_at_mut(s.weight_len());
    flip_weights(s, w, flipped);
    forward(&adjoint, dy, flipped, None, dx, scratch);
}

/// Gradients of the weights and biases; overwrites both. Scratch holds the sources and the gradients on the grid of
/// a few images.
///
/// # Panics
/// When lengths do not fit the shape: an error of the caller.
pub fn conv_backward_weight(
    s: &ConvShape,
    x: &[f32],
    dy: &[f32],
    dw: &mut [f32],
    db: Option<&mut [f32]>,
    scratch: &mut [f32],
) {
    s.check(x.len(), dw.len(), dy.len(), scratch.len());
    if let Some(db) = db {
        bias_gradient(s, dy, db);
    }
    dw.fill(0.0);
    if dy.is_empty() || x.is_empty() {
        return;
    }
    let lattice = Lattice::new(s);
    let (images, per_image) = weight_gradient_images(s, &lattice);
    let (x_image, dy_image) = (x.len() / s.batch, dy.len() / s.batch);
    for first in (0..s.batch).step_by(images) {
        let count = images.min(s.batch - first);
        let (sources, grids) = scratch.split_at_mut(images * lattice.source_len);
        let mut parts = dots::Images {
            count,
            dy: &dy[first * dy_image..],
            dy_image,
            x: &x[first * x_image..],
            x_image,
        };
        if lattice.source_len > 0 {
            for i in 0..count {
                lattice.fill_source(
                    s,
                    &parts.x[i * x_image..][..x_image],
                    &mut sources[i * lattice.source_len..],
                );
            }
            (parts.x, parts.x_image) = (sources, lattice.source_len);
        }
        if per_image > lattice.source_len {
            spread(s, &lattice, &parts.dy[..count * dy_image], grids);
            (parts.dy, parts.dy_image) = (grids, s.out_channels * lattice.n);
        }
        dots::accumulate(s, &lattice, &parts, dw);
    }
}

/// Images of the weight gradient that share one set of accumulators, and their scratch: as many as stay in the first-level
/// cache, and twice as many where sums are so short that adding up the lanes of accumulators costs more.
fn weight_gradient_images(s: &ConvShape, lattice: &Lattice) -> (usize, usize) {
    const CACHED: usize = 8 * 1024;
    const SHORT: usize = 256;
    let cached = if lattice.n < SHORT {
        2 * CACHED
    } else {
        CACHED
    };
    let per_image = lattice.source_len + lattice.grid_len(s.out_channels);
    let images = (cached / per_image.max(1)).clamp(1, s.batch.clamp(1, 64));
    (images, per_image)
}

fn forward_len(s: &ConvShape) -> usize {
    let lattice = Lattice::new(s);
    lattice.source_len + lattice.grid_len(s.out_channels)
}

fn forward(
    s: &ConvShape,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
    scratch: &mut [f32],
) {
    let lattice = Lattice::new(s);
    let [oh, ow] = s.output();
    let (x_image, y_image) = (x.len() / s.batch, y.len() / s.batch);
    let (source, grid) = scratch.split_at_mut(lattice.source_len);
    for (image, y) in y.chunks_exact_mut(y_image).enumerate() {
        let x = &x[image * x_image..][..x_image];
        let source = if lattice.source_len > 0 {
            lattice.fill_source(s, x, source);
            &*source
        } else {
            x
        };
        let start =
            |channel: usize| bias.map_or(Start::Zero, |b| Start::PerRow(b[channel..].as_ptr()));
        if lattice.pitch == ow {
            lattice.product(s, source, w, start, y);
            continue;
        }
        lattice.product(s, source, w, start, grid);
        for (y, grid) in y.chunks_exact_mut(oh * ow).zip(grid.chunks(lattice.n)) {
            move_rows::<COPY>(oh, ow, grid, lattice.pitch, y, ow);
        }
    }
}

/// Lays gradients on the grid, with zeros in the dropped columns.
fn spread(s: &ConvShape, lattice: &Lattice, dy: &[f32], grids: &mut [f32]) {
    let [oh, ow] = s.output();
    for (dy, grid) in dy
        .chunks_exact(oh * ow)
        .zip(grids.chunks_exact_mut(lattice.n))
    {
        grid.fill(0.0);
        move_rows::<COPY>(oh, ow, dy, ow, grid, lattice.pitch);
    }
}

versions! {
    fn bias_gradient(s: &ConvShape, dy: &[f32], db: &mut [f32]) {
        let channels = s.out_channels;
        assert_eq!(db.len(), channels, "conv: {} bias gradients for {channels} channels", db.len());
        db.fill(0.0);
        let [oh, ow] = s.output();
        for (plane, dy) in dy.chunks_exact((oh * ow).max(1)).enumerate() {
            db[plane % channels] += add_lanes(dy);
        }
    }
}
