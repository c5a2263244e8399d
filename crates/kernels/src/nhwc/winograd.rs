//! Convolution with windows of 3 × 3 at stride 1 by Winograd's minimal filtering F(2×2, 3×3) (Lavin and Gray, 2015): 16
//! products make four outputs where 36 would. Inputs, weights and results are sums and differences of what they were, so a
//! result is rounded differently from the sum in order, and is exact for no operands.

use super::NhwcConv;
use super::pack::{Packing, WIDE};
use super::product::{self, product};
use super::taps::{TALLEST, Taps};
use crate::conv::ConvShape;
use crate::isa::vector_versions;
use crate::simd::Vector;

/// Products of a tile of 4 × 4 inputs.
const PRODUCTS: usize = 16;
/// Floats of a block of tiles, inputs and results together: few enough for the caches, and enough to pay for reading the weights.
const CACHED: usize = 512 * 1024;

/// A convolution by minimal filtering, prepared for its sizes. See [`super::NhwcConv`] for the layouts.
#[derive(Clone, Debug)]
pub struct WinogradConv {
    shape: ConvShape,
    /// Tiles of a plane along each axis.
    grid: [usize; 2],
    /// Tiles of a block.
    tiles: usize,
    /// The product of a block for each of the 16 places of a tile.
    packing: Packing,
    taps: Taps,
}

impl WinogradConv {
    /// The convolution of a shape, where it is of the kind.
    pub fn new(shape: ConvShape) -> Option<Self> {
        let s = &shape;
        let is_kind = (s.kernel, s.stride, s.dilation, s.groups) == ([3; 2], [1; 2], [1; 2], 1);
        if !is_kind || !NhwcConv::takes(s) || s.padding.iter().any(|&padding| padding > 2) {
            return None;
        }
        let grid = s.output().map(|n| n.div_ceil(2));
        let all = s.batch * grid[0] * grid[1];
        // Where the weights are so many that few tiles fit, so many that reading the weights takes about as long as the tiles.
        let channels = s.in_channels + s.out_channels;
        let paying = s.in_channels * s.out_channels / channels / 2;
        let fitting = (CACHED / PRODUCTS / channels).max(paying).max(TALLEST);
        let tiles = all
            .div_ceil(all.div_ceil(fitting))
            .next_multiple_of(TALLEST)
            .min(all);
        let rows = ConvShape {
            batch: 1,
            input: [1, tiles],
            kernel: [1; 2],
            padding: [0; 2],
            ..shape
        };
        let taps = Taps::forward(&rows);
        Some(Self {
            shape,
            grid,
            tiles,
            packing: Packing::forward(s.out_channels, s.in_channels, 1, &taps.live),
            taps,
        })
    }

    /// Floats of the packed weights.
    pub fn packed_len(&self) -> usize {
        PRODUCTS * self.packing.len()
    }

    /// Floats of scratch that [`WinogradConv::forward`] needs.
    pub fn scratch_len(&self) -> usize {
        let s = &self.shape;
        PRODUCTS * self.tiles * (s.in_channels + s.out_channels) + s.in_channels
    }

    /// The convolution of the output's gradient that gives the input's, with weights as [`WinogradConv::pack_flipped`] packs
    /// them.
    pub fn adjoint(&self) -> Option<Self> {
        let s = &self.shape;
        Self::new(ConvShape {
            in_channels: s.out_channels,
            out_channels: s.in_channels,
            input: s.output(),
            padding: s.padding.map(|padding| 2 - padding),
            ..*s
        })
    }

    /// Transforms and packs weights `[out, in, 3, 3]`.
    pub fn pack(&self, weights: &[f32], packed: &mut [f32]) {
        let inputs = self.shape.in_channels;
        self.pack_windows(packed, |output, input, element| {
            weights[(output * inputs + input) * 9 + element]
        });
    }

    /// Transforms and packs the weights `[in, out, 3, 3]` of the convolution that this is the adjoint of.
    pub fn pack_flipped(&self, weights: &[f32], packed: &mut [f32]) {
        let outputs = self.shape.out_channels;
        self.pack_windows(packed, |output, input, element| {
            weights[(input * outputs + output) * 9 + 8 - element]
        });
    }

    /// Transforms and packs windows, those of a block of outputs side by side.
    #[inline(always)]
    fn pack_windows(&self, packed: &mut [f32], weight: impl Fn(usize, usize, usize) -> f32) {
        let part = self.packing.len();
        for block in self.packing.blocks() {
            for input in 0..self.shape.in_channels {
                let mut windows = [[0.0; WIDE]; 9];
                for output in 0..block.len {
                    for (element, window) in windows.iter_mut().enumerate() {
                        window[output] = weight(block.first + output, input, element);
                    }
                }
                let place = block.start + input * block.width;
                for (k, values) in transformed(&windows).iter().enumerate() {
                    packed[k * part + place..][..block.width]
                        .copy_from_slice(&values[..block.width]);
                }
            }
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
        let s = &self.shape;
        assert!(
            x.len() == s.input_len()
                && y.len() == s.output_len()
                && bias.is_none_or(|bias| bias.len() >= s.out_channels),
            "conv: {} inputs and {} outputs for {s:?}",
            x.len(),
            y.len()
        );
        let (zeros, scratch) = scratch.split_at_mut(s.in_channels);
        let (sources, results) = scratch.split_at_mut(PRODUCTS * self.tiles * s.in_channels);
        let results = &mut results[..PRODUCTS * self.tiles * s.out_channels];
        let part = self.packing.len();
        let all = s.batch * self.grid[0] * self.grid[1];
        for first in (0..all).step_by(self.tiles) {
            let count = self.tiles.min(all - first);
            zeros.fill(0.0);
            if count < self.tiles {
                // Rows beyond the last tile make products that nobody reads.
                sources.fill(0.0);
            }
            for tile in 0..count {
                self.transform_input(x, first + tile, zeros, &mut sources[tile * s.in_channels..]);
            }
            let parts = sources
                .chunks_exact(self.tiles * s.in_channels)
                .zip(results.chunks_exact_mut(self.tiles * s.out_channels));
            for (k, (sources, results)) in parts.enumerate() {
                let operands = product::Operands {
                    taps: &self.taps,
                    packing: &self.packing,
                    spells_out: false,
                    x: sources,
                    packed: &packed[k * part..][..part],
                    bias: None,
                    clamp: None,
                };
                product(&operands, results, zeros);
            }
            for tile in 0..count {
                let results = &results[tile * s.out_channels..];
                self.transform_output(results, first + tile, bias, clamp, y);
            }
        }
    }

    /// The image, and the first output row and column of a tile.
    fn place(&self, tile: usize) -> (usize, [usize; 2]) {
        let [rows, columns] = self.grid;
        let (image, tile) = (tile / (rows * columns), tile % (rows * columns));
        (image, [tile / columns * 2, tile % columns * 2])
    }

    /// Writes the 16 places of a tile of inputs, a block apart.
    fn transform_input(&self, x: &[f32], tile: usize, zeros: &[f32], sources: &mut [f32]) {
        let s = &self.shape;
        let (image, [top, left]) = self.place(tile);
        let pixels = std::array::from_fn(|at| {
            let row = (top + at / 4).wrapping_sub(s.padding[0]);
            let column = (left + at % 4).wrapping_sub(s.padding[1]);
            if row < s.input[0] && column < s.input[1] {
                let pixel = (image * s.input[0] + row) * s.input[1] + column;
                x[pixel * s.in_channels..][..s.in_channels].as_ptr()
            } else {
                zeros[..s.in_channels].as_ptr()
            }
        });
        let stride = self.tiles * s.in_channels;
        assert!(
            sources.len() >= (PRODUCTS - 1) * stride + s.in_channels,
            "conv: scratch too short"
        );
        // SAFETY: every pixel has the input's channels, and so has each place of the tile.
        unsafe { input_tile(pixels, s.in_channels, sources.as_mut_ptr(), stride) };
    }

    /// Writes the outputs of a tile that lie inside the plane.
    fn transform_output(
        &self,
        results: &[f32],
        tile: usize,
        bias: Option<&[f32]>,
        clamp: Option<(f32, f32)>,
        y: &mut [f32],
    ) {
        let s = &self.shape;
        let (image, [top, left]) = self.place(tile);
        let [height, width] = s.output();
        let pixels = std::array::from_fn(|at| {
            let (row, column) = (top + at / 2, left + at % 2);
            if row < height && column < width {
                let pixel = (image * height + row) * width + column;
                y[pixel * s.out_channels..][..s.out_channels].as_mut_ptr()
            } else {
                std::ptr::null_mut()
            }
        });
        let stride = self.tiles * s.out_channels;
        assert!(
            results.len() >= (PRODUCTS - 1) * stride + s.out_channels,
            "conv: scratch too short"
        );
        let tile = OutputTile {
            results: results.as_ptr(),
            stride,
            channels: s.out_channels,
            bias: bias.map_or(std::ptr::null(), <[f32]>::as_ptr),
            clamp,
            pixels,
        };
        // SAFETY: every pixel has the output's channels, and so have the bias and each place of the results.
        unsafe { output_tile(tile) };
    }
}

/// `G·g·Gᵀ` of windows side by side.
fn transformed(g: &[[f32; WIDE]; 9]) -> [[f32; WIDE]; PRODUCTS] {
    let mut columns = [[[0.0; WIDE]; 3]; 4];
    for x in 0..3 {
        let rows = stretched([&g[x], &g[3 + x], &g[6 + x]]);
        for (row, value) in columns.iter_mut().zip(rows) {
            row[x] = value;
        }
    }
    let mut places = [[0.0; WIDE]; PRODUCTS];
    for (places, [a, b, c]) in places.chunks_exact_mut(4).zip(&columns) {
        places.copy_from_slice(&stretched([a, b, c]));
    }
    places
}

/// `G` along one axis.
fn stretched([a, b, c]: [&[f32; WIDE]; 3]) -> [[f32; WIDE]; 4] {
    let mut out = [*a, [0.0; WIDE], [0.0; WIDE], *c];
    for at in 0..WIDE {
        let (sum, half) = (a[at] + c[at], 0.5 * b[at]);
        out[1][at] = 0.5 * sum + half;
        out[2][at] = 0.5 * sum - half;
    }
    out
}

/// The results of a tile and the outputs they make.
#[derive(Clone, Copy)]
struct OutputTile {
    results: *const f32,
    stride: usize,
    channels: usize,
    /// Null without a bias.
    bias: *const f32,
    clamp: Option<(f32, f32)>,
    /// Null outside the plane.
    pixels: [*mut f32; 4],
}

/// `Bᵀ` along one axis.
#[inline(always)]
unsafe fn differences<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 4] {
    // SAFETY: the caller runs where the level's features are.
    unsafe { [a.sub(c), b.add(c), c.sub(b), b.sub(d)] }
}

/// `Aᵀ` along one axis.
#[inline(always)]
unsafe fn sums<V: Vector>([a, b, c, d]: [V; 4]) -> [V; 2] {
    // SAFETY: the caller runs where the level's features are.
    unsafe { [a.add(b).add(c), b.sub(c).sub(d)] }
}

vector_versions! {
    unsafe fn input_tile<V>(pixels: [*const f32; PRODUCTS], channels: usize, out: *mut f32, stride: usize) {
        for from in (0..channels).step_by(V::LANES) {
            let mask = V::mask(V::LANES.min(channels - from));
            let mut rows = [[V::splat(0.0); 4]; 4];
            for x in 0..4 {
                let mut column = [V::splat(0.0); 4];
                for (y, value) in column.iter_mut().enumerate() {
                    *value = V::load_masked(pixels[y * 4 + x].add(from), mask);
                }
                for (row, value) in rows.iter_mut().zip(differences(column)) {
                    row[x] = value;
                }
            }
            for (y, row) in rows.into_iter().enumerate() {
                for (x, value) in differences(row).into_iter().enumerate() {
                    value.store_masked(out.add((y * 4 + x) * stride + from), mask);
                }
            }
        }
    }

    unsafe fn output_tile<V>(t: OutputTile) {
        for from in (0..t.channels).step_by(V::LANES) {
            let mask = V::mask(V::LANES.min(t.channels - from));
            let bias = if t.bias.is_null() { V::splat(0.0) } else { V::load_masked(t.bias.add(from), mask) };
            let mut rows = [[V::splat(0.0); 4]; 2];
            for x in 0..4 {
                let mut column = [V::splat(0.0); 4];
                for (y, value) in column.iter_mut().enumerate() {
                    *value = V::load_masked(t.results.add((y * 4 + x) * t.stride + from), mask);
                }
                for (row, value) in rows.iter_mut().zip(sums(column)) {
                    row[x] = value;
                }
            }
            for (y, row) in rows.into_iter().enumerate() {
                for (x, value) in sums(row).into_iter().enumerate() {
                    let pixel = t.pixels[y * 2 + x];
                    if pixel.is_null() {
                        continue;
                    }
                    let mut value = value.add(bias);
                    if let Some((low, high)) = t.clamp {
                        value = value.clamp(V::splat(low), V::splat(high));
                    }
                    value.store_masked(pixel.add(from), mask);
                }
            }
        }
    }
}
