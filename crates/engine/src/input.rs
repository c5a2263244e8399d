//! What a caller feeds into a plan.

use crate::EngineError;
use crate::options::PlanOptions;
use ir::{DType, NodeId, Op, Verified};

/// The values of one placeholder for a whole batch, in row-major order.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Floats.
    F32(&'a [f32]),
    /// Indices. The engine holds them in f32, which is exact: the verifier bounds embeddings at 2^24 rows.
    I64(&'a [i64]),
}

impl Input<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    fn dtype_name(&self) -> &'static str {
        match self {
            Self::F32(_) => "f32",
            Self::I64(_) => "i64",
        }
    }

    /// Copies the elements from `start` on into `target`.
    pub(crate) fn copy_to(&self, start: usize, target: &mut [f32]) {
        match self {
            Self::F32(values) => target.copy_from_slice(&values[start..start + target.len()]),
            Self::I64(values) => {
                for (to, from) in target.iter_mut().zip(&values[start..]) {
                    *to = *from as f32;
                }
            }
        }
    }
}

/// What a placeholder accepts.
pub(crate) struct InputInfo {
    name: String,
    dtype: DType,
    /// Elements in the whole batch.
    len: usize,
    /// Exclusive upper bound of its values, when they index an embedding.
    index_bound: Option<usize>,
}

/// What every placeholder of a graph accepts, in order.
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
        let index_bound = index_bound(verified, id);
        Ok(InputInfo {
            dtype: ty.dtype,
            len,
            index_bound,
            name,
        })
    };
    verified.placeholders().into_iter().map(info).collect()
}

/// The smallest embedding that a placeholder's values reach, directly or through shape helpers.
fn index_bound(verified: &Verified, source: NodeId) -> Option<usize> {
    let graph = verified.graph();
    let mut carries = vec![false; graph.nodes().len()];
    let mut bound = None;
    carries[source.index()] = verified.ty(source.into()).dtype == DType::I64;
    for (id, node) in graph.iter() {
        if !node.inputs.iter().any(|value| carries[value.node.index()]) {
            continue;
        }
        if let Op::Embedding(op) = &node.op {
            bound = Some(bound.map_or(op.num_embeddings, |b: usize| b.min(op.num_embeddings)));
        } else {
            carries[id.index()] = true;
        }
    }
    bound
}

impl InputInfo {
    pub fn check(&self, input: &Input, rows: usize) -> Result<(), EngineError> {
        let fits = matches!(
            (self.dtype, input),
            (DType::F32 | DType::Bool, Input::F32(_)) | (DType::I64, Input::I64(_))
        );
        if !fits {
            let expected = self.dtype.to_string();
            return Err(EngineError::InputType {
                name: self.name.clone(),
                expected,
                got: input.dtype_name(),
            });
        }
        if input.len() != self.len {
            let (expected, got) = (self.len, input.len());
            return Err(EngineError::InputLength {
                name: self.name.clone(),
                rows,
                expected,
                got,
            });
        }
        if let (Input::I64(values), Some(bound)) = (input, self.index_bound)
            && let Some(&index) = values.iter().find(|&&v| v < 0 || v >= bound as i64)
        {
            return Err(EngineError::IndexOutOfRange {
                name: self.name.clone(),
                index,
                bound,
            });
        }
        Ok(())
    }
}
