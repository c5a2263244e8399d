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
}

impl Operator for Constant {
    fn ports(&self) -> Vec<PortSpec> {
        let init = if self.init_std == 0.0 {
            Init::Zeros
        } else {
            Init::Normal(self.init_std)
        };
        vec![PortSpec::param("value", &self.shape, init)]
    }

    fn infer(&self, _inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::finite_not_negative("init_std", self.init_std.into())?;
        Ok(vec![Type::f32(Shape::of(&self.shape))])
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
        Ok(Vec::new())
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

mod dtype_name {
    use crate::DType;
    use serde::{Deserialize, Deserializer, Serializer, de};

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
