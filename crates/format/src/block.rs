//! The cut of an array into blocks that share a scale, and the walk over them for any rank.
//!
//! Neighbouring axes are merged where blocks allow it, so that the usual cases become one or two axes and a block is
//! one contiguous run; what cannot be merged is walked by counters, without divisions or allocation.

use std::ops::Range;

use crate::magnitude;

/// The elements of an array that make a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSize {
    /// The reach of a block.
    pub reach: Reach,
    /// Keeps every block within one row of axis 0. An array of one axis is one row.
    pub skip_first_dim: bool,
}

/// The reach of a block along each axis of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// So many elements along the last axis, −1 being the whole axis, and one along every other: a part of a row.
    Last(i64),
    /// So many elements along each of the last axes; −1 is the whole axis, and so is an axis in front of the list.
    Axes(Vec<i64>),
}

impl Reach {
    /// The size along the axis that is `from_end` axes from the end, the last being 1; nothing if it is the whole axis.
    #[inline(always)]
    fn along(&self, from_end: usize) -> Option<usize> {
        let size = match self {
            Self::Last(size) if from_end == 1 => *size,
            Self::Last(_) => 1,
            Self::Axes(sizes) => sizes[sizes.len().checked_sub(from_end)?],
        };
        usize::try_from(size).ok().filter(|&size| size > 0)
    }
}

/// The elements of an array that share a scale.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sharing<'a> {
    /// None: each element stands alone.
    Nobody,
    /// The elements of a block.
    Blocks(&'a BlockSize),
    /// All elements.
    Tensor,
    /// The elements with the same index on axis 0.
    Channel,
    /// The elements along the last axis.
    Row,
}

impl Sharing<'_> {
    /// The number of elements of axis `axis` out of `shape` that a block spans.
    #[inline(always)]
    pub fn extent(&self, shape: &[usize], axis: usize) -> usize {
        let dim = shape[axis];
        let whole_if = |whole: bool| if whole { dim } else { 1 };
        match self {
            Self::Nobody => 1,
            Self::Tensor => dim,
            Self::Channel => whole_if(axis > 0),
            Self::Row => whole_if(axis + 1 == shape.len()),
            Self::Blocks(blocks) if blocks.skip_first_dim && axis == 0 && shape.len() > 1 => 1,
            Self::Blocks(blocks) => {
                let size = blocks.reach.along(shape.len() - axis);
                size.map_or(dim, |size| size.min(dim))
            }
        }
    }

    /// True when no block spans two indices of axis 0.
    pub fn keeps_rows_apart(&self, shape: &[usize]) -> bool {
        shape.is_empty() || self.extent(shape, 0) <= 1
    }

    /// The number of blocks in an array of this shape.
    pub fn n_blocks(&self, shape: &[usize]) -> usize {
        let per_axis = |axis: usize| shape[axis].div_ceil(self.extent(shape, axis).max(1));
        (0..shape.len()).map(per_axis).product()
    }
}

/// An array with more axes of two or more elements than this does not fit into an address space.
const MAX_AXES: usize = 48;

#[derive(Clone, Copy, Default)]
struct Axis {
    dim: usize,
    extent: usize,
    stride: usize,
    /// The start of the block.
    begin: usize,
    /// The number of elements of the block, fewer than `extent` at the end of the axis.
    len: usize,
    /// The one that the run is at.
    at: usize,
}

/// The walk over the blocks of an array in row-major order, and over the contiguous runs of each block.
pub(crate) struct Blocks {
    /// Innermost first.
    axes: [Axis; MAX_AXES],
    rank: usize,
    offset: usize,
    started: bool,
    run: usize,
    in_block: bool,
}

impl Blocks {
    /// The walk over a non-empty array.
    #[inline(always)]
    pub fn new(shape: &[usize], sharing: Sharing<'_>) -> Self {
        let mut axes = [Axis::default(); MAX_AXES];
        axes[0] = Axis {
            dim: 1,
            extent: 1,
            stride: 1,
            ..Axis::default()
        };
        let (mut last, mut stride) = (0, 1);
        for axis in (0..shape.len()).rev() {
            let (dim, extent) = (shape[axis], sharing.extent(shape, axis));
            let inner = &mut axes[last];
            // One block covers the inner axis, or whole blocks fill it and none spans two steps of the outer one.
            let fills = inner.dim % inner.extent == 0;
            if inner.extent == inner.dim || (extent == 1 && fills) {
                inner.extent *= extent;
                inner.dim *= dim;
            } else if dim > 1 {
                last += 1;
                axes[last] = Axis {
                    dim,
                    extent,
                    stride,
                    ..Axis::default()
                };
            }
            stride *= dim;
        }
        Self {
            axes,
            rank: last + 1,
            offset: 0,
            started: false,
            run: 0,
            in_block: false,
        }
    }

    /// Joins blocks that lie side by side along the last axis, up to `max_len` elements a run, and gives the length of a
    /// single block's run; nothing, and no change, if no two fit.
    #[inline(always)]
    pub fn join(&mut self, max_len: usize) -> Option<usize> {
        let inner = &mut self.axes[0];
        let single = inner.extent;
        if single == inner.dim || single > max_len / 2 {
            return None;
        }
        inner.extent = max_len / single * single;
        Some(single)
    }

    /// Goes to the next block; false after the last.
    #[inline(always)]
    pub fn next_block(&mut self) -> bool {
        let mut moved = !self.started;
        self.started = true;
        for axis in &mut self.axes[..self.rank] {
            if !moved {
                self.offset += axis.extent * axis.stride;
                axis.begin += axis.extent;
                if axis.begin < axis.dim {
                    moved = true;
                } else {
                    // The last step may end beyond the axis, but always at the sum of the steps taken.
                    self.offset -= axis.begin * axis.stride;
                    axis.begin = 0;
                }
            }
            axis.len = axis.extent.min(axis.dim - axis.begin);
        }
        self.run = self.offset;
        self.in_block = true;
        moved
    }

    /// The length of the block's runs.
    #[inline(always)]
    pub fn run_len(&self) -> usize {
        self.axes[0].len
    }

    /// The next contiguous run of the block; after the last one `None`, and then the first again.
    #[inline(always)]
    pub fn next_run(&mut self) -> Option<Range<usize>> {
        if !self.in_block {
            self.in_block = true;
            return None;
        }
        let run = self.run..self.run + self.axes[0].len;
        self.in_block = false;
        for axis in &mut self.axes[1..self.rank] {
            axis.at += 1;
            self.run += axis.stride;
            if axis.at < axis.len {
                self.in_block = true;
                break;
            }
            self.run -= axis.at * axis.stride;
            axis.at = 0;
        }
        Some(run)
    }
}

/// The elements of one block, for what a format takes from all of them.
pub(crate) struct Block<'a> {
    pub x: &'a [f32],
    pub runs: &'a mut Blocks,
}

impl Block<'_> {
    /// The largest magnitude; NaN counts as 0 and infinity as the largest float.
    #[inline(always)]
    pub fn abs_max(&mut self) -> f32 {
        let mut max = 0;
        while let Some(run) = self.runs.next_run() {
            max = magnitude::max_bits(max, &self.x[run]);
        }
        f32::from_bits(max)
    }

    /// The mean of the magnitudes above `threshold`, 0 if there are none; NaN and infinity as in [`Self::abs_max`].
    #[inline(always)]
    pub fn abs_mean_above(&mut self, threshold: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        while let Some(run) = self.runs.next_run() {
            let (run_sum, run_count) = magnitude::sum_above(threshold, &self.x[run]);
            sum += run_sum;
            count += run_count;
        }
        if count == 0 { 0.0 } else { sum / count as f64 }
    }

    /// The mean magnitude.
    #[inline(always)]
    pub fn abs_mean(&mut self) -> f64 {
        self.abs_mean_above(-1.0)
    }
}
