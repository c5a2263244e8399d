//! Activations that work on each element alone.

use super::check;
use crate::torch_repr::python_float;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// One f32 input, a result of the same shape, one operation per element; `check` looks at the attributes, `exact` gives
/// the exact range of the results, `torch` the class and the arguments of PyTorch's module, or none.
macro_rules! elementwise {
    ($name:ident, check: $check:expr, exact: $exact:expr, torch: none) => {
        elementwise!($name, check: $check, exact: $exact, module: |_| None);
    };
    ($name:ident, check: $check:expr, exact: $exact:expr, torch: $class:literal, $arguments:expr) => {
        elementwise!($name, check: $check, exact: $exact, module: |op| {
            let arguments: fn(&Self) -> String = $arguments;
            Some(TorchModule::new($class, arguments(op)))
        });
    };
    ($name:ident, check: $check:expr, exact: $exact:expr, module: $module:expr) => {
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
                Cost::per_input(inputs, 1)
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                let exact: fn(&Self, CodeRange) -> Option<CodeRange> = $exact;
                exact(self, operands.data()?)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                let module: fn(&Self) -> Option<TorchModule> = $module;
                module(self)
            }
        }
    };
}
pub(super) use elementwise;

/// The activations without attributes: the operator, PyTorch's class, the exact range.
macro_rules! plain {
    ($($name:ident = $op:literal, $class:literal, $exact:expr;)*) => {$(
        #[doc = concat!("Attributes of `", $op, "`: none.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {}

        elementwise!($name, check: |_| Ok(()), exact: $exact, torch: $class, |_| String::new());
    )*};
}

plain! {
    Relu6 = "relu6", "ReLU6", |_, x| x.clamp_below(0.0)?.clamp_above(6.0);
    Hardswish = "hardswish", "Hardswish", |_, _| None;
    Sigmoid = "sigmoid", "Sigmoid", |_, _| None;
    Tanh = "tanh", "Tanh", |_, _| None;
    Silu = "silu", "SiLU", |_, _| None;
    Selu = "selu", "SELU", |_, _| None;
    Softsign = "softsign", "Softsign", |_, _| None;
}

/// Attributes of `relu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relu {
    /// Accepted because PyTorch prints it; it changes nothing here.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub inplace: bool,
}

elementwise!(
    Relu,
    check: |_| Ok(()),
    exact: |_, x| x.clamp_below(0.0),
    torch: "ReLU", |op| if op.inplace { "inplace=True".to_owned() } else { String::new() }
);

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

impl Hardtanh {
    fn check_bounds(&self) -> Result<(), OpError> {
        check::finite("min_val", self.min_val)?;
        check::finite("max_val", self.max_val)?;
        if self.min_val >= self.max_val {
            let why = format!("must be less than max_val {}", self.max_val);
            return Err(OpError::attribute("min_val", self.min_val, why));
        }
        Ok(())
    }
}

elementwise!(
    Hardtanh,
    check: Self::check_bounds,
    exact: |op, x| x.clamp_below(op.min_val)?.clamp_above(op.max_val),
    torch: "Hardtanh", |op| {
        let (min, max) = (python_float(op.min_val), python_float(op.max_val));
        format!("min_val={min}, max_val={max}")
    }
);

/// Attributes of `hardsigmoid`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hardsigmoid {
    /// The slope between 0 and 1; PyTorch's is 1/6.
    #[serde(skip_serializing_if = "Hardsigmoid::is_sixth")]
    pub alpha: f64,
    /// The result at 0; PyTorch's is 1/2.
    #[serde(skip_serializing_if = "Hardsigmoid::is_half")]
    pub beta: f64,
}

impl Default for Hardsigmoid {
    fn default() -> Self {
        Self {
            alpha: 1.0 / 6.0,
            beta: 0.5,
        }
    }
}

impl Hardsigmoid {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_sixth(alpha: &f64) -> bool {
        *alpha == Self::default().alpha
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_half(beta: &f64) -> bool {
        *beta == Self::default().beta
    }

    /// True for the form that PyTorch has.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    fn check_attributes(&self) -> Result<(), OpError> {
        check::finite("alpha", self.alpha)?;
        check::finite("beta", self.beta)
    }
}

elementwise!(
    Hardsigmoid,
    check: Self::check_attributes,
    exact: |_, _| None,
    module: |op| op.is_plain().then(|| TorchModule::new("Hardsigmoid", ""))
);

/// Attributes of `gelu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gelu {
    /// The form of Φ.
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

elementwise!(
    Gelu,
    check: |_| Ok(()),
    exact: |_, _| None,
    torch: "GELU", |op| match op.approximate {
        GeluForm::None => "approximate='none'".to_owned(),
        GeluForm::Tanh => "approximate='tanh'".to_owned(),
    }
);

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

elementwise!(
    Elu,
    check: |op| check::finite("alpha", op.alpha),
    exact: |_, _| None,
    torch: "ELU", |op| format!("alpha={}", python_float(op.alpha))
);

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

impl Softplus {
    fn check_attributes(&self) -> Result<(), OpError> {
        check::finite("threshold", self.threshold)?;
        check::finite_not_negative("beta", self.beta)?;
        if self.beta == 0.0 {
            return Err(OpError::attribute("beta", self.beta, "must not be 0"));
        }
        Ok(())
    }
}

elementwise!(
    Softplus,
    check: Self::check_attributes,
    exact: |_, _| None,
    torch: "Softplus", |op| {
        let (beta, threshold) = (python_float(op.beta), python_float(op.threshold));
        format!("beta={beta}, threshold={threshold}")
    }
);
