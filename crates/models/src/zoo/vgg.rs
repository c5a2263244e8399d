//! VGG-7 for images of 32×32 (Simonyan and Zisserman, 2014, in the size used for ternary networks), and the original's
//! tiny one.

use crate::Sizes;
use crate::layers::{batch_norm2d, conv3, linear, max_pool2d, relu, view};
use crate::network::Network;
use ir::ops::batch_norm::BatchNorm2d;
use ir::{Graph, Op};

/// Three pairs of convolutions with 128, 256 and 512 channels, then three linear layers.
pub fn vgg7(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("vgg7", &sizes.input);
    let mut channels = sizes.input[0];
    let mut layers = Vec::new();
    for width in [128, 256, 512] {
        layers.extend(conv_block(channels, width));
        layers.extend(conv_block(width, width));
        layers.push(max_pool2d());
        channels = width;
    }
    net.sequential("feature_layers", layers);
    let features = 512 * (sizes.input[1] / 8) * (sizes.input[2] / 8);
    net.then(view(&[Some(features)]));
    #[rustfmt::skip]
    net.sequential("classifier", [
        linear(features, 1024), relu(),
        linear(1024, 1024), relu(),
    ]);
    net.module("last_layer", linear(1024, sizes.classes));
    net.finish()
}

/// Three narrow convolutions without BatchNorm, then two linear layers.
pub fn tiny(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("vgg_tiny", &sizes.input);
    #[rustfmt::skip]
    net.sequential("features", [
        conv3::<2>(sizes.input[0], 10).into(), relu(),
        conv3::<2>(10, 10).into(), relu(), max_pool2d(),
        conv3::<2>(10, 8).into(), relu(), max_pool2d(),
    ]);
    let features = 8 * (sizes.input[1] / 4) * (sizes.input[2] / 4);
    net.then(view(&[Some(features)]));
    net.sequential(
        "classifier",
        [linear(features, 32), relu(), linear(32, sizes.classes)],
    );
    net.finish()
}

/// The original's BatchNorm has momentum 0.9.
fn conv_block(i: usize, o: usize) -> [Op; 3] {
    let norm = BatchNorm2d {
        momentum: 0.9,
        ..batch_norm2d(o)
    };
    [conv3::<2>(i, o).into(), norm.into(), relu()]
}
