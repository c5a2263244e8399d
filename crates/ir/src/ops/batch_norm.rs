//! Batch normalisation, `y = (x − μ)/√(σ² + ε)·γ + β` per channel: batch statistics in training, running ones in
//! evaluation.

use super::check;
use crate::torch_repr::python_float;
use crate::{
    BitOpRule, CodeRange, Cost, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

macro_rules! batch_norm {
    ($(#[$doc:meta])* $name:ident, $class:literal, $ranks:expr, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Number of channels, the second axis.
            pub num_features: usize,
            /// Added to the variance.
            #[serde(default = "default_eps")]
            pub eps: f64,
            /// Weight of the new batch in the running statistics.
            #[serde(default = "default_momentum")]
            pub momentum: f64,
        }

        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                ports(self.num_features)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                check::positive("num_features", self.num_features)?;
                check::finite_not_negative("eps", self.eps)?;
                check::finite_not_negative("momentum", self.momentum)?;
                let shape = check::f32_input(inputs, 0)?;
                let channels = shape.0.get(1).and_then(crate::Dim::fixed);
                if !$ranks.contains(&shape.rank()) || channels != Some(self.num_features) {
                    let expected = format!($expected, self.num_features);
                    return Err(OpError::input(0, expected, &inputs[0]));
                }
                Ok(vec![inputs[0].clone()])
            }

            fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
                Cost { bit_ops: BitOpRule::Square, ..Cost::per_input(inputs, 4) }
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::BatchStatistics
            }

            /// In evaluation it computes x·scale + shift; its weight and bias formats are theirs.
            fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                operands.dot(1, true)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                let (eps, momentum) = (python_float(self.eps), python_float(self.momentum));
                let arguments = format!(
                    "{}, eps={eps}, momentum={momentum}, affine=True, track_running_stats=True",
                    self.num_features
                );
                Some(TorchModule::new($class, arguments))
            }
        }
    };
}

batch_norm!(
    /// Attributes of `batch_norm1d`.
    BatchNorm1d, "BatchNorm1d", [2, 3], "f32[N, {0}] or f32[N, {0}, L]"
);
batch_norm!(
    /// Attributes of `batch_norm2d`.
    BatchNorm2d, "BatchNorm2d", [4], "f32[N, {0}, H, W]"
);

fn ports(channels: usize) -> Vec<PortSpec> {
    let mut ports = PortSpec::data(1);
    ports.push(PortSpec::param("weight", &[channels], Init::Ones));
    ports.push(PortSpec::param("bias", &[channels], Init::Zeros));
    ports.push(PortSpec::buffer("running_mean", &[channels], Init::Zeros));
    ports.push(PortSpec::buffer("running_var", &[channels], Init::Ones));
    ports
}

fn default_eps() -> f64 {
    1e-5
}

fn default_momentum() -> f64 {
    0.1
}
