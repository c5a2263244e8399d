//! Reductions along axes: sums, means, products, extremes.

use super::check;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape, TorchModule,
    Type,
};
use serde::{Deserialize, Deserializer, Serialize};

/// A reduction: `exact` gives the range of the results from that of the elements and their number.
macro_rules! reduction {
    ($($name:ident = $op:literal, $exact:expr;)*) => {$(
        #[doc = concat!("Attributes of `", $op, "`.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The axes that are reduced; all of them when the list is empty. `dim = 1` means `dim = [1]`.
            #[serde(default, deserialize_with = "one_or_many")]
            pub dim: Vec<i64>,
            /// Keeps these axes, with size 1.
            #[serde(default, skip_serializing_if = "check::is_no")]
            pub keepdim: bool,
        }

        impl $name {
            /// The axes of a value of this shape that are reduced.
            pub fn reduced(&self, shape: &Shape) -> Result<Vec<bool>, OpError> {
                reduced(&self.dim, shape)
            }
        }

        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(1)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let shape = check::f32_input(inputs, 0)?;
                let shape = without_reduced(shape, &self.reduced(shape)?, self.keepdim);
                Ok(vec![Type::f32(shape)])
            }

            fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
                Cost::per_input(inputs, 1)
            }

            fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
                match inputs.first().map(|input| self.reduced(&input.shape)) {
                    Some(Ok(reduced)) if reduced.first() == Some(&false) => RowCoupling::Independent,
                    _ => RowCoupling::Coupled,
                }
            }

            fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                let exact: fn(CodeRange, usize) -> Option<CodeRange> = $exact;
                let shape = &inputs.first()?.shape;
                exact(operands.data()?, reduced_len(shape, &self.reduced(shape).ok()?)?)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                None
            }
        }
    )*};
}

reduction! {
    Mean = "mean", CodeRange::mean_of;
    Sum = "sum", CodeRange::summed;
    Amax = "amax", |x, _| Some(x);
    Amin = "amin", |x, _| Some(x);
    Prod = "prod", |_, _| None;
}

fn reduced(dims: &[i64], shape: &Shape) -> Result<Vec<bool>, OpError> {
    let mut reduced = vec![dims.is_empty(); shape.rank()];
    for &dim in dims {
        let axis = shape.axis(dim)?;
        if std::mem::replace(&mut reduced[axis], true) {
            let why = format!("names axis {axis} of {shape} twice");
            return Err(OpError::attribute("dim", format!("{dims:?}"), why));
        }
    }
    Ok(reduced)
}

fn without_reduced(shape: &Shape, reduced: &[bool], keepdim: bool) -> Shape {
    let axes = shape.0.iter().zip(reduced);
    let dims = axes.filter_map(|(dim, &reduced)| match (reduced, keepdim) {
        (true, true) => Some(1.into()),
        (true, false) => None,
        (false, _) => Some(dim.clone()),
    });
    Shape(dims.collect())
}

/// The number of elements of one result, when it is known without the batch.
fn reduced_len(shape: &Shape, reduced: &[bool]) -> Option<usize> {
    let mut sizes = shape.0.iter().zip(reduced).filter(|(_, reduced)| **reduced);
    sizes.try_fold(1_usize, |n, (dim, _)| n.checked_mul(dim.fixed()?))
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
