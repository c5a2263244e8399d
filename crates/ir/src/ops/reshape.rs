//! New axes for the same elements in the same order: `flatten`, `reshape`, `view`.

use super::check;
use super::rearrange::Rearrange;
use crate::{Dim, OpError, RowCoupling, Shape, TorchModule, Type};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Attributes of `flatten`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flatten {
    /// The first of the axes that become one.
    #[serde(default = "first_after_batch")]
    pub start_dim: i64,
    /// The last of them.
    #[serde(
        default = "check::minus_one",
        skip_serializing_if = "check::is_minus_one"
    )]
    pub end_dim: i64,
}

fn first_after_batch() -> i64 {
    1
}

impl Rearrange for Flatten {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let input = check::any_input(inputs, 0)?;
        let (start, end) = (
            input.shape.axis(self.start_dim)?,
            input.shape.axis(self.end_dim)?,
        );
        if start > end {
            let why = format!("comes after end_dim {} in {}", self.end_dim, input.shape);
            return Err(OpError::attribute("start_dim", self.start_dim, why));
        }
        let merged = Shape(input.shape.0[start..=end].to_vec()).numel()?;
        let mut shape = input.shape.clone();
        shape.0.splice(start..=end, [merged]);
        Ok(vec![input.with_shape(shape)])
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let arguments = format!("start_dim={}, end_dim={}", self.start_dim, self.end_dim);
        Some(TorchModule::new("Flatten", arguments))
    }
}

/// One entry of a new shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisSize {
    /// The rest of the elements, written −1.
    Infer,
    /// A number, or a multiple of the batch symbol.
    Dim(Dim),
}

macro_rules! reshape {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The new axes; one of them may be −1.
            pub shape: Vec<AxisSize>,
        }

        impl Rearrange for $name {
            fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let input = check::any_input(inputs, 0)?;
                let shape = reshaped(&input.shape, &self.shape)?;
                Ok(vec![input.with_shape(shape)])
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            fn torch_module(&self) -> Option<TorchModule> {
                None
            }
        }
    };
}

reshape!(
    /// Attributes of `reshape`.
    Reshape
);
reshape!(
    /// Attributes of `view`.
    View
);

fn reshaped(from: &Shape, sizes: &[AxisSize]) -> Result<Shape, OpError> {
    let shown: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let refuse = |why: String| OpError::attribute("shape", format!("[{}]", shown.join(", ")), why);
    let total = from.numel()?;
    let known = sizes.iter().filter_map(AxisSize::known).cloned().collect();
    let known = Shape(known).numel()?;
    let n_unknown = sizes.iter().filter(|size| size.known().is_none()).count();
    let rest = match n_unknown {
        0 if known == total => Dim::from(1),
        0 => {
            return Err(refuse(format!(
                "has {known} elements, the input {from} has {total}"
            )));
        }
        1 => quotient(&total, &known).ok_or_else(|| {
            refuse(format!(
                "the {total} elements of {from} do not divide by {known}"
            ))
        })?,
        _ => return Err(refuse("only one axis can be -1".to_owned())),
    };
    let dims = sizes
        .iter()
        .map(|size| size.known().unwrap_or(&rest).clone());
    Ok(Shape(dims.collect()))
}

/// The dim that times `divisor` is `total`, if there is one.
fn quotient(total: &Dim, divisor: &Dim) -> Option<Dim> {
    if divisor.factor == 0 || !total.factor.is_multiple_of(divisor.factor) {
        return None;
    }
    let symbol = match (&total.symbol, &divisor.symbol) {
        (symbol, None) => symbol.clone(),
        (a, b) if a == b => None,
        _ => return None,
    };
    Some(Dim {
        factor: total.factor / divisor.factor,
        symbol,
    })
}

impl AxisSize {
    fn known(&self) -> Option<&Dim> {
        match self {
            Self::Infer => None,
            Self::Dim(dim) => Some(dim),
        }
    }
}

impl std::fmt::Display for AxisSize {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Infer => f.write_str("-1"),
            Self::Dim(dim) => dim.fmt(f),
        }
    }
}

impl Serialize for AxisSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Infer => serializer.serialize_i64(-1),
            Self::Dim(dim) => dim.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AxisSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected -1, a size or a symbol such as N or 4*N"
        )]
        enum Raw {
            Dim(Dim),
            Number(i64),
        }
        match Raw::deserialize(deserializer)? {
            Raw::Dim(dim) => Ok(Self::Dim(dim)),
            Raw::Number(-1) => Ok(Self::Infer),
            Raw::Number(n) => Err(serde::de::Error::custom(format!(
                "{n} is not a size; write -1 for the rest"
            ))),
        }
    }
}
