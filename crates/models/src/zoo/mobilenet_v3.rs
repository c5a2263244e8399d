//! MobileNetV3-Small (Howard et al., 2019) with torchvision's names.
//!
//! Starting values are PyTorch's defaults for each layer, not torchvision's own for the whole network.

use crate::Sizes;
use crate::layers::{batch_norm2d, conv, flatten, linear, plain_conv2d, relu};
use crate::network::Network;
use ir::ops::activation::{Hardsigmoid, Hardswish};
use ir::ops::adaptive_pool::AdaptiveAvgPool2d;
use ir::ops::arithmetic::{Add, Mul};
use ir::ops::batch_norm::BatchNorm2d;
use ir::ops::conv::Conv2d;
use ir::ops::dropout::Dropout;
use ir::{Graph, Op};

/// A bottleneck: a line of table 2 of the paper.
struct Bottleneck {
    kernel: usize,
    wide: usize,
    o: usize,
    squeezes: bool,
    is_swish: bool,
    stride: usize,
}

#[rustfmt::skip]
const SMALL: [Bottleneck; 11] = [
    Bottleneck { kernel: 3, wide: 16, o: 16, squeezes: true, is_swish: false, stride: 2 },
    Bottleneck { kernel: 3, wide: 72, o: 24, squeezes: false, is_swish: false, stride: 2 },
    Bottleneck { kernel: 3, wide: 88, o: 24, squeezes: false, is_swish: false, stride: 1 },
    Bottleneck { kernel: 5, wide: 96, o: 40, squeezes: true, is_swish: true, stride: 2 },
    Bottleneck { kernel: 5, wide: 240, o: 40, squeezes: true, is_swish: true, stride: 1 },
    Bottleneck { kernel: 5, wide: 240, o: 40, squeezes: true, is_swish: true, stride: 1 },
    Bottleneck { kernel: 5, wide: 120, o: 48, squeezes: true, is_swish: true, stride: 1 },
    Bottleneck { kernel: 5, wide: 144, o: 48, squeezes: true, is_swish: true, stride: 1 },
    Bottleneck { kernel: 5, wide: 288, o: 96, squeezes: true, is_swish: true, stride: 2 },
    Bottleneck { kernel: 5, wide: 576, o: 96, squeezes: true, is_swish: true, stride: 1 },
    Bottleneck { kernel: 5, wide: 576, o: 96, squeezes: true, is_swish: true, stride: 1 },
];

/// A stem, 11 bottlenecks, a wide 1×1 convolution, the mean over space and two linear layers.
pub fn small(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("mobilenetv3_small", &sizes.input);
    let stem = plain_conv2d(sizes.input[0], 16, 3, 2);
    net.sequential("features.0", conv_norm(stem, Some(Hardswish {}.into())));
    let mut channels = 16;
    for (index, bottleneck) in SMALL.iter().enumerate() {
        let prefix = format!("features.{}.block", index + 1);
        inverted_residual(&mut net, &prefix, channels, bottleneck);
        channels = bottleneck.o;
    }
    let last = plain_conv2d(channels, 6 * channels, 1, 1);
    let prefix = format!("features.{}", SMALL.len() + 1);
    net.sequential(&prefix, conv_norm(last, Some(Hardswish {}.into())));
    net.module("avgpool", mean_over_space());
    net.then(flatten());
    net.sequential(
        "classifier",
        [
            linear(6 * channels, 1024),
            Hardswish {}.into(),
            Dropout { p: 0.2 }.into(),
            linear(1024, sizes.classes),
        ],
    );
    net.finish()
}

/// Wide in the middle, depthwise there, squeezed and excited, narrow at both ends; added to its input where the shapes
/// agree.
fn inverted_residual(net: &mut Network, prefix: &str, i: usize, block: &Bottleneck) {
    let x = net.at();
    let &Bottleneck { wide, o, .. } = block;
    let mut parts = 0..;
    let mut next = || format!("{prefix}.{}", parts.next().unwrap_or_default());
    let activation = || {
        Some(if block.is_swish {
            Hardswish {}.into()
        } else {
            relu()
        })
    };
    if wide != i {
        net.sequential(
            &next(),
            conv_norm(plain_conv2d(i, wide, 1, 1), activation()),
        );
    }
    let depthwise = Conv2d {
        groups: wide,
        ..plain_conv2d(wide, wide, block.kernel, block.stride)
    };
    net.sequential(&next(), conv_norm(depthwise, activation()));
    if block.squeezes {
        squeeze_and_excite(net, &next(), wide);
    }
    let y = net.sequential(&next(), conv_norm(plain_conv2d(wide, o, 1, 1), None));
    if block.stride == 1 && i == o {
        net.call(Add { scalar: None }, &[y, x]);
    }
}

/// Each channel times a number that follows from the means of all channels.
fn squeeze_and_excite(net: &mut Network, prefix: &str, channels: usize) {
    let x = net.at();
    let squeezed = divisible_by_8(channels / 4);
    net.module(&format!("{prefix}.avgpool"), mean_over_space());
    net.module(&format!("{prefix}.fc1"), conv::<2>(channels, squeezed, 1));
    net.module(&format!("{prefix}.activation"), relu());
    net.module(&format!("{prefix}.fc2"), conv::<2>(squeezed, channels, 1));
    let scale = net.module(
        &format!("{prefix}.scale_activation"),
        Hardsigmoid::default(),
    );
    net.call(Mul { scalar: None }, &[scale, x]);
}

/// The nearest multiple of 8 that is not more than a tenth below.
fn divisible_by_8(channels: usize) -> usize {
    let nearest = ((channels + 4) / 8 * 8).max(8);
    if nearest < (9 * channels).div_ceil(10) {
        nearest + 8
    } else {
        nearest
    }
}

fn mean_over_space() -> AdaptiveAvgPool2d {
    AdaptiveAvgPool2d {
        output_size: [1, 1],
    }
}

/// A convolution with its BatchNorm and its activation, if it has one.
fn conv_norm(conv: Conv2d, activation: Option<Op>) -> impl Iterator<Item = Op> {
    let norm = BatchNorm2d {
        eps: 1e-3,
        momentum: 0.01,
        ..batch_norm2d(conv.out_channels)
    };
    [conv.into(), norm.into()].into_iter().chain(activation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `_make_divisible(channels, 8)` of torchvision: to nearest, ties up, at least 8, and one multiple more where
    /// the nearest is more than a tenth below.
    #[test]
    fn channels_are_made_divisible_as_published() {
        for (channels, expected) in [
            // At least 8.
            (1, 8),
            (4, 8),
            (8, 8),
            // More than a tenth below: the multiple above.
            (9, 16),
            (11, 16),
            (18, 24),
            (19, 24),
            // At most a tenth below: the nearest.
            (17, 16),
            (26, 24),
            (80, 80),
            (83, 80),
            (97, 96),
            // Halfway: up.
            (12, 16),
            (20, 24),
            (36, 40),
            // Above halfway.
            (15, 16),
            (60, 64),
            (143, 144),
        ] {
            assert_eq!(divisible_by_8(channels), expected, "{channels}");
        }
    }
}
