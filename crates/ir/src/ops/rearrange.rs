//! Operators that give elements new places or a new shape and compute nothing.

use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};

/// An operator whose results are elements of its one input, unchanged. It costs nothing, and results have the range of
/// the input.
pub(super) trait Rearrange {
    /// The types of the results, as [`Operator::infer`].
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError>;

    /// The dependence of one row on the others, as [`Operator::row_coupling`].
    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling;

    /// PyTorch's module, as [`Operator::torch_module`].
    fn torch_module(&self) -> Option<TorchModule>;
}

impl<T: Rearrange> Operator for T {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        self.infer_shapes(inputs)
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }

    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        Rearrange::row_coupling(self, inputs)
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands.data()
    }

    fn torch_module(&self) -> Option<TorchModule> {
        Rearrange::torch_module(self)
    }
}
