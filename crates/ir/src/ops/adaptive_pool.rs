//! Adaptive pools, which make a given number of windows: along an axis of size n, window i of o spans
//! `⌊i·n/o⌋ .. ⌈(i + 1)·n/o⌉`.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Type};
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
    ($(#[$doc:meta])* $name:ident) => {
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
                Cost::elementwise(check::numel(inputs[0]))
            }
        }
    };
}

adaptive_pool!(
    /// Attributes of an adaptive average pool over `K` axes of space.
    AdaptiveAvgPool
);
adaptive_pool!(
    /// Attributes of an adaptive max pool over `K` axes of space.
    AdaptiveMaxPool
);
