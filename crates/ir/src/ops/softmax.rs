//! Softmax along one axis, `y = exp(x)/Σ exp(x)`, and its logarithm.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Type};
use serde::{Deserialize, Serialize};

macro_rules! softmax {
    ($(#[$doc:meta])* $name:ident) => {
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
                Cost::elementwise(check::numel(inputs[0]))
            }
        }
    };
}

softmax!(
    /// Attributes of `softmax`.
    Softmax
);
softmax!(
    /// Attributes of `log_softmax`.
    LogSoftmax
);
