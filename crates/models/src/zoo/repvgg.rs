//! RepVGG (Ding et al., 2021) in the form that is trained, with the authors' names.
//!
//! Each block is a 3×3 convolution, a 1×1 convolution and, where the shape stays, the input itself, all three with their
//! own BatchNorm.

use crate::Sizes;
use crate::layers::{batch_norm2d, linear, plain_conv2d, view};
use crate::network::Network;
use ir::ops::activation::Relu;
use ir::ops::adaptive_pool::AdaptiveAvgPool2d;
use ir::ops::arithmetic::Add;
use ir::{Graph, Value};

/// Channels and blocks of the stages of RepVGG-A0.
const STAGES: [(usize, usize); 4] = [(48, 2), (96, 4), (192, 14), (1280, 1)];

/// A stem of 48 channels, four stages that halve the image, the mean over space and one linear layer.
pub fn a0(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("repvgg_A0", &sizes.input);
    let mut channels = 48;
    block(&mut net, "stage0", sizes.input[0], channels, 2);
    for (stage, (width, n_blocks)) in STAGES.into_iter().enumerate() {
        for index in 0..n_blocks {
            let stride = if index == 0 { 2 } else { 1 };
            let prefix = format!("stage{}.{index}", stage + 1);
            block(&mut net, &prefix, channels, width, stride);
            channels = width;
        }
    }
    net.module(
        "gap",
        AdaptiveAvgPool2d {
            output_size: [1, 1],
        },
    );
    net.then(view(&[None]));
    net.module("linear", linear(channels, sizes.classes));
    net.finish()
}

/// The sum of the branches behind one ReLU.
fn block(net: &mut Network, prefix: &str, i: usize, o: usize, stride: usize) {
    let x = net.at();
    let dense = branch(net, &format!("{prefix}.rbr_dense"), x, (i, o, 3, stride));
    let narrow = branch(net, &format!("{prefix}.rbr_1x1"), x, (i, o, 1, stride));
    let sum = net.call(Add { scalar: None }, &[dense, narrow]);
    if i == o && stride == 1 {
        let identity = net
            .from(x)
            .module(&format!("{prefix}.rbr_identity"), batch_norm2d(i));
        net.call(Add { scalar: None }, &[sum, identity]);
    }
    net.module(&format!("{prefix}.nonlinearity"), Relu { inplace: false });
}

/// A convolution of these channels, window and stride, with its BatchNorm.
fn branch(
    net: &mut Network,
    prefix: &str,
    x: Value,
    (i, o, kernel, stride): (usize, usize, usize, usize),
) -> Value {
    net.from(x).module(
        &format!("{prefix}.conv"),
        plain_conv2d(i, o, kernel, stride),
    );
    net.module(&format!("{prefix}.bn"), batch_norm2d(o))
}
