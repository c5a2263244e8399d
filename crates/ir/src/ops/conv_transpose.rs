//! Transposed convolutions: each element of the input adds its window, scaled by it, to the result.

use super::check;
use crate::torch_repr::tuple;
use crate::{
    CodeRange, Cost, FlopFormula, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `conv_transpose1d`.
pub type ConvTranspose1d = ConvTranspose<1>;
/// Attributes of `conv_transpose2d`.
pub type ConvTranspose2d = ConvTranspose<2>;

/// Attributes of a transposed convolution over `K` axes of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvTranspose<const K: usize> {
    /// Channels of the input, its second axis.
    pub in_channels: usize,
    /// Channels of the result.
    pub out_channels: usize,
    /// Size of the window.
    #[serde(with = "check::per_axis")]
    pub kernel_size: [usize; K],
    /// Distance between two windows in the result.
    #[serde(with = "check::per_axis")]
    #[serde(default = "check::ones", skip_serializing_if = "check::are_ones")]
    pub stride: [usize; K],
    /// Places left out on both sides of the result.
    #[serde(with = "check::per_axis")]
    #[serde(default = "check::zeros", skip_serializing_if = "check::are_zeros")]
    pub padding: [usize; K],
    /// Places added behind the result; fewer than the stride.
    #[serde(with = "check::per_axis")]
    #[serde(default = "check::zeros", skip_serializing_if = "check::are_zeros")]
    pub output_padding: [usize; K],
    /// Distance between two elements of a window.
    #[serde(with = "check::per_axis")]
    #[serde(default = "check::ones", skip_serializing_if = "check::are_ones")]
    pub dilation: [usize; K],
    /// Parts into which the channels are split; each part sees only its own.
    #[serde(default = "check::one", skip_serializing_if = "check::is_one")]
    pub groups: usize,
    /// Adds a bias.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub bias: bool,
}

impl<const K: usize> ConvTranspose<K> {
    fn weight_shape(&self) -> Vec<usize> {
        let mut shape = vec![self.in_channels, self.out_channels / self.groups.max(1)];
        shape.extend(self.kernel_size);
        shape
    }

    /// `(n − 1)·s + d·(k − 1) + 1 + output_padding − 2p`.
    fn output_size(&self, axis: usize, input: usize) -> Option<usize> {
        let window = self.dilation[axis].checked_mul(self.kernel_size[axis] - 1)?;
        let reach = (input - 1).checked_mul(self.stride[axis])?;
        let size = reach.checked_add(window)?.checked_add(1)?;
        let size = size.checked_add(self.output_padding[axis])?;
        size.checked_sub(self.padding[axis].checked_mul(2)?)
            .filter(|&n| n > 0)
    }

    fn check_attributes(&self) -> Result<(), OpError> {
        check::all_positive("kernel_size", &self.kernel_size)?;
        check::all_positive("stride", &self.stride)?;
        check::all_positive("dilation", &self.dilation)?;
        check::channels(self.in_channels, self.out_channels, self.groups)?;
        let mut pairs = self.output_padding.iter().zip(&self.stride);
        if pairs.any(|(padding, stride)| padding >= stride) {
            let value = format!("{:?}", self.output_padding);
            let why = format!("must be below the stride {:?}", self.stride);
            return Err(OpError::attribute("output_padding", value, why));
        }
        Ok(())
    }
}

impl<const K: usize> Operator for ConvTranspose<K> {
    fn ports(&self) -> Vec<PortSpec> {
        let weight = self.weight_shape();
        let init = Init::FanIn(check::numel(&weight[1..]) as usize);
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::param("weight", &weight, init));
        if self.bias {
            ports.push(PortSpec::param("bias", &[self.out_channels], init));
        }
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        self.check_attributes()?;
        let (shape, space) = check::spatial_input::<K>(inputs)?;
        check::input_channels(shape, self.in_channels, inputs)?;
        let mut sizes = [0; K];
        for (axis, size) in sizes.iter_mut().enumerate() {
            *size = self.output_size(axis, space[axis]).ok_or_else(|| {
                let why = format!("leaves nothing of an axis of size {}", space[axis]);
                OpError::attribute("padding", format!("{:?}", self.padding), why)
            })?;
        }
        let channels = self.out_channels.into();
        Ok(vec![Type::f32(check::with_space(shape, channels, sizes))])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        let each = check::numel(&self.weight_shape()[1..]);
        let macs = check::numel(inputs[0]).saturating_mul(each);
        Cost::product(macs, FlopFormula::PerInput(each))
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let parts = [
            Some(format!("{}, {}", self.in_channels, self.out_channels)),
            Some(format!("kernel_size={}", tuple(&self.kernel_size))),
            Some(format!("stride={}", tuple(&self.stride))),
            (self.padding != [0; K]).then(|| format!("padding={}", tuple(&self.padding))),
            (self.dilation != [1; K]).then(|| format!("dilation={}", tuple(&self.dilation))),
            (self.output_padding != [0; K])
                .then(|| format!("output_padding={}", tuple(&self.output_padding))),
            (self.groups != 1).then(|| format!("groups={}", self.groups)),
            (!self.bias).then(|| "bias=False".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Some(TorchModule::new(
            ["ConvTranspose1d", "ConvTranspose2d"][K - 1],
            parts.join(", "),
        ))
    }
}
