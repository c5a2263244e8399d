//! A choice between two values, element by element.

use super::check;
use crate::{
    CodeRange, Cost, DType, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `where`, whose inputs are the condition, the value where it holds and the value elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Where {}

impl Operator for Where {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(3)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let condition = check::input_of(inputs, 0, DType::Bool)?;
        let values = check::alike(inputs, [1, 2])?;
        let shape = values.shape.broadcast(condition)?;
        Ok(vec![values.with_shape(shape)])
    }

    fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        Cost::per_result(outputs)
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands
            .port("data_in_1")?
            .joined(operands.port("data_in_2")?)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
