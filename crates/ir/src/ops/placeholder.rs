//! The edges of a graph: inputs, stored tensors and the output.

use super::check;
use crate::{
    CodeRange, Cost, DType, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize, Serializer};

/// The answers of an operator at the edge of a graph.
macro_rules! computes_nothing {
    () => {
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
            None
        }
    };
}

/// An input of the graph. Its type is part of the text form's left-hand side: `x: f32[N, 16] = placeholder`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placeholder {
    /// The axes; `N` is the batch.
    pub shape: Shape,
    /// The element type: `f32`, `i64` or `bool`.
    #[serde(with = "dtype_name")]
    pub dtype: DType,
}

impl Operator for Placeholder {
    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }

    fn infer(&self, _inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        Ok(vec![Type {
            shape: self.shape.clone(),
            dtype: self.dtype,
        }])
    }

    computes_nothing!();
}

/// A tensor stored with the model, such as a positional embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The axes; no symbols.
    pub shape: Vec<usize>,
    /// The deviation of its normal starting values; zero starts it at zero.
    #[serde(default, serialize_with = "shortest", skip_serializing_if = "is_zero")]
    pub init_std: f32,
    /// The element type. Integers and truth values are not trained.
    #[serde(
        default = "dtype_name::f32",
        with = "dtype_name",
        skip_serializing_if = "dtype_name::is_f32"
    )]
    pub dtype: DType,
    /// False for a buffer, which no optimiser changes.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub trained: bool,
}

impl Constant {
    /// A tensor of floats that is trained from normal starting values with this deviation.
    pub fn trained(shape: Vec<usize>, init_std: f32) -> Self {
        Self {
            shape,
            init_std,
            dtype: DType::F32,
            trained: true,
        }
    }

    /// A tensor that no optimiser changes.
    pub fn buffer(shape: Vec<usize>, dtype: DType) -> Self {
        Self {
            shape,
            init_std: 0.0,
            dtype,
            trained: false,
        }
    }

    /// True when an optimiser changes it.
    pub fn is_trained(&self) -> bool {
        self.trained && self.dtype == DType::F32
    }
}

impl Operator for Constant {
    fn ports(&self) -> Vec<PortSpec> {
        let init = if self.init_std == 0.0 {
            Init::Zeros
        } else {
            Init::Normal(self.init_std)
        };
        let port = if self.is_trained() {
            PortSpec::param
        } else {
            PortSpec::buffer
        };
        vec![port("value", &self.shape, init)]
    }

    fn infer(&self, _inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::finite_not_negative("init_std", self.init_std.into())?;
        if self.dtype != DType::F32 && self.init_std != 0.0 {
            let why = format!("must be 0 for {}", self.dtype);
            return Err(OpError::attribute("init_std", self.init_std, why));
        }
        Ok(vec![Type {
            shape: Shape::of(&self.shape),
            dtype: self.dtype,
        }])
    }

    computes_nothing!();
}

/// The results of the graph: `return a, b`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {}

impl Operator for Output {
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::Data("data_in_0".into()), PortSpec::MoreData]
    }

    fn infer(&self, _inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        Ok(vec![])
    }

    computes_nothing!();
}

/// Written with the digits an f32 needs, not those of its exact value.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn shortest<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    let shortest = value.to_string().parse().unwrap_or(f64::from(*value));
    serializer.serialize_f64(shortest)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

/// serde form of an element type.
pub(super) mod dtype_name {
    use crate::DType;
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// serde default.
    pub fn f32() -> DType {
        DType::F32
    }

    /// serde: left out of the text form when f32.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn is_f32(dtype: &DType) -> bool {
        *dtype == DType::F32
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(dtype)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
        let name = String::deserialize(deserializer)?;
        DType::parse(&name)
            .ok_or_else(|| de::Error::custom(format!("'{name}' is not f32, i64 or bool")))
    }
}
