//! The table of operators that are written.

use super::site::Site;
use super::{functions, kept, layers, moves, norms, recurrent};
use crate::constant::Refusal;

/// The names of the results of a node.
pub type Written = Result<Vec<String>, Refusal>;

/// An operator of a graph and its writer.
pub type Writer = (&'static str, fn(&mut Site) -> Written);

/// Every operator but the edges of a graph.
pub const WRITERS: &[Writer] = &[
    ("opaque", kept::opaque),
    // layers with weights
    ("linear", layers::linear),
    ("conv1d", layers::conv),
    ("conv2d", layers::conv),
    ("conv_transpose1d", layers::conv_transpose),
    ("conv_transpose2d", layers::conv_transpose),
    ("batch_norm1d", norms::batch_norm),
    ("batch_norm2d", norms::batch_norm),
    ("layer_norm", norms::layer_norm),
    ("rms_norm", norms::rms_norm),
    ("group_norm", norms::group_norm),
    ("instance_norm", norms::instance_norm),
    ("embedding", layers::embedding),
    ("lstm", recurrent::lstm),
    ("prelu", layers::prelu),
    ("thresholds", layers::thresholds),
    ("scaled_dot_product_attention", layers::attention),
    // pools
    ("max_pool1d", layers::pool),
    ("max_pool2d", layers::pool),
    ("avg_pool1d", layers::pool),
    ("avg_pool2d", layers::pool),
    ("adaptive_avg_pool1d", layers::adaptive_pool),
    ("adaptive_avg_pool2d", layers::adaptive_pool),
    ("adaptive_max_pool1d", layers::adaptive_pool),
    ("adaptive_max_pool2d", layers::adaptive_pool),
    // functions of single elements
    ("relu", functions::plain),
    ("sigmoid", functions::plain),
    ("tanh", functions::plain),
    ("softsign", functions::plain),
    ("hardswish", functions::plain),
    ("selu", functions::plain),
    ("identity", functions::plain),
    ("neg", functions::plain),
    ("abs", functions::plain),
    ("sqrt", functions::plain),
    ("reciprocal", functions::plain),
    ("exp", functions::plain),
    ("log", functions::plain),
    ("erf", functions::plain),
    ("sin", functions::plain),
    ("cos", functions::plain),
    ("floor", functions::plain),
    ("ceil", functions::plain),
    ("round", functions::plain),
    ("sign", functions::plain),
    ("not", functions::plain),
    ("and", functions::plain),
    ("or", functions::plain),
    ("where", functions::plain),
    ("matmul", functions::plain),
    ("bmm", functions::plain),
    ("rsqrt", functions::rsqrt),
    ("relu6", functions::clip),
    ("hardtanh", functions::clip),
    ("hardsigmoid", functions::hardsigmoid),
    ("elu", functions::elu),
    ("leaky_relu", functions::leaky_relu),
    ("gelu", functions::gelu),
    ("silu", functions::silu),
    ("softplus", functions::softplus),
    ("softmax", functions::softmax),
    ("log_softmax", functions::softmax),
    ("dropout", functions::dropout),
    // two values, or a value and a number
    ("add", functions::binary),
    ("sub", functions::binary),
    ("mul", functions::binary),
    ("div", functions::binary),
    ("max", functions::binary),
    ("min", functions::binary),
    ("pow", functions::binary),
    ("eq", functions::binary),
    ("ne", functions::binary),
    ("lt", functions::binary),
    ("le", functions::binary),
    ("gt", functions::binary),
    ("ge", functions::binary),
    // reductions
    ("mean", functions::reduce),
    ("sum", functions::reduce),
    ("amax", functions::reduce),
    ("amin", functions::reduce),
    ("prod", functions::reduce),
    ("argmax", functions::argmax),
    ("topk", recurrent::topk),
    // elements moved about
    ("flatten", moves::reshape),
    ("reshape", moves::reshape),
    ("view", moves::reshape),
    ("transpose", moves::transpose),
    ("permute", moves::permute),
    ("cat", moves::cat),
    ("chunk", moves::chunk),
    ("getitem", moves::getitem),
    ("expand", moves::expand),
    ("gather", moves::gather),
    ("pad", moves::pad),
    ("roll", moves::roll),
    ("upsample", moves::upsample),
    ("to", moves::to),
];

/// Writes a node.
pub fn write(site: &mut Site) -> Written {
    let name = site.node.op.name();
    let writer = WRITERS.iter().find(|writer| writer.0 == name);
    let (_, write) = writer.ok_or_else(|| Refusal::new("the operator is not written as ONNX"))?;
    write(site)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Op;

    /// A new operator needs a writer.
    #[test]
    fn every_operator_has_a_writer() {
        let edges = ["placeholder", "constant", "output"];
        for entry in Op::TABLE {
            let written = WRITERS
                .iter()
                .filter(|writer| writer.0 == entry.name)
                .count();
            let edge = usize::from(edges.contains(&entry.name));
            assert_eq!(written + edge, 1, "{}", entry.name);
        }
        for (name, _) in WRITERS {
            assert!(Op::TABLE.iter().any(|entry| entry.name == *name), "{name}");
        }
    }
}
