//! Pools with a sliding window: its largest element, or its mean.

use super::{check, window::Window};
use crate::torch_repr::{python_bool, size, tuple};
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `max_pool1d`.
pub type MaxPool1d = MaxPool<1>;
/// Attributes of `max_pool2d`.
pub type MaxPool2d = MaxPool<2>;
/// Attributes of `avg_pool1d`.
pub type AvgPool1d = AvgPool<1>;
/// Attributes of `avg_pool2d`.
pub type AvgPool2d = AvgPool<2>;

/// A pool: the window that all pools have, and one attribute of its own.
macro_rules! pool {
    (
        $(#[$doc:meta])* $name:ident, read as $raw:ident = $raw_name:literal;
        $(#[$field_attribute:meta])* $field:ident: $ty:ty, read with #[$read:meta];
        dilation: $dilation:expr; check: $check:expr; exact: $exact:expr; torch: $torch:expr;
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(from = $raw_name)]
        pub struct $name<const K: usize> {
            /// Size of the window.
            #[serde(with = "check::per_axis")]
            pub kernel_size: [usize; K],
            /// Distance between two windows; the window's size unless given.
            #[serde(with = "check::per_axis")]
            pub stride: [usize; K],
            /// Rows added on both sides: zeros in a mean, and never the largest.
            #[serde(with = "check::per_axis", skip_serializing_if = "check::are_zeros")]
            pub padding: [usize; K],
            /// Adds a last window that reaches beyond the padding, if it starts before it.
            #[serde(skip_serializing_if = "check::is_no")]
            pub ceil_mode: bool,
            $(#[$field_attribute])*
            pub $field: $ty,
        }

        /// The attributes before the stride takes its default from the window.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $raw<const K: usize> {
            #[serde(with = "check::per_axis")]
            kernel_size: [usize; K],
            #[serde(default, deserialize_with = "check::per_axis::optional")]
            stride: Option<[usize; K]>,
            #[serde(default = "check::zeros", with = "check::per_axis")]
            padding: [usize; K],
            #[serde(default)]
            ceil_mode: bool,
            #[$read]
            $field: $ty,
        }

        impl<const K: usize> From<$raw<K>> for $name<K> {
            fn from(raw: $raw<K>) -> Self {
                Self {
                    kernel_size: raw.kernel_size,
                    stride: raw.stride.unwrap_or(raw.kernel_size),
                    padding: raw.padding,
                    ceil_mode: raw.ceil_mode,
                    $field: raw.$field,
                }
            }
        }

        impl<const K: usize> $name<K> {
            /// The motion of its window.
            pub fn window(&self) -> Window<K> {
                let dilation: fn(&Self) -> [usize; K] = $dilation;
                Window {
                    kernel_size: self.kernel_size,
                    stride: self.stride,
                    padding: self.padding,
                    dilation: dilation(self),
                    ceil_mode: self.ceil_mode,
                }
            }
        }

        impl<const K: usize> Operator for $name<K> {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(1)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let check: fn(&Self) -> Result<(), OpError> = $check;
                check(self)?;
                infer(&self.window(), inputs)
            }

            fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
                Cost::per_window(outputs, self.window().numel())
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                let exact: fn(&Self, CodeRange) -> Option<CodeRange> = $exact;
                exact(self, operands.data()?)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                let torch: fn(&Self) -> TorchModule = $torch;
                Some(torch(self))
            }
        }
    };
}

pool! {
    /// Attributes of a max pool over `K` axes of space.
    MaxPool, read as RawMaxPool = "RawMaxPool<K>";
    /// Distance between two elements of a window.
    #[serde(with = "check::per_axis", skip_serializing_if = "check::are_ones")]
    dilation: [usize; K], read with #[serde(default = "check::ones", with = "check::per_axis")];
    dilation: |op| op.dilation;
    check: |_| Ok(());
    exact: |_, x| Some(x);
    torch: Self::max_pool;
}

pool! {
    /// Attributes of an average pool over `K` axes of space.
    AvgPool, read as RawAvgPool = "RawAvgPool<K>";
    /// True when padded zeros count in the divisor.
    #[serde(skip_serializing_if = "check::is_yes")]
    count_include_pad: bool, read with #[serde(default = "check::yes")];
    dilation: |_| [1; K];
    check: Self::check_ceiling;
    exact: |op, x| x.mean_of(op.divisor()?);
    torch: Self::avg_pool;
}

impl<const K: usize> MaxPool<K> {
    fn max_pool(&self) -> TorchModule {
        let [kernel, stride, padding, dilation] =
            [self.kernel_size, self.stride, self.padding, self.dilation].map(|sizes| size(&sizes));
        let arguments = format!(
            "kernel_size={kernel}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={}",
            python_bool(self.ceil_mode)
        );
        TorchModule::new(["MaxPool1d", "MaxPool2d"][K - 1], arguments)
    }
}

impl<const K: usize> AvgPool<K> {
    fn avg_pool(&self) -> TorchModule {
        // PyTorch keeps the sizes of a pool over one axis as tuples.
        let shown = if K == 1 { tuple } else { size };
        let [kernel, stride, padding] =
            [self.kernel_size, self.stride, self.padding].map(|sizes| shown(&sizes));
        let arguments = format!("kernel_size={kernel}, stride={stride}, padding={padding}");
        TorchModule::new(["AvgPool1d", "AvgPool2d"][K - 1], arguments)
    }

    /// PyTorch counts padding, but not what a window has beyond it.
    fn check_ceiling(&self) -> Result<(), OpError> {
        if self.ceil_mode && self.count_include_pad && self.padding != [0; K] {
            let why = "must be false where ceil_mode is true and there is padding";
            return Err(OpError::attribute("count_include_pad", true, why));
        }
        Ok(())
    }

    /// The number of elements that every window divides by, when all divide by the same.
    fn divisor(&self) -> Option<usize> {
        let is_same_everywhere =
            !self.ceil_mode && (self.padding == [0; K] || self.count_include_pad);
        let count = usize::try_from(self.window().numel()).ok()?;
        is_same_everywhere.then_some(count)
    }
}

fn infer<const K: usize>(window: &Window<K>, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
    let (shape, space) = check::spatial_input(inputs)?;
    let sizes = window.output_sizes(space)?;
    window.check_padding()?;
    Ok(vec![Type::f32(check::with_space(
        shape,
        shape.0[1].clone(),
        sizes,
    ))])
}
