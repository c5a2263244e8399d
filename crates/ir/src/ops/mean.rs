//! The mean along axes.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Shape, Type};
use serde::{Deserialize, Deserializer, Serialize};

/// Attributes of `mean`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// The axes over which the mean is taken; all of them when the list is empty. `dim = 1` means `dim = [1]`.
    #[serde(default, deserialize_with = "one_or_many")]
    pub dim: Vec<i64>,
    /// Whether these axes stay, with size 1.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub keepdim: bool,
}

impl Mean {
    /// Which axes of a value of this shape are reduced.
    pub fn reduced(&self, shape: &Shape) -> Result<Vec<bool>, OpError> {
        let mut reduced = vec![self.dim.is_empty(); shape.rank()];
        for &dim in &self.dim {
            let axis = shape.axis(dim)?;
            if std::mem::replace(&mut reduced[axis], true) {
                let why = format!("names axis {axis} of {shape} twice");
                return Err(OpError::attribute("dim", format!("{:?}", self.dim), why));
            }
        }
        Ok(reduced)
    }
}

impl Operator for Mean {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let shape = check::f32_input(inputs, 0)?;
        let reduced = self.reduced(shape)?;
        let dims = shape.0.iter().zip(reduced).filter_map(|(dim, reduced)| {
            if reduced {
                self.keepdim.then(|| 1.into())
            } else {
                Some(dim.clone())
            }
        });
        Ok(vec![Type::f32(Shape(dims.collect()))])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::elementwise(check::numel(inputs[0]))
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected an axis or a list of axes")]
    enum Raw {
        One(i64),
        Many(Vec<i64>),
    }
    Ok(match Raw::deserialize(deserializer)? {
        Raw::One(axis) => vec![axis],
        Raw::Many(axes) => axes,
    })
}
