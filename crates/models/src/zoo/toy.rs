//! Toy networks for images, small enough to look at.

use crate::Sizes;
use crate::layers::{conv3, linear, max_pool2d, relu, view};
use crate::network::Network;
use ir::Graph;
use ir::ops::adaptive_pool::AdaptiveAvgPool1d;

/// Two hidden layers of 8 on the flattened image.
pub fn toy(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("toy", &sizes.input);
    net.then(view(&[None]));
    #[rustfmt::skip]
    net.sequential("seq_blocks", [
        linear(sizes.features(), 8), relu(),
        linear(8, 8), relu(),
        linear(8, sizes.classes),
    ]);
    net.finish()
}

/// One linear layer. The original also declares `l2` and `relu_2`, which its forward never calls; a graph holds what
/// is computed, so they are not here.
pub fn tiny(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("toy_tiny", &sizes.input);
    net.then(view(&[None]));
    net.module("l1", linear(sizes.features(), sizes.classes));
    net.module("relu_1", relu());
    net.finish()
}

/// Two convolutions over the image, two over its rows strung together, one linear layer.
pub fn convnet(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("toy_convnet", &sizes.input);
    net.sequential("block_1", [conv3::<2>(sizes.input[0], 8).into(), relu()]);
    net.module("maxpool", max_pool2d());
    net.sequential("block_2", [conv3::<2>(8, 16).into(), relu()]);
    net.then(view(&[Some(16), None]));
    net.sequential("block_3", [conv3::<1>(16, 32).into(), relu()]);
    net.sequential("block_4", [conv3::<1>(32, 64).into(), relu()]);
    net.module("avgpool", AdaptiveAvgPool1d { output_size: [1] });
    net.then(view(&[None]));
    net.module("linear", linear(64, sizes.classes));
    net.finish()
}
