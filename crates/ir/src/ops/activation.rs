//! Activations that work on each element alone.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Type};
use serde::{Deserialize, Serialize};

/// One f32 input, a result of the same shape, one operation per element; `check` looks at the attributes.
macro_rules! elementwise {
    ($name:ident, $check:expr) => {
        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(1)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let check: fn(&Self) -> Result<(), OpError> = $check;
                check(self)?;
                Ok(vec![Type::f32(check::f32_input(inputs, 0)?.clone())])
            }

            fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
                Cost::elementwise(check::numel(inputs[0]))
            }
        }
    };
}

/// The activations without attributes.
macro_rules! plain {
    ($($name:ident = $op:literal;)*) => {$(
        #[doc = concat!("Attributes of `", $op, "`: none.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {}

        elementwise!($name, |_| Ok(()));
    )*};
}

plain! {
    Relu6 = "relu6";
    Hardswish = "hardswish";
    Hardsigmoid = "hardsigmoid";
    Sigmoid = "sigmoid";
    Tanh = "tanh";
    Silu = "silu";
    Selu = "selu";
    Softsign = "softsign";
}

/// Attributes of `relu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relu {
    /// Accepted because PyTorch prints it; it changes nothing here.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub inplace: bool,
}

elementwise!(Relu, |_| Ok(()));

/// Attributes of `hardtanh`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hardtanh {
    /// The smallest result.
    pub min_val: f64,
    /// The largest result.
    pub max_val: f64,
}

impl Default for Hardtanh {
    fn default() -> Self {
        Self {
            min_val: -1.0,
            max_val: 1.0,
        }
    }
}

elementwise!(Hardtanh, |op| {
    check::finite("min_val", op.min_val)?;
    check::finite("max_val", op.max_val)?;
    if op.min_val >= op.max_val {
        let why = format!("must be less than max_val {}", op.max_val);
        return Err(OpError::attribute("min_val", op.min_val, why));
    }
    Ok(())
});

/// Attributes of `gelu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gelu {
    /// How Φ is computed.
    #[serde(default, skip_serializing_if = "GeluForm::is_exact")]
    pub approximate: GeluForm,
}

/// The two forms of GELU that PyTorch has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeluForm {
    /// With the error function.
    #[default]
    None,
    /// With `tanh(√(2/π)·(x + 0.044715·x³))`.
    Tanh,
}

impl GeluForm {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_exact(&self) -> bool {
        *self == Self::None
    }
}

elementwise!(Gelu, |_| Ok(()));

/// Attributes of `elu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Elu {
    /// The limit for very negative inputs is −alpha.
    pub alpha: f64,
}

impl Default for Elu {
    fn default() -> Self {
        Self { alpha: 1.0 }
    }
}

elementwise!(Elu, |op| check::finite("alpha", op.alpha));

/// Attributes of `softplus`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Softplus {
    /// Steepness.
    pub beta: f64,
    /// Above beta·x = threshold the result is x itself.
    pub threshold: f64,
}

impl Default for Softplus {
    fn default() -> Self {
        Self {
            beta: 1.0,
            threshold: 20.0,
        }
    }
}

elementwise!(Softplus, |op| {
    check::finite("threshold", op.threshold)?;
    check::finite_not_negative("beta", op.beta)?;
    if op.beta == 0.0 {
        return Err(OpError::attribute("beta", op.beta, "must not be 0"));
    }
    Ok(())
});
