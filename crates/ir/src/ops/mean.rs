//! The mean along axes.

use super::check;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape, TorchModule,
    Type,
};
use serde::{Deserialize, Deserializer, Serialize};

/// Attributes of `mean`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// The axes over which the mean is taken; all of them when the list is empty. `dim = 1` means `dim = [1]`.
    #[serde(default, deserialize_with = "one_or_many")]
    pub dim: Vec<i64>,
    /// Keeps these axes, with size 1.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub keepdim: bool,
}

impl Mean {
    /// The axes of a value of this shape that are reduced.
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

    /// The number of elements of one mean, when it is known without the batch.
    fn reduced_len(&self, shape: &Shape) -> Option<usize> {
        let reduced = self.reduced(shape).ok()?;
        let mut sizes = shape.0.iter().zip(reduced).filter(|(_, reduced)| *reduced);
        sizes.try_fold(1_usize, |n, (dim, _)| n.checked_mul(dim.fixed()?))
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
        Cost::per_input(inputs, 1)
    }

    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        let reduced = inputs.first().map(|input| self.reduced(&input.shape));
        match reduced {
            Some(Ok(reduced)) if reduced.first() == Some(&false) => RowCoupling::Independent,
            _ => RowCoupling::Coupled,
        }
    }

    fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands
            .data()?
            .mean_of(self.reduced_len(&inputs.first()?.shape)?)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
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
