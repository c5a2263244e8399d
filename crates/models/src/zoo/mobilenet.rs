//! MobileNetV2 (Sandler et al., 2018) with torchvision's names.
//!
//! Starting values are PyTorch's defaults for each layer, not torchvision's own for the whole network.

use crate::Sizes;
use crate::layers::{batch_norm2d, flatten, linear, plain_conv2d};
use crate::network::Network;
use ir::ops::activation::Relu6;
use ir::ops::adaptive_pool::AdaptiveAvgPool2d;
use ir::ops::arithmetic::Add;
use ir::ops::conv::Conv2d;
use ir::ops::dropout::Dropout;
use ir::{Graph, Op};

/// Table 2 of the paper: expansion, channels, blocks, stride of the first block.
const STAGES: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

/// A stem, 17 inverted residuals, a wide 1×1 convolution, the mean over space and one linear layer.
pub fn v2(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("mobilenetv2", &sizes.input);
    net.sequential(
        "features.0",
        conv_norm(plain_conv2d(sizes.input[0], 32, 3, 2)),
    );
    let (mut channels, mut feature) = (32, 1);
    for (expansion, width, n_blocks, first_stride) in STAGES {
        for block in 0..n_blocks {
            let stride = if block == 0 { first_stride } else { 1 };
            let residual = Residual {
                i: channels,
                o: width,
                expansion,
                stride,
            };
            inverted_residual(&mut net, &format!("features.{feature}.conv"), &residual);
            (channels, feature) = (width, feature + 1);
        }
    }
    net.sequential(
        &format!("features.{feature}"),
        conv_norm(plain_conv2d(channels, 1280, 1, 1)),
    );
    net.then(AdaptiveAvgPool2d {
        output_size: [1, 1],
    });
    net.then(flatten());
    net.sequential(
        "classifier",
        [Dropout { p: 0.2 }.into(), linear(1280, sizes.classes)],
    );
    net.finish()
}

struct Residual {
    i: usize,
    o: usize,
    expansion: usize,
    stride: usize,
}

/// Wide in the middle, depthwise there, narrow at both ends; added to its input where the shapes agree.
fn inverted_residual(net: &mut Network, prefix: &str, block: &Residual) {
    let x = net.at();
    let wide = block.i * block.expansion;
    let mut part = 0;
    if block.expansion != 1 {
        net.sequential(
            &format!("{prefix}.{part}"),
            conv_norm(plain_conv2d(block.i, wide, 1, 1)),
        );
        part += 1;
    }
    let depthwise = Conv2d {
        groups: wide,
        ..plain_conv2d(wide, wide, 3, block.stride)
    };
    net.sequential(&format!("{prefix}.{part}"), conv_norm(depthwise));
    net.module(
        &format!("{prefix}.{}", part + 1),
        plain_conv2d(wide, block.o, 1, 1),
    );
    let y = net.module(&format!("{prefix}.{}", part + 2), batch_norm2d(block.o));
    if block.stride == 1 && block.i == block.o {
        net.call(Add { scalar: None }, &[x, y]);
    }
}

fn conv_norm(conv: Conv2d) -> [Op; 3] {
    let norm = batch_norm2d(conv.out_channels);
    [conv.into(), norm.into(), Relu6 {}.into()]
}
