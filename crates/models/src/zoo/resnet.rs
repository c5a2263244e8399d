//! ResNet-18 (He et al., 2015) with torchvision's names.
//!
//! Starting values are PyTorch's defaults for each layer, not torchvision's own for the whole network.

use crate::Sizes;
use crate::layers::{batch_norm2d, flatten, linear, plain_conv2d, relu};
use crate::network::Network;
use ir::Graph;
use ir::ops::adaptive_pool::AdaptiveAvgPool2d;
use ir::ops::arithmetic::Add;
use ir::ops::pool::MaxPool2d;

/// A stem, four layers of two basic blocks, the mean over space and one linear layer.
pub fn resnet18(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("resnet18", &sizes.input);
    net.module("conv1", plain_conv2d(sizes.input[0], 64, 7, 2));
    net.module("bn1", batch_norm2d(64));
    net.module("relu", relu());
    net.module(
        "maxpool",
        MaxPool2d {
            kernel_size: [3, 3],
            stride: [2, 2],
            padding: [1, 1],
            dilation: [1, 1],
            ceil_mode: false,
        },
    );
    let mut channels = 64;
    for (layer, width) in [64, 128, 256, 512].into_iter().enumerate() {
        let stride = if layer == 0 { 1 } else { 2 };
        basic_block(
            &mut net,
            &format!("layer{}.0", layer + 1),
            channels,
            width,
            stride,
        );
        basic_block(&mut net, &format!("layer{}.1", layer + 1), width, width, 1);
        channels = width;
    }
    net.module(
        "avgpool",
        AdaptiveAvgPool2d {
            output_size: [1, 1],
        },
    );
    net.then(flatten());
    net.module("fc", linear(512, sizes.classes));
    net.finish()
}

/// Two convolutions beside a shortcut, which is a convolution itself where the shape changes. The block has one
/// ReLU module and calls it twice.
fn basic_block(net: &mut Network, prefix: &str, i: usize, o: usize, stride: usize) {
    let x = net.at();
    net.module(&format!("{prefix}.conv1"), plain_conv2d(i, o, 3, stride));
    net.module(&format!("{prefix}.bn1"), batch_norm2d(o));
    net.module(&format!("{prefix}.relu"), relu());
    net.module(&format!("{prefix}.conv2"), plain_conv2d(o, o, 3, 1));
    let y = net.module(&format!("{prefix}.bn2"), batch_norm2d(o));
    let shortcut = if i == o && stride == 1 {
        x
    } else {
        let layers = [plain_conv2d(i, o, 1, stride).into(), batch_norm2d(o).into()];
        net.from(x)
            .sequential(&format!("{prefix}.downsample"), layers)
    };
    net.call(Add { scalar: None }, &[y, shortcut]);
    net.module(&format!("{prefix}.relu"), relu());
}
