//! Jet substructure classification: small perceptrons on 16 features.

use crate::Sizes;
use crate::layers::{batch_norm1d as bn, linear, relu};
use crate::network::Network;
use ir::ops::dropout::Dropout;
use ir::{Graph, Op};

fn sequential(name: &str, prefix: &str, sizes: &Sizes, layers: Vec<Op>) -> Graph {
    let mut net = Network::on_samples(name, &sizes.input);
    net.sequential(prefix, layers);
    net.finish()
}

/// The smallest: one linear layer.
pub fn tiny(sizes: &Sizes) -> Graph {
    let (i, o) = (sizes.features(), sizes.classes);
    let layers = vec![bn(i), relu(), linear(i, o), relu()];
    sequential("jsc-tiny", "seq_blocks", sizes, layers)
}

/// Two hidden layers of 8.
pub fn toy(sizes: &Sizes) -> Graph {
    stack("jsc-toy", sizes, &[8, 8])
}

/// The network of the first lab: hidden layers of 32, 16 and 8.
pub fn lab1(sizes: &Sizes) -> Graph {
    stack("jsc-lab1", sizes, &[32, 16, 8])
}

/// The large network of the first lab: hidden layers of 64, 128, 8 and 8.
pub fn lab1_large(sizes: &Sizes) -> Graph {
    stack("jsc-lab1-large", sizes, &[64, 128, 8, 8])
}

/// BatchNorm and ReLU on the features, then Linear, BatchNorm and ReLU for each width and for the classes.
fn stack(name: &str, sizes: &Sizes, hidden: &[usize]) -> Graph {
    let mut width = sizes.features();
    let mut layers = vec![bn(width), relu()];
    for &next in hidden.iter().chain([&sizes.classes]) {
        layers.extend([linear(width, next), bn(next), relu()]);
        width = next;
    }
    sequential(name, "seq_blocks", sizes, layers)
}

/// Five layers of 64 and 32, with BatchNorm at both ends only.
pub fn s(sizes: &Sizes) -> Graph {
    let (i, o) = (sizes.features(), sizes.classes);
    #[rustfmt::skip]
    let layers = vec![
        bn(i), relu(),
        linear(i, 64), bn(64), relu(),
        linear(64, 32), relu(),
        linear(32, 32), relu(),
        linear(32, 32), relu(),
        linear(32, o), bn(o), relu(),
    ];
    sequential("jsc-s", "module_list", sizes, layers)
}

/// The network of the TensorRT tutorials, with dropout.
pub fn trt(sizes: &Sizes) -> Graph {
    let (i, o) = (sizes.features(), sizes.classes);
    #[rustfmt::skip]
    let layers = vec![
        bn(i), relu(),
        linear(i, 32), bn(32), relu(),
        linear(32, 48), bn(48), relu(),
        Dropout { p: 0.5 }.into(),
        linear(48, 16), bn(16), relu(),
        linear(16, o), bn(o), relu(),
    ];
    sequential("jsc-trt", "seq_blocks", sizes, layers)
}
