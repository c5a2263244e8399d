//! The kernels of a convolution in either order of axes.

use crate::order::Order;
use kernels::conv::{ConvShape, conv_backward_data, conv_backward_weight, conv_forward};
use kernels::nhwc::{NhwcConv, WinogradConv};

const NO_GRADIENTS: &str = "the kernel was made for a plan without gradients";

/// Output positions of a plane below which padding, which a direct sum skips, is most of a tile.
const WINOGRAD_PLANE: usize = 16;
/// Channels below which transforming costs more than it saves.
const WINOGRAD_CHANNELS: usize = 32;

/// True when minimal filtering is faster than the direct sum, where both can be had.
pub(crate) fn favors_winograd(s: &ConvShape) -> bool {
    let [height, width] = s.output();
    height * width >= WINOGRAD_PLANE && s.in_channels.min(s.out_channels) >= WINOGRAD_CHANNELS
}

/// A convolution in the order that the planner chose.
pub(super) enum Kernel {
    Planes {
        shape: ConvShape,
    },
    Pixels {
        conv: Box<NhwcConv>,
        /// Weights are packed for gradients too.
        has_gradients: bool,
    },
    /// Pixels, where the order of sums is free.
    Winograd {
        conv: Box<WinogradConv>,
        gradients: Option<WinogradGradients>,
    },
}

/// The gradients of a convolution by minimal filtering: that of the data by filtering too, that of the weights by the direct sum.
pub(super) struct WinogradGradients {
    data: Box<WinogradConv>,
    weights: Box<NhwcConv>,
}

/// The freedom a plan leaves to a convolution.
#[derive(Clone, Copy)]
pub(super) struct Freedom {
    pub(super) order: Order,
    pub(super) has_gradients: bool,
    /// No sum is promised to be exact or in order.
    pub(super) any_rounding: bool,
}

/// Weights as they are used, and as the kernel packs them.
#[derive(Clone, Copy)]
pub(super) struct WeightParts<'a> {
    pub(super) used: &'a [f32],
    pub(super) packed: &'a [f32],
}

impl Kernel {
    pub(super) fn new(shape: ConvShape, freedom: Freedom) -> Self {
        let pixels = freedom.order == Order::Pixels;
        let filtered = pixels && freedom.any_rounding && favors_winograd(&shape);
        if let Some(conv) = WinogradConv::new(shape).filter(|_| filtered) {
            let gradients = || {
                Some(WinogradGradients {
                    data: Box::new(conv.adjoint()?),
                    weights: Box::new(NhwcConv::new(shape)?),
                })
            };
            let gradients = freedom.has_gradients.then(gradients).flatten();
            if gradients.is_some() || !freedom.has_gradients {
                return Self::Winograd {
                    conv: Box::new(conv),
                    gradients,
                };
            }
        }
        match NhwcConv::new(shape) {
            Some(conv) if pixels => Self::Pixels {
                conv: Box::new(conv),
                has_gradients: freedom.has_gradients,
            },
            _ => Self::Planes { shape },
        }
    }

    /// Floats of the packed weights: for the forward pass, then for the gradient of the data.
    pub(super) fn packed_len(&self) -> usize {
        match self {
            Self::Planes { .. } => 0,
            Self::Pixels {
                conv,
                has_gradients: false,
            } => conv.packed_len(),
            Self::Pixels { conv, .. } => conv.packed_len() + conv.packed_adjoint_len(),
            Self::Winograd { conv, gradients } => {
                let adjoint = gradients.as_ref().map_or(0, |g| g.data.packed_len());
                conv.packed_len() + adjoint
            }
        }
    }

    pub(super) fn pack(&self, weights: &[f32], packed: &mut [f32]) {
        match self {
            Self::Planes { .. } => {}
            Self::Pixels {
                conv,
                has_gradients,
            } => {
                let (forward, adjoint) = packed.split_at_mut(conv.packed_len());
                conv.pack(weights, forward);
                if *has_gradients {
                    conv.pack_adjoint(weights, adjoint);
                }
            }
            Self::Winograd { conv, gradients } => {
                let (forward, adjoint) = packed.split_at_mut(conv.packed_len());
                conv.pack(weights, forward);
                if let Some(gradients) = gradients {
                    gradients.data.pack_flipped(weights, adjoint);
                }
            }
        }
    }

    pub(super) fn scratch_len(&self) -> usize {
        match self {
            Self::Planes { shape } => shape.scratch_len(),
            Self::Pixels {
                conv,
                has_gradients: false,
            } => conv.forward_scratch_len(),
            Self::Pixels { conv, .. } => {
                let backward = conv.backward_scratch_len();
                backward.max(conv.forward_scratch_len())
            }
            Self::Winograd { conv, gradients } => {
                let backward = gradients.as_ref().map_or(0, |gradients| {
                    let weights = gradients.weights.backward_scratch_len();
                    weights.max(gradients.data.scratch_len())
                });
                backward.max(conv.scratch_len())
            }
        }
    }

    /// Computes the output; returns the bounds that are still to be applied to it.
    pub(super) fn forward(
        &self,
        x: &[f32],
        weight: WeightParts,
        bias: Option<&[f32]>,
        clamp: Option<(f32, f32)>,
        y: &mut [f32],
        scratch: &mut [f32],
    ) -> Option<(f32, f32)> {
        match self {
            Self::Planes { shape } => {
                conv_forward(shape, x, weight.used, bias, y, scratch);
                clamp
            }
            Self::Pixels { conv, .. } => {
                conv.forward(x, weight.packed, bias, clamp, y, scratch);
                None
            }
            Self::Winograd { conv, .. } => {
                let packed = &weight.packed[..conv.packed_len()];
                conv.forward(x, packed, bias, clamp, y, scratch);
                None
            }
        }
    }

    pub(super) fn backward_data(
        &self,
        dy: &[f32],
        weight: WeightParts,
        dx: &mut [f32],
        scratch: &mut [f32],
    ) {
        match self {
            Self::Planes { shape } => conv_backward_data(shape, dy, weight.used, dx, scratch),
            Self::Pixels { conv, .. } => {
                let (_, adjoint) = weight.packed.split_at(conv.packed_len());
                conv.backward_data(dy, adjoint, dx, scratch);
            }
            Self::Winograd { conv, gradients } => {
                let (_, adjoint) = weight.packed.split_at(conv.packed_len());
                let gradients = gradients.as_ref().expect(NO_GRADIENTS);
                gradients.data.forward(dy, adjoint, None, None, dx, scratch);
            }
        }
    }

    pub(super) fn backward_weight(
        &self,
        x: &[f32],
        dy: &[f32],
        dw: &mut [f32],
        db: Option<&mut [f32]>,
        scratch: &mut [f32],
    ) {
        match self {
            Self::Planes { shape } => conv_backward_weight(shape, x, dy, dw, db, scratch),
            Self::Pixels { conv, .. } => conv.backward_weight(x, dy, dw, db, scratch),
            Self::Winograd { gradients, .. } => {
                let gradients = gradients.as_ref().expect(NO_GRADIENTS);
                gradients.weights.backward_weight(x, dy, dw, db, scratch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Freedom, Kernel};
    use crate::order::{Order, favors_pixels};
    use kernels::conv::ConvShape;

    /// A layer: its name, channels (in, out, groups), side of the input, kernel, stride; the kernel in training and in
    /// evaluation; and the rates at which it was chosen, in 10⁹ multiply-adds a second on AVX2 with a peak of 46: planes,
    /// pixels, minimal filtering.
    type Case = (
        &'static str,
        [usize; 3],
        [usize; 3],
        [&'static str; 2],
        [f32; 3],
    );

    #[rustfmt::skip]
    const TABLE: [Case; 15] = [
        ("LeNet-5 first",           [1, 6, 1],       [28, 5, 1],  ["planes", "planes"],   [24.8, 2.4, 0.0]),
        ("LeNet-5 second",          [6, 16, 1],      [14, 5, 1],  ["planes", "planes"],   [23.3, 21.5, 0.0]),
        ("ResNet-18 stem",          [3, 64, 1],      [224, 7, 2], ["pixels", "pixels"],   [17.9, 30.7, 0.0]),
        ("ResNet-18 56×56",         [64, 64, 1],     [56, 3, 1],  ["winograd", "winograd"], [37.7, 42.5, 62.1]),
        ("ResNet-18 28×28",         [128, 128, 1],   [28, 3, 1],  ["winograd", "winograd"], [37.5, 42.9, 72.4]),
        ("ResNet-18 14×14",         [256, 256, 1],   [14, 3, 1],  ["winograd", "winograd"], [34.3, 43.5, 74.3]),
        ("ResNet-18 7×7",           [512, 512, 1],   [7, 3, 1],   ["winograd", "winograd"], [26.9, 46.0, 55.7]),
        ("ResNet-18 4×4",           [128, 128, 1],   [4, 3, 1],   ["winograd", "winograd"], [14.8, 56.3, 77.8]),
        ("ResNet-18 2×2",           [256, 256, 1],   [2, 3, 1],   ["pixels", "pixels"],   [5.8, 81.7, 77.3]),
        ("ResNet-18 1×1",           [512, 512, 1],   [1, 3, 1],   ["pixels", "pixels"],   [1.5, 341.9, 11.6]),
        ("ResNet-18 down",          [64, 128, 1],    [8, 3, 2],   ["pixels", "pixels"],   [22.8, 47.3, 0.0]),
        ("VGG-7 32×32",             [128, 128, 1],   [32, 3, 1],  ["winograd", "winograd"], [36.8, 42.4, 62.4]),
        ("MobileNetV2 depthwise",   [144, 144, 144], [56, 3, 1],  ["pixels", "pixels"],   [8.1, 15.0, 0.0]),
        ("MobileNetV2 down",        [96, 96, 96],    [112, 3, 2], ["pixels", "pixels"],   [1.0, 9.1, 0.0]),
        ("groups of several",       [64, 64, 4],     [14, 3, 1],  ["planes", "planes"],   [30.0, 0.0, 0.0]),
    ];

    /// Prints the table; every layer must get the kernel that was measured fastest among those it can have.
    #[test]
    fn every_layer_gets_the_fastest_kernel() {
        for (name, channels, [side, kernel, stride], wanted, rates) in TABLE {
            let [in_channels, out_channels, groups] = channels;
            let shape = ConvShape {
                batch: 1,
                in_channels,
                out_channels,
                groups,
                input: [side; 2],
                kernel: [kernel; 2],
                stride: [stride; 2],
                padding: [kernel / 2; 2],
                dilation: [1; 2],
            };
            let order = if favors_pixels(&shape) {
                Order::Pixels
            } else {
                Order::Planes
            };
            let got = [true, false].map(|has_gradients| {
                let freedom = Freedom {
                    order,
                    has_gradients,
                    any_rounding: true,
                };
                match Kernel::new(shape, freedom) {
                    Kernel::Planes { .. } => "planes",
                    Kernel::Pixels { .. } => "pixels",
                    Kernel::Winograd { .. } => "winograd",
                }
            });
            let [planes, pixels, winograd] = rates;
            eprintln!(
                "{name:<24} {planes:>6} {pixels:>6} {winograd:>6}  {} {}",
                got[0], got[1]
            );
            assert_eq!(got, wanted, "{name}");
            let rate = |kernel: &str| match kernel {
                "planes" => planes,
                "pixels" => pixels,
                _ => winograd,
            };
            assert!(rate(got[0]) >= planes.max(pixels), "{name} in training");
            assert!(rate(got[1]) >= planes.max(pixels).max(winograd), "{name}");
        }
    }
}
