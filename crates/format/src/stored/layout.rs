//! The places of stored values: which elements of an array share one, and the walk over them in the order of memory.

use std::ops::Range;

use crate::error::FormatError;
use crate::field::{FieldValue, Fields};

/// The places that share a value of the stored fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Those with the same index on an axis.
    Along(usize),
    /// So many neighbours along an axis.
    Blocks { axis: usize, size: usize },
    /// Those at the same place of the last axes.
    Elements,
}

impl Layout {
    /// The layout that `axis` and, where the format has it, `block` describe.
    pub fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let axis: Option<usize> = fields.int("axis", 0..=7)?;
        let size: Option<usize> = fields.int("block", 0..=i64::from(i32::MAX))?;
        match (axis, size.filter(|&size| size > 0)) {
            (Some(axis), None) => Ok(Self::Along(axis)),
            (Some(axis), Some(size)) => Ok(Self::Blocks { axis, size }),
            (None, None) => Ok(Self::Elements),
            (None, Some(size)) => Err(fields.bad_value("block", size, "needs an axis")),
        }
    }

    /// The values of `axis` and `block`.
    pub fn fields(self) -> (FieldValue, FieldValue) {
        let int = |number: usize| FieldValue::Int(number as i64);
        match self {
            Self::Along(axis) => (int(axis), int(0)),
            Self::Blocks { axis, size } => (int(axis), int(size)),
            Self::Elements => (FieldValue::not_given(), int(0)),
        }
    }

    /// The shape of the stored arrays for an array of this shape; nothing if it has no such axis.
    pub fn shape_for(self, shape: &[usize]) -> Option<Vec<usize>> {
        match self {
            Self::Along(axis) => Some(vec![*shape.get(axis)?]),
            Self::Blocks { axis, size } => {
                let mut blocks = shape.to_vec();
                let dim = blocks.get_mut(axis)?;
                *dim = dim.div_ceil(size);
                Some(blocks)
            }
            Self::Elements => Some(shape.to_vec()),
        }
    }
    /// The walk over an array of this shape, for so many places.
    #[inline(always)]
    pub fn runs(self, shape: &[usize], n_places: usize) -> Runs {
        let len = shape.iter().product();
        let (walk, fits) = match self {
            Self::Elements => (Walk::Rows, n_places > 0 && len % n_places == 0),
            Self::Along(axis) => {
                let inner: usize = shape[axis + 1..].iter().product();
                let walk = if inner == 1 {
                    Walk::Rows
                } else {
                    Walk::Along { inner }
                };
                (walk, shape[axis] == n_places)
            }
            Self::Blocks { axis, size } => {
                let (dim, inner) = (shape[axis], shape[axis + 1..].iter().product());
                let n_blocks = dim.div_ceil(size);
                let outer: usize = shape[..axis].iter().product();
                let walk = Walk::Blocks {
                    inner,
                    dim,
                    size,
                    n_blocks,
                };
                (walk, outer * n_blocks * inner == n_places)
            }
        };
        assert!(
            len == 0 || fits,
            "{n_places} stored values do not fit the shape {shape:?}"
        );
        Runs {
            walk,
            len,
            n_places,
            at: 0,
        }
    }
}

/// The places of a run of elements.
pub(super) enum Run {
    /// One for all.
    Same(usize),
    /// One for each, from this one on.
    Each(usize),
}

/// The walk over an array in the order of its memory.
pub(super) struct Runs {
    walk: Walk,
    len: usize,
    n_places: usize,
    at: usize,
}

/// The way from run to run.
#[derive(Clone, Copy)]
enum Walk {
    /// Rows that have all places.
    Rows,
    /// Runs of so many elements, one place after the other.
    Along { inner: usize },
    /// Blocks of `size` along an axis of `dim`, with `inner` elements behind each of its indices.
    Blocks {
        inner: usize,
        dim: usize,
        size: usize,
        n_blocks: usize,
    },
}

impl Runs {
    /// The next run and its places.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Range<usize>, Run)> {
        let at = self.at;
        if at >= self.len {
            return None;
        }
        let (len, run) = match self.walk {
            Walk::Rows => (self.n_places, Run::Each(0)),
            Walk::Along { inner } => (inner, Run::Same(at / inner % self.n_places)),
            Walk::Blocks {
                inner,
                dim,
                size,
                n_blocks,
            } => {
                let (outer, along) = (at / inner / dim, at / inner % dim);
                let place = (outer * n_blocks + along / size) * inner;
                if inner == 1 {
                    (size.min(dim - along), Run::Same(place))
                } else {
                    (inner, Run::Each(place))
                }
            }
        };
        self.at = at + len;
        Some((at..self.at, run))
    }
    /// The place of every element.
    pub fn places(mut self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.len);
        while let Some((range, run)) = self.next() {
            match run {
                Run::Same(place) => places.extend(range.map(|_| place)),
                Run::Each(first) => places.extend(first..first + range.len()),
            }
        }
        places
    }
}
