//! LeNet-5 (LeCun et al., 1998) with ReLU and max pooling.

use crate::Sizes;
use crate::layers::{conv, flatten, linear, max_pool2d, relu};
use crate::network::Network;
use ir::Graph;
use ir::ops::conv::Conv2d;

/// Two convolutions of 5×5, three linear layers. The first convolution pads by 2, so that 28×28 images give 400
/// features as the original's 32×32 did.
pub fn lenet5(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("lenet5", &sizes.input);
    let padding = [2, 2];
    net.module(
        "conv1",
        Conv2d {
            padding,
            ..conv(sizes.input[0], 6, 5)
        },
    );
    net.then(relu());
    net.then(max_pool2d());
    net.module("conv2", conv::<2>(6, 16, 5));
    net.then(relu());
    net.then(max_pool2d());
    net.then(flatten());
    let features = 16 * pooled(sizes.input[1]) * pooled(sizes.input[2]);
    net.module("fc1", linear(features, 120));
    net.then(relu());
    net.module("fc2", linear(120, 84));
    net.then(relu());
    net.module("fc3", linear(84, sizes.classes));
    net.finish()
}

/// The length of an axis after pool, convolution and pool. Too small an image gives 0, which the verifier refuses.
fn pooled(size: usize) -> usize {
    (size / 2).saturating_sub(4) / 2
}
