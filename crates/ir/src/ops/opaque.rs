//! An operator of another program that this one does not know: shown, counted as unknown, and written back as it was.

use super::check;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `opaque`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opaque {
    /// The operator in its own words, `NonMaxSuppression`.
    pub operator: String,
    /// The set of operators that it belongs to; empty for ONNX's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// The version of that set.
    pub version: i64,
    /// The types of the results, as the file states them.
    pub results: Vec<String>,
    /// The attributes as text, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// The message of the file that holds the node, with the constants it reads, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

impl Operator for Opaque {
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::MoreData]
    }

    fn infer(&self, _inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("the number of results", self.results.len())?;
        let parsed = self.results.iter().map(|text| {
            text.parse().map_err(|_| {
                OpError::attribute(
                    "results",
                    format!("\"{text}\""),
                    "is not a type such as f32[N, 3]",
                )
            })
        });
        parsed.collect()
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::UNKNOWN
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Coupled
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
