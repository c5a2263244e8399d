//! Adaptive pools, which make a given number of windows: along an axis of size n, window i of o spans
//! `⌊i·n/o⌋ .. ⌈(i + 1)·n/o⌉`.

use super::check;
use crate::torch_repr::tuple;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `adaptive_avg_pool1d`.
pub type AdaptiveAvgPool1d = AdaptiveAvgPool<1>;
/// Attributes of `adaptive_avg_pool2d`.
pub type AdaptiveAvgPool2d = AdaptiveAvgPool<2>;
/// Attributes of `adaptive_max_pool1d`.
pub type AdaptiveMaxPool1d = AdaptiveMaxPool<1>;
/// Attributes of `adaptive_max_pool2d`.
pub type AdaptiveMaxPool2d = AdaptiveMaxPool<2>;

macro_rules! adaptive_pool {
    ($(#[$doc:meta])* $name:ident, exact: $exact:expr, torch: $classes:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name<const K: usize> {
            /// The number of windows along each axis of space.
            #[serde(with = "check::per_axis")]
            pub output_size: [usize; K],
        }

        impl<const K: usize> Operator for $name<K> {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(1)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                check::all_positive("output_size", &self.output_size)?;
                let (shape, _) = check::spatial_input::<K>(inputs)?;
                let channels = shape.0[1].clone();
                Ok(vec![Type::f32(check::with_space(shape, channels, self.output_size))])
            }

            fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
                Cost::per_input(inputs, 1)
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                let exact: fn(&Self, &[Type], CodeRange) -> Option<CodeRange> = $exact;
                exact(self, inputs, operands.data()?)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                let size = match self.output_size.as_slice() {
                    [size] => size.to_string(),
                    sizes => tuple(sizes),
                };
                Some(TorchModule::new($classes[K - 1], format!("output_size={size}")))
            }
        }
    };
}

adaptive_pool!(
    /// Attributes of an adaptive average pool over `K` axes of space.
    AdaptiveAvgPool,
    exact: |op, inputs, x| x.mean_of(op.window_len(inputs)?),
    torch: ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d"]
);
adaptive_pool!(
    /// Attributes of an adaptive max pool over `K` axes of space.
    AdaptiveMaxPool,
    exact: |_, _, x| Some(x),
    torch: ["AdaptiveMaxPool1d", "AdaptiveMaxPool2d"]
);

impl<const K: usize> AdaptiveAvgPool<K> {
    /// The number of elements of a window, when all windows have the same.
    fn window_len(&self, inputs: &[Type]) -> Option<usize> {
        let space = inputs.first()?.shape.0.iter().rev();
        let mut axes = space.zip(self.output_size.iter().rev());
        axes.try_fold(1_usize, |all, (dim, &n)| {
            let size = dim.fixed()?;
            let window = size.is_multiple_of(n).then(|| size / n.max(1))?;
            all.checked_mul(window)
        })
    }
}
