//! Softmax along one axis, `y = exp(x)/Σ exp(x)`, and its logarithm.

use super::check;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

macro_rules! softmax {
    ($(#[$doc:meta])* $name:ident, $class:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The axis along which the exponentials are summed; negative axes count from the end.
            pub dim: i64,
        }

        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(1)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let shape = check::f32_input(inputs, 0)?;
                shape.axis(self.dim)?;
                Ok(vec![Type::f32(shape.clone())])
            }

            fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
                Cost::per_input(inputs, 1)
            }

            fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
                RowCoupling::along(inputs, self.dim)
            }

            fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
                None
            }

            fn torch_module(&self) -> Option<TorchModule> {
                Some(TorchModule::new($class, format!("dim={}", self.dim)))
            }
        }
    };
}

softmax!(
    /// Attributes of `softmax`.
    Softmax, "Softmax"
);
softmax!(
    /// Attributes of `log_softmax`.
    LogSoftmax, "LogSoftmax"
);
