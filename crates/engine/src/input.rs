//! The inputs that a caller feeds into a plan.

use crate::EngineError;
use crate::options::PlanOptions;
use ir::{DType, Elements, NodeId, Verified};

/// The largest magnitude up to which an f32 holds every integer.
const MAX_INTEGER: u64 = 1 << 24;

/// The values of one placeholder for a whole batch, in row-major order.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Floats.
    F32(&'a [f32]),
    /// Indices. The engine holds them in f32, which is exact: the verifier bounds embeddings at 2^24 rows.
    I64(&'a [i64]),
    /// Rows of a larger array of floats, picked by number: a shuffled batch needs no copy of its own.
    Gather {
        /// All rows there are.
        values: &'a [f32],
        /// The rows of this batch.
        indices: &'a [u32],
    },
    /// Rows of a larger array of indices, picked by number.
    GatherI64 {
        /// All rows there are.
        values: &'a [i64],
        /// The rows of this batch.
        indices: &'a [u32],
    },
}

/// The inputs of a batch: the rows with these numbers, out of an array for each placeholder.
pub fn gather<'a>(
    arrays: impl IntoIterator<Item = Elements<'a>>,
    indices: &'a [u32],
) -> Vec<Input<'a>> {
    let input = |elements| match elements {
        Elements::F32(values) => Input::Gather { values, indices },
        Elements::I64(values) => Input::GatherI64 { values, indices },
    };
    arrays.into_iter().map(input).collect()
}

impl Input<'_> {
    fn dtype_name(&self) -> &'static str {
        match self {
            Self::F32(_) | Self::Gather { .. } => "f32",
            Self::I64(_) | Self::GatherI64 { .. } => "i64",
        }
    }

    /// Copies the rows from `first` on, of `width` elements each, into `target`.
    pub fn copy_to(&self, first: usize, width: usize, target: &mut [f32]) {
        let start = first * width;
        match self {
            Self::F32(values) => target.copy_from_slice(&values[start..start + target.len()]),
            Self::I64(values) => {
                for (to, from) in target.iter_mut().zip(&values[start..]) {
                    *to = *from as f32;
                }
            }
            Self::Gather { values, indices } => {
                for (to, &index) in target.chunks_exact_mut(width.max(1)).zip(&indices[first..]) {
                    let start = index as usize * width;
                    to.copy_from_slice(&values[start..start + width]);
                }
            }
            Self::GatherI64 { values, indices } => {
                for (to, &index) in target.chunks_exact_mut(width.max(1)).zip(&indices[first..]) {
                    let row = &values[index as usize * width..][..width];
                    for (to, &from) in to.iter_mut().zip(row) {
                        *to = from as f32;
                    }
                }
            }
        }
    }
}

/// The input that a placeholder accepts.
pub(crate) struct InputInfo {
    name: String,
    dtype: DType,
    /// Elements in the whole batch.
    len: usize,
    /// Exclusive upper bound of its values, when they index an embedding.
    index_bound: Option<usize>,
}

/// The inputs that the placeholders of a graph accept, in order.
pub(crate) fn input_infos(
    verified: &Verified,
    options: &PlanOptions,
) -> Result<Vec<InputInfo>, EngineError> {
    let info = |id: NodeId| {
        let name = verified.graph().node(id).name.clone();
        let ty = verified.ty(id.into());
        let too_large = || EngineError::TooLarge {
            node: name.clone(),
            rows: options.rows,
        };
        let len = ty
            .shape
            .bind(options.rows)
            .ok_or_else(too_large)?
            .iter()
            .product();
        let index_bound = verified.index_bound(id);
        Ok(InputInfo {
            dtype: ty.dtype,
            len,
            index_bound,
            name,
        })
    };
    verified.placeholders().into_iter().map(info).collect()
}

impl InputInfo {
    /// Elements of the whole batch.
    pub fn elements(&self) -> usize {
        self.len
    }

    /// Elements of one row of the batch.
    pub fn width(&self, rows: usize) -> usize {
        self.len / rows
    }

    pub fn check(&self, input: &Input, rows: usize) -> Result<(), EngineError> {
        let name = || self.name.clone();
        let wrong_length = |got: usize| EngineError::InputLength {
            name: name(),
            rows,
            expected: self.len,
            got,
        };
        match (self.dtype, input) {
            (DType::F32 | DType::Bool, Input::F32(values)) if values.len() != self.len => {
                Err(wrong_length(values.len()))
            }
            (DType::I64, Input::I64(values)) if values.len() != self.len => {
                Err(wrong_length(values.len()))
            }
            (DType::I64, Input::I64(values)) => self.check_indices(values),
            (DType::F32 | DType::Bool, Input::F32(_)) => Ok(()),
            (DType::F32 | DType::Bool, Input::Gather { values, indices }) => {
                self.check_gather(values.len(), indices, rows)
            }
            (DType::I64, Input::GatherI64 { values, indices }) => {
                self.check_gather(values.len(), indices, rows)?;
                let width = self.width(rows);
                indices.iter().try_for_each(|&index| {
                    self.check_indices(&values[index as usize * width..][..width])
                })
            }
            _ => Err(EngineError::InputType {
                name: name(),
                expected: self.dtype.to_string(),
                got: input.dtype_name(),
            }),
        }
    }

    fn check_indices(&self, values: &[i64]) -> Result<(), EngineError> {
        let Some(bound) = self.index_bound else {
            let too_large = values.iter().find(|v| v.unsigned_abs() > MAX_INTEGER);
            return too_large.map_or(Ok(()), |&value| {
                Err(EngineError::IntegerTooLarge {
                    name: self.name.clone(),
                    value,
                })
            });
        };
        match values.iter().find(|&&v| v < 0 || v >= bound as i64) {
            Some(&index) => Err(EngineError::IndexOutOfRange {
                name: self.name.clone(),
                index,
                bound,
            }),
            None => Ok(()),
        }
    }

    fn check_gather(
        &self,
        n_values: usize,
        indices: &[u32],
        rows: usize,
    ) -> Result<(), EngineError> {
        let width = self.width(rows);
        let name = || self.name.clone();
        if indices.len() != rows {
            let got = indices.len() * width;
            return Err(EngineError::InputLength {
                name: name(),
                rows,
                expected: self.len,
                got,
            });
        }
        let bound = n_values / width.max(1);
        match indices.iter().find(|&&index| index as usize >= bound) {
            Some(&index) => Err(EngineError::IndexOutOfRange {
                name: name(),
                index: i64::from(index),
                bound,
            }),
            None => Ok(()),
        }
    }
}
