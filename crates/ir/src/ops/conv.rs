//! Convolutions, `y[n, o, …] = b[o] + Σ x[n, i, s·… + d·k − p]·W[o, i, k]` over the channels of a group and the window.

use super::{check, window::Window};
use crate::torch_repr::tuple;
use crate::{
    CodeRange, Cost, FlopFormula, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `conv1d`.
pub type Conv1d = Conv<1>;
/// Attributes of `conv2d`.
pub type Conv2d = Conv<2>;

/// Attributes of a convolution over `K` axes of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conv<const K: usize> {
    /// Channels of the input, its second axis.
    pub in_channels: usize,
    /// Channels of the result.
    pub out_channels: usize,
    /// Size of the window.
    #[serde(with = "check::per_axis")]
    pub kernel_size: [usize; K],
    /// Distance between two windows.
    #[serde(with = "check::per_axis")]
    #[serde(default = "check::ones", skip_serializing_if = "check::are_ones")]
    pub stride: [usize; K],
    /// Zeros added on both sides.
    #[serde(with = "check::per_axis")]
    #[serde(default = "check::zeros", skip_serializing_if = "check::are_zeros")]
    pub padding: [usize; K],
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

impl<const K: usize> Conv<K> {
    /// The motion of its window.
    pub fn window(&self) -> Window<K> {
        Window {
            kernel_size: self.kernel_size,
            stride: self.stride,
            padding: self.padding,
            dilation: self.dilation,
            ceil_mode: false,
        }
    }

    /// Input channels that one output channel sees.
    pub fn group_channels(&self) -> usize {
        self.in_channels / self.groups.max(1)
    }
}

impl<const K: usize> Operator for Conv<K> {
    fn ports(&self) -> Vec<PortSpec> {
        let mut weight = vec![self.out_channels, self.group_channels()];
        weight.extend(self.kernel_size);
        let init = Init::FanIn(check::numel(&weight[1..]) as usize);
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::param("weight", &weight, init));
        if self.bias {
            ports.push(PortSpec::param("bias", &[self.out_channels], init));
        }
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::channels(self.in_channels, self.out_channels, self.groups)?;
        let (shape, space) = check::spatial_input(inputs)?;
        check::input_channels(shape, self.in_channels, inputs)?;
        let sizes = self.window().output_sizes(space)?;
        let channels = self.out_channels.into();
        Ok(vec![Type::f32(check::with_space(shape, channels, sizes))])
    }

    fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        let taps = [self.group_channels() as u64, self.window().numel()];
        let macs = check::numel(outputs[0]).saturating_mul(check::product(taps));
        Cost::product(macs, FlopFormula::PerResultTimes("(C_in/groups)·kernel"))
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        let window = usize::try_from(self.window().numel()).ok()?;
        operands.dot(self.group_channels().checked_mul(window)?, self.bias)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let parts = [
            Some(format!("{}, {}", self.in_channels, self.out_channels)),
            Some(format!("kernel_size={}", tuple(&self.kernel_size))),
            Some(format!("stride={}", tuple(&self.stride))),
            (self.padding != [0; K]).then(|| format!("padding={}", tuple(&self.padding))),
            (self.dilation != [1; K]).then(|| format!("dilation={}", tuple(&self.dilation))),
            (self.groups != 1).then(|| format!("groups={}", self.groups)),
            (!self.bias).then(|| "bias=False".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Some(TorchModule::new(
            ["Conv1d", "Conv2d"][K - 1],
            parts.join(", "),
        ))
    }
}
