//! Embedding, `y[…, :] = W[x[…], :]`.

use super::check;
use crate::{
    CodeRange, Cost, DType, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `embedding`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// Rows of the table; at most [`Embedding::MAX_ROWS`].
    pub num_embeddings: usize,
    /// Size of a row.
    pub embedding_dim: usize,
}

impl Embedding {
    /// The engine holds indices in f32, which counts without gaps only up to 2²⁴.
    pub const MAX_ROWS: usize = 1 << 24;
}

impl Operator for Embedding {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(1);
        let table = [self.num_embeddings, self.embedding_dim];
        ports.push(PortSpec::param("weight", &table, Init::Normal(1.0)));
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("num_embeddings", self.num_embeddings)?;
        check::positive("embedding_dim", self.embedding_dim)?;
        if self.num_embeddings > Self::MAX_ROWS {
            let why = format!(
                "must be at most {}, the largest index an f32 holds",
                Self::MAX_ROWS
            );
            return Err(OpError::attribute(
                "num_embeddings",
                self.num_embeddings,
                why,
            ));
        }
        let input = check::any_input(inputs, 0)?;
        if input.dtype != DType::I64 {
            return Err(OpError::input(0, "i64 indices", input));
        }
        let mut shape = input.shape.clone();
        shape.0.push(self.embedding_dim.into());
        Ok(vec![Type::f32(shape)])
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let arguments = format!("{}, {}", self.num_embeddings, self.embedding_dim);
        Some(TorchModule::new("Embedding", arguments))
    }
}
