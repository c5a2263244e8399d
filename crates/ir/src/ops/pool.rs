//! Pools with a sliding window: its largest element, or its mean.

use super::{check, window::Window};
use crate::{Cost, OpError, Operator, PortSpec, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `max_pool1d`.
pub type MaxPool1d = MaxPool<1>;
/// Attributes of `max_pool2d`.
pub type MaxPool2d = MaxPool<2>;
/// Attributes of `avg_pool1d`.
pub type AvgPool1d = AvgPool<1>;
/// Attributes of `avg_pool2d`.
pub type AvgPool2d = AvgPool<2>;

/// Attributes of a max pool over `K` axes of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RawMaxPool<K>")]
pub struct MaxPool<const K: usize> {
    /// Size of the window.
    #[serde(with = "check::per_axis")]
    pub kernel_size: [usize; K],
    /// Distance between two windows; the window's size unless given.
    #[serde(with = "check::per_axis")]
    pub stride: [usize; K],
    /// Rows added on both sides; they never win.
    #[serde(with = "check::per_axis", skip_serializing_if = "check::are_zeros")]
    pub padding: [usize; K],
    /// Distance between two elements of a window.
    #[serde(with = "check::per_axis", skip_serializing_if = "check::are_ones")]
    pub dilation: [usize; K],
}

/// Attributes of an average pool over `K` axes of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RawAvgPool<K>")]
pub struct AvgPool<const K: usize> {
    /// Size of the window.
    #[serde(with = "check::per_axis")]
    pub kernel_size: [usize; K],
    /// Distance between two windows; the window's size unless given.
    #[serde(with = "check::per_axis")]
    pub stride: [usize; K],
    /// Zeros added on both sides.
    #[serde(with = "check::per_axis", skip_serializing_if = "check::are_zeros")]
    pub padding: [usize; K],
    /// Whether padded zeros count in the divisor.
    #[serde(skip_serializing_if = "check::is_yes")]
    pub count_include_pad: bool,
}

impl<const K: usize> MaxPool<K> {
    /// How its window moves.
    pub fn window(&self) -> Window<K> {
        Window {
            kernel_size: self.kernel_size,
            stride: self.stride,
            padding: self.padding,
            dilation: self.dilation,
        }
    }
}

impl<const K: usize> AvgPool<K> {
    /// How its window moves.
    pub fn window(&self) -> Window<K> {
        Window {
            kernel_size: self.kernel_size,
            stride: self.stride,
            padding: self.padding,
            dilation: [1; K],
        }
    }
}

impl<const K: usize> Operator for MaxPool<K> {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        infer(&self.window(), inputs)
    }

    fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        Cost::elementwise(check::numel(outputs[0]).saturating_mul(self.window().numel()))
    }
}

impl<const K: usize> Operator for AvgPool<K> {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        infer(&self.window(), inputs)
    }

    fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        Cost::elementwise(check::numel(outputs[0]).saturating_mul(self.window().numel()))
    }
}

fn infer<const K: usize>(window: &Window<K>, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
    let (shape, space) = check::spatial_input(inputs)?;
    let sizes = window.output_sizes(space)?;
    window.padding_at_most_half()?;
    Ok(vec![Type::f32(check::with_space(
        shape,
        shape.0[1].clone(),
        sizes,
    ))])
}

/// [`MaxPool`] before the stride takes its default from the window.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMaxPool<const K: usize> {
    #[serde(with = "check::per_axis")]
    kernel_size: [usize; K],
    #[serde(default, deserialize_with = "check::per_axis::optional")]
    stride: Option<[usize; K]>,
    #[serde(default = "check::zeros", with = "check::per_axis")]
    padding: [usize; K],
    #[serde(default = "check::ones", with = "check::per_axis")]
    dilation: [usize; K],
}

/// [`AvgPool`] before the stride takes its default from the window.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAvgPool<const K: usize> {
    #[serde(with = "check::per_axis")]
    kernel_size: [usize; K],
    #[serde(default, deserialize_with = "check::per_axis::optional")]
    stride: Option<[usize; K]>,
    #[serde(default = "check::zeros", with = "check::per_axis")]
    padding: [usize; K],
    #[serde(default = "check::yes")]
    count_include_pad: bool,
}

impl<const K: usize> From<RawMaxPool<K>> for MaxPool<K> {
    fn from(raw: RawMaxPool<K>) -> Self {
        Self {
            kernel_size: raw.kernel_size,
            stride: raw.stride.unwrap_or(raw.kernel_size),
            padding: raw.padding,
            dilation: raw.dilation,
        }
    }
}

impl<const K: usize> From<RawAvgPool<K>> for AvgPool<K> {
    fn from(raw: RawAvgPool<K>) -> Self {
        Self {
            kernel_size: raw.kernel_size,
            stride: raw.stride.unwrap_or(raw.kernel_size),
            padding: raw.padding,
            count_include_pad: raw.count_include_pad,
        }
    }
}
