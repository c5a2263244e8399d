//! Normalisation of groups of channels of each sample, `y = (x − μ)/√(σ² + ε)·γ + β` with γ and β for each channel.

use super::check;
use super::layer_norm::default_eps;
use crate::torch_repr::{python_bool, python_float};
use crate::{
    CodeRange, Cost, Dim, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// The answers of a norm of `channels` in `groups` with or without γ and β.
macro_rules! group_norm {
    ($name:ident, channels: $channels:ident, groups: $groups:ident, torch: $module:expr) => {
        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                let mut ports = PortSpec::data(1);
                if self.affine {
                    ports.push(PortSpec::param("weight", &[self.$channels], Init::Ones));
                    ports.push(PortSpec::param("bias", &[self.$channels], Init::Zeros));
                }
                ports
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                check::finite_not_negative("eps", self.eps)?;
                infer(self.$channels, self.$groups, inputs)
            }

            fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
                Cost::per_input(inputs, 5)
            }

            /// It normalises over channels and space, never over the batch.
            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            fn exact_range(
                &self,
                _inputs: &[Type],
                _operands: &OperandRanges,
            ) -> Option<CodeRange> {
                None
            }

            fn torch_module(&self) -> Option<TorchModule> {
                let module: fn(&Self) -> Option<TorchModule> = $module;
                module(self)
            }
        }
    };
}

/// Attributes of `group_norm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupNorm {
    /// Parts into which the channels are split, each of which is normalised.
    pub num_groups: usize,
    /// Channels of the input, its second axis.
    pub num_channels: usize,
    /// Added to the variance.
    #[serde(default = "default_eps")]
    pub eps: f64,
    /// Gives the layer γ and β.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub affine: bool,
}

impl GroupNorm {
    fn module(&self) -> TorchModule {
        let arguments = format!(
            "{}, {}, eps={}, affine={}",
            self.num_groups,
            self.num_channels,
            python_float(self.eps),
            python_bool(self.affine)
        );
        TorchModule::new("GroupNorm", arguments)
    }
}

group_norm!(GroupNorm, channels: num_channels, groups: num_groups, torch: |op| Some(op.module()));

/// Attributes of `instance_norm`, which normalises each channel of each sample by its own moments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceNorm {
    /// Channels of the input, its second axis.
    pub num_features: usize,
    /// Added to the variance.
    #[serde(default = "default_eps")]
    pub eps: f64,
    /// Gives the layer γ and β.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub affine: bool,
}

// PyTorch's class depends on the axes of the input.
group_norm!(InstanceNorm, channels: num_features, groups: num_features, torch: |_| None);

fn infer(channels: usize, groups: usize, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
    check::positive("num_channels", channels)?;
    check::positive("num_groups", groups)?;
    if !channels.is_multiple_of(groups) {
        let why = format!("must divide num_channels {channels}");
        return Err(OpError::attribute("num_groups", groups, why));
    }
    let shape = check::f32_input(inputs, 0)?;
    let is_sized = shape.0.iter().skip(1).all(|dim| dim.fixed().is_some());
    if shape.0.get(1).and_then(Dim::fixed) != Some(channels) || !is_sized {
        let expected = format!("{channels} channels on axis 1, and sizes for all axes behind");
        return Err(OpError::input(0, expected, &inputs[0]));
    }
    Ok(vec![inputs[0].clone()])
}
