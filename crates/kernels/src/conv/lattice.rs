//! The places of a convolution's windows in memory, and the product over them.

use super::{ConvShape, columns};
use crate::gemm::K_BLOCK;
use crate::gemm::strips;
use crate::gemm::tile::{Offsets, Product, Start};
use crate::strided::{COPY, move_rows};

/// One image's source, and where window element `(channel, ky, kx)` of output j is in it:
/// `channel · channel_stride + ky · row_stride + kx · col_stride + j`.
pub(super) struct Lattice {
    channel_stride: usize,
    row_stride: usize,
    col_stride: usize,
    /// Positions of the grid that are computed.
    pub(super) n: usize,
    /// Positions from one output row to the next; the output is the grid itself when this is the output's width.
    pub(super) pitch: usize,
    /// Floats of the prepared source; zero when the image serves as it is.
    pub(super) source_len: usize,
    kind: SourceKind,
    /// The offsets of the first window elements: all of them, for most convolutions.
    first_offsets: [u32; K_BLOCK],
}

/// The copy of an image that windows are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceKind {
    /// The image with its padding, or the image itself.
    Padded,
    /// For every column of the window, the padded image from there on, as wide as the output: no column is dropped.
    Shifted,
    /// Every element of the window for every output.
    Columns,
}

/// True when copying the image once for every column of the window costs less than the columns that are computed and dropped
/// without it, in steps of a vector of eight.
fn favors_shifts(s: &ConvShape, [h, w]: [usize; 2]) -> bool {
    const VECTOR: usize = 8;
    let [oh, ow] = s.output();
    if oh <= 1 || ow == w {
        return false;
    }
    let copied = 2 * s.in_channels * s.kernel[1] * h * ow.div_ceil(VECTOR);
    let dropped = (oh - 1) * (w - ow);
    let products = dropped * s.weight_len() / (2 * VECTOR);
    let moved = 2 * s.out_channels * oh * ow.div_ceil(VECTOR);
    copied < products + moved
}

impl Lattice {
    pub(super) fn new(s: &ConvShape) -> Self {
        let [oh, ow] = s.output();
        if s.stride != [1, 1] {
            let n = oh * ow;
            return Self {
                channel_stride: s.window() * n,
                row_stride: s.kernel[1] * n,
                col_stride: n,
                n,
                pitch: ow,
                source_len: s.in_channels * s.window() * n,
                kind: SourceKind::Columns,
                first_offsets: [0; K_BLOCK],
            }
            .with_offsets(s);
        }
        let [h, w] = [0, 1].map(|i| s.input[i] + 2 * s.padding[i]);
        if favors_shifts(s, [h, w]) {
            return Self {
                channel_stride: s.kernel[1] * h * ow,
                row_stride: s.dilation[0] * ow,
                col_stride: h * ow,
                n: oh * ow,
                pitch: ow,
                source_len: s.in_channels * s.kernel[1] * h * ow,
                kind: SourceKind::Shifted,
                first_offsets: [0; K_BLOCK],
            }
            .with_offsets(s);
        }
        Self {
            channel_stride: h * w,
            row_stride: s.dilation[0] * w,
            col_stride: s.dilation[1],
            n: if oh * ow == 0 { 0 } else { (oh - 1) * w + ow },
            pitch: w,
            source_len: if s.padding == [0, 0] {
                0
            } else {
                s.in_channels * h * w
            },
            kind: SourceKind::Padded,
            first_offsets: [0; K_BLOCK],
        }
        .joined(oh, ow)
        .with_offsets(s)
    }

    fn with_offsets(mut self, s: &ConvShape) -> Self {
        let count = K_BLOCK.min(s.group_inputs() * s.window());
        let mut table = self.first_offsets;
        self.offsets(s, 0, &mut table[..count]);
        self.first_offsets = table;
        self
    }

    /// A single output row, or rows without gaps, need no dropping of columns.
    fn joined(self, oh: usize, ow: usize) -> Self {
        if oh <= 1 {
            Self { pitch: ow, ..self }
        } else {
            self
        }
    }

    /// Floats of an output of `channels` on the grid; zero when the grid is the output.
    pub(super) fn grid_len(&self, channels: usize) -> usize {
        // n is shorter than a multiple of the pitch exactly when columns are dropped.
        if self.n.is_multiple_of(self.pitch.max(1)) {
            0
        } else {
            channels * self.n
        }
    }

    /// Prepares an image for [`Lattice::product`].
    pub(super) fn fill_source(&self, s: &ConvShape, image: &[f32], source: &mut [f32]) {
        let source = &mut source[..self.source_len];
        if self.kind == SourceKind::Columns {
            columns::spell_out(s, image, source);
            return;
        }
        let [h, w] = s.input;
        let (width, shifts) = match self.kind {
            SourceKind::Shifted => (self.pitch, s.kernel[1]),
            _ => (w + 2 * s.padding[1], 1),
        };
        if s.padding != [0, 0] {
            source.fill(0.0);
        }
        for (plane, copies) in image
            .chunks_exact((h * w).max(1))
            .zip(source.chunks_exact_mut(self.channel_stride))
        {
            let copies = copies.chunks_exact_mut(self.channel_stride / shifts);
            for (shift, copy) in copies.enumerate() {
                // Column x of the copy is column x + shift − padding of the image.
                let shift = shift * s.dilation[1];
                let (from, to) = (
                    shift.saturating_sub(s.padding[1]),
                    s.padding[1].saturating_sub(shift),
                );
                let len = w.saturating_sub(from).min(width.saturating_sub(to));
                if len > 0 {
                    let first = s.padding[0] * width + to;
                    move_rows::<COPY>(h, len, &plane[from..], w, &mut copy[first..], width);
                }
            }
        }
    }

    /// The offsets of window elements `from..from + table.len()` of a group's channels.
    pub(super) fn offsets(&self, s: &ConvShape, from: usize, table: &mut [u32]) {
        let [kh, kw] = s.kernel;
        let (mut ky, mut kx) = (from / kw % kh, from % kw);
        let mut channel = from / (kh * kw) * self.channel_stride;
        for offset in table {
            *offset = (channel + ky * self.row_stride + kx * self.col_stride) as u32;
            kx += 1;
            if kx == kw {
                (kx, ky) = (0, ky + 1);
            }
            if ky == kh {
                (ky, channel) = (0, channel + self.channel_stride);
            }
        }
    }

    /// The start of the channels of a group in the source.
    pub(super) fn group_start(&self, s: &ConvShape, group: usize) -> usize {
        group * s.group_inputs() * self.channel_stride
    }

    /// `out[oc, j] = start(oc) + Σ_p w[oc, p] · source[offset[p] + j]` for every group.
    pub(super) fn product(
        &self,
        s: &ConvShape,
        source: &[f32],
        w: &[f32],
        start: impl Fn(usize) -> Start,
        out: &mut [f32],
    ) {
        let window = s.group_inputs() * s.window();
        let m = s.group_outputs();
        assert!(out.len() >= s.out_channels * self.n, "conv: grid too short");
        let mut table = [0u32; K_BLOCK];
        for group in 0..s.groups {
            let source = &source[self.group_start(s, group)..];
            let mut from = 0;
            loop {
                let k = K_BLOCK.min(window - from);
                let table = if from == 0 {
                    &self.first_offsets[..k]
                } else {
                    self.offsets(s, from, &mut table[..k]);
                    &table[..k]
                };
                let reach = table.last().map_or(0, |&last| last as usize + self.n);
                assert!(
                    source.len() >= reach,
                    "conv: source of {} floats, windows reach {reach}",
                    source.len()
                );
                let product = Product {
                    m,
                    k,
                    n: self.n,
                    a: w[group * m * window + from..].as_ptr(),
                    a_row_stride: window,
                    a_col_stride: 1,
                    b: Offsets {
                        base: source.as_ptr(),
                        table: table.as_ptr(),
                    },
                    c: out[group * m * self.n..].as_mut_ptr(),
                    ldc: self.n,
                    start: if from == 0 {
                        start(group * m)
                    } else {
                        Start::Add
                    },
                    relu: false,
                };
                // SAFETY: the last offset is the largest, so every window was checked; the weights have out·window
                // elements by the caller's check, and so has `out` its grid.
                unsafe { strips::run(product) };
                from += k;
                if from == window {
                    break;
                }
            }
        }
    }
}
