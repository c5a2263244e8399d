//! A small causal transformer with normalisation before each part.

use crate::Sizes;
use crate::layers::{layer_norm, linear, permute, view};
use crate::network::Network;
use ir::ops::activation::Gelu;
use ir::ops::arithmetic::Add;
use ir::ops::attention::ScaledDotProductAttention;
use ir::ops::cat::Chunk;
use ir::ops::embedding::Embedding;
use ir::ops::getitem::Getitem;
use ir::{DType, Graph, Op, Value};

const VOCABULARY: usize = 64;
const WIDTH: usize = 64;
const HEADS: usize = 4;
const BLOCKS: usize = 2;
const EPS: f64 = 1e-5;

/// Two blocks of width 64 with four heads. Returns the word that may come next at each position or, for a number of
/// classes, the class of the whole sequence, which the last position answers: it is the one that sees all others.
pub fn transformer(sizes: &Sizes) -> Graph {
    let length = sizes.input[0];
    let mut net = Network::on_input("transformer", "tokens", DType::I64, &sizes.input);
    let (num_embeddings, embedding_dim) = (VOCABULARY, WIDTH);
    let words = net.module(
        "embedding",
        Embedding {
            num_embeddings,
            embedding_dim,
        },
    );
    let places = net.stored("positions", &[length, WIDTH], 0.02);
    net.call(add(), &[words, places]);
    for block in 0..BLOCKS {
        let x = net.at();
        attention(&mut net, &format!("blocks.{block}"), length);
        let x = net.call(add(), &[x, net.at()]);
        feed_forward(&mut net, &format!("blocks.{block}"));
        net.call(add(), &[x, net.at()]);
    }
    net.module("ln", layer_norm(WIDTH, EPS));
    let outputs = if sizes.classes > 0 {
        net.then(Getitem {
            index: ":, -1".to_owned(),
        });
        sizes.classes
    } else {
        VOCABULARY
    };
    net.module("head", linear(WIDTH, outputs));
    net.finish()
}

fn attention(net: &mut Network, prefix: &str, length: usize) {
    net.module(&format!("{prefix}.ln1"), layer_norm(WIDTH, EPS));
    net.module(&format!("{prefix}.qkv"), linear(WIDTH, 3 * WIDTH));
    let qkv = net.then(Chunk { chunks: 3, dim: -1 });
    let [q, k, v] = [0, 1, 2].map(|output| {
        net.from(Value { output, ..qkv });
        net.then(view(&[Some(length), Some(HEADS), Some(WIDTH / HEADS)]));
        net.then(permute(&[0, 2, 1, 3]))
    });
    let causal = ScaledDotProductAttention {
        is_causal: true,
        ..ScaledDotProductAttention::default()
    };
    net.call(causal, &[q, k, v]);
    net.then(permute(&[0, 2, 1, 3]));
    net.then(view(&[Some(length), Some(WIDTH)]));
    net.module(&format!("{prefix}.o"), linear(WIDTH, WIDTH));
}

fn feed_forward(net: &mut Network, prefix: &str) {
    net.module(&format!("{prefix}.ln2"), layer_norm(WIDTH, EPS));
    net.module(&format!("{prefix}.f1"), linear(WIDTH, 4 * WIDTH));
    net.then(Gelu::default());
    net.module(&format!("{prefix}.f2"), linear(4 * WIDTH, WIDTH));
}

fn add() -> Op {
    Add { scalar: None }.into()
}
