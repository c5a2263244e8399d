//! BERT (Devlin et al., 2018) in its smallest published size, with the names of Hugging Face's `BertModel`.
//!
//! A position attends to those whose `attention_mask` is 1; where it is 0, the smallest float is added to the score. With a
//! number of classes the network is `BertForSequenceClassification`, a layer on the pooled output.
//! Attention is written with two matrix products, a scale and a softmax, so that each product can have formats.
//! Starting values are PyTorch's defaults for each layer, but for the positions, which start with deviation 0.02.

use crate::Sizes;
use crate::layers::{layer_norm, linear, permute, view};
use crate::network::Network;
use ir::ops::activation::{Gelu, Tanh};
use ir::ops::arithmetic::{Add, Mul};
use ir::ops::dropout::Dropout;
use ir::ops::embedding::Embedding;
use ir::ops::getitem::Getitem;
use ir::ops::matmul::Matmul;
use ir::ops::permute::Transpose;
use ir::ops::softmax::Softmax;
use ir::{DType, Graph, Op, Value};

const LAYERS: usize = 2;
const HIDDEN: usize = 128;
const HEADS: usize = 2;
const INTERMEDIATE: usize = 512;
const VOCABULARY: usize = 30_522;
const POSITIONS: usize = 512;
const TOKEN_TYPES: usize = 2;
const EPS: f64 = 1e-12;

/// Two layers of width 128 with two heads. Returns the hidden states of all positions and the pooled first one, or the
/// classes.
pub fn tiny(sizes: &Sizes) -> Graph {
    let length = sizes.input[0];
    let mut net = Network::on_input("bert-tiny", "input_ids", DType::I64, &sizes.input);
    let ids = net.at();
    let types = net.input("token_type_ids", DType::I64, &[length]);
    net.input("attention_mask", DType::F32, &[length]);
    let mask = additive_mask(&mut net, length);
    embeddings(&mut net, ids, types, length);
    for layer in 0..LAYERS {
        encoder_layer(&mut net, &format!("encoder.layer.{layer}"), mask, length);
    }
    let hidden = net.at();
    net.then(Getitem {
        index: ":, 0".to_owned(),
    });
    net.module("pooler.dense", linear(HIDDEN, HIDDEN));
    let pooled = net.module("pooler.activation", Tanh {});
    if sizes.classes == 0 {
        return net.returning(&[hidden, pooled]);
    }
    net.module("dropout", dropout());
    net.module("classifier", linear(HIDDEN, sizes.classes));
    net.finish()
}

/// 0 where the mask is 1, and the smallest float where it is 0, for all heads and positions.
fn additive_mask(net: &mut Network, length: usize) -> Value {
    net.then(view(&[Some(1), Some(1), Some(length)]));
    net.then(Add { scalar: Some(-1.0) });
    net.then(Mul {
        scalar: Some(f64::from(f32::MAX)),
    })
}

fn embeddings(net: &mut Network, ids: Value, types: Value, length: usize) {
    let table = |num_embeddings| Embedding {
        num_embeddings,
        embedding_dim: HIDDEN,
    };
    let words = net
        .from(ids)
        .module("embeddings.word_embeddings", table(VOCABULARY));
    let types = net
        .from(types)
        .module("embeddings.token_type_embeddings", table(TOKEN_TYPES));
    let sum = net.call(add(), &[words, types]);
    net.stored(
        "embeddings.position_embeddings.weight",
        &[POSITIONS, HIDDEN],
        0.02,
    );
    let places = net.then(Getitem {
        index: format!("0:{length}"),
    });
    net.call(add(), &[sum, places]);
    net.module("embeddings.LayerNorm", layer_norm(HIDDEN, EPS));
    net.module("embeddings.dropout", dropout());
}

fn encoder_layer(net: &mut Network, prefix: &str, mask: Value, length: usize) {
    let x = net.at();
    self_attention(net, &format!("{prefix}.attention.self"), mask, length);
    let y = residual(net, &format!("{prefix}.attention.output"), HIDDEN, x);
    net.from(y);
    net.module(
        &format!("{prefix}.intermediate.dense"),
        linear(HIDDEN, INTERMEDIATE),
    );
    net.module(
        &format!("{prefix}.intermediate.intermediate_act_fn"),
        Gelu::default(),
    );
    residual(net, &format!("{prefix}.output"), INTERMEDIATE, y);
}

/// Linear, dropout, sum with `x`, layer norm.
fn residual(net: &mut Network, prefix: &str, width: usize, x: Value) -> Value {
    net.module(&format!("{prefix}.dense"), linear(width, HIDDEN));
    let y = net.module(&format!("{prefix}.dropout"), dropout());
    net.call(add(), &[y, x]);
    net.module(&format!("{prefix}.LayerNorm"), layer_norm(HIDDEN, EPS))
}

fn self_attention(net: &mut Network, prefix: &str, mask: Value, length: usize) {
    let x = net.at();
    let [query, key, value] = ["query", "key", "value"].map(|name| {
        net.from(x)
            .module(&format!("{prefix}.{name}"), linear(HIDDEN, HIDDEN));
        heads(net, length)
    });
    let key = net.call(Transpose { dim0: -1, dim1: -2 }, &[key]);
    net.call(Matmul {}, &[query, key]);
    let depth = (HIDDEN / HEADS) as f64;
    let scores = net.then(Mul {
        scalar: Some(1.0 / depth.sqrt()),
    });
    net.call(add(), &[scores, mask]);
    net.then(Softmax { dim: -1 });
    let weights = net.module(&format!("{prefix}.dropout"), dropout());
    net.call(Matmul {}, &[weights, value]);
    net.then(permute(&[0, 2, 1, 3]));
    net.then(view(&[Some(length), Some(HIDDEN)]));
}

/// `[N, T, hidden]` as `[N, heads, T, depth]`.
fn heads(net: &mut Network, length: usize) -> Value {
    net.then(view(&[Some(length), Some(HEADS), Some(HIDDEN / HEADS)]));
    net.then(permute(&[0, 2, 1, 3]))
}

fn add() -> Op {
    Add { scalar: None }.into()
}

fn dropout() -> Op {
    Dropout { p: 0.1 }.into()
}
