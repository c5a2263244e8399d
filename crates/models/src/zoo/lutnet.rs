//! The networks of LUTNet (Wang et al., 2019) with the original's names: LFC and CNV.
//!
//! Both are made for binary formats: their only non-linearity besides pooling is the rounding of a layer's inputs, so
//! that without formats they are piecewise linear.

use crate::Sizes;
use crate::layers::{batch_norm1d, batch_norm2d, conv, flatten, linear, max_pool2d, view};
use crate::network::Network;
use ir::ops::softmax::Softmax;
use ir::{Graph, Op};

/// Four hidden layers of 256 on the flattened image, and probabilities at the end.
pub fn lfc(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("lfc", &sizes.input);
    net.then(view(&[None]));
    let widths = [sizes.features(), 256, 256, 256, 256, sizes.classes];
    let softmax = Softmax { dim: 1 }.into();
    net.sequential("seq_blocks", normed(&widths).chain([softmax]));
    net.finish()
}

/// Three pairs of convolutions with 64, 128 and 256 channels and no padding, then three linear layers.
pub fn cnv(sizes: &Sizes) -> Graph {
    let mut net = Network::on_samples("cnv", &sizes.input);
    let mut channels = sizes.input[0];
    let mut layers = Vec::new();
    for width in [64, 128, 256] {
        if width != 64 {
            layers.push(max_pool2d());
        }
        for i in [channels, width] {
            layers.extend([conv::<2>(i, width, 3).into(), batch_norm2d(width).into()]);
        }
        channels = width;
    }
    net.sequential("seq_blocks", layers);
    net.then(flatten());
    let features = channels * shrunk(sizes.input[1]) * shrunk(sizes.input[2]);
    let widths = [features, 512, 512, sizes.classes];
    net.sequential("seq_blocks_1", normed(&widths));
    net.finish()
}

/// Linear layers between these widths, each with its BatchNorm.
fn normed(widths: &[usize]) -> impl Iterator<Item = Op> {
    let pairs = widths.windows(2);
    pairs.flat_map(|pair| [linear(pair[0], pair[1]), batch_norm1d(pair[1])])
}

/// The length of an axis after three pairs of convolutions and two pools. Too small an image gives 0, which the verifier
/// refuses.
fn shrunk(size: usize) -> usize {
    let pair = |size: usize| size.saturating_sub(4);
    pair(pair(pair(size) / 2) / 2)
}
