//! The table of operators.

use super::call::{Call, Read};
use super::readers::{create, layers, moves, norms, picks, pictures, pointwise, recurrent, reduce};

/// Reads a call.
pub type Reader = fn(&mut Call) -> Read;

/// Every operator that is read, without its overload and without the `_` of those that change their operand.
pub const OPERATORS: &[(&str, Reader)] = &[
    // layers
    ("aten.linear", layers::linear),
    ("aten.addmm", layers::addmm),
    ("aten.conv1d", layers::conv),
    ("aten.conv2d", layers::conv),
    ("aten.conv_transpose1d", layers::conv),
    ("aten.conv_transpose2d", layers::conv),
    ("aten.convolution", layers::conv),
    ("aten.batch_norm", norms::batch_norm),
    (
        "aten._native_batch_norm_legit_no_training",
        norms::batch_norm,
    ),
    ("aten.layer_norm", norms::layer_norm),
    ("aten.native_layer_norm", norms::layer_norm),
    ("aten.rms_norm", norms::layer_norm),
    ("aten.group_norm", norms::group_norm),
    ("aten.native_group_norm", norms::group_norm),
    ("aten.instance_norm", norms::instance_norm),
    ("aten.lstm", recurrent::lstm),
    ("aten.embedding", layers::embedding),
    ("aten.scaled_dot_product_attention", layers::attention),
    ("aten.max_pool1d", layers::pool),
    ("aten.max_pool2d", layers::pool),
    ("aten.max_pool2d_with_indices", layers::pool),
    ("aten.avg_pool1d", layers::pool),
    ("aten.avg_pool2d", layers::pool),
    ("aten.adaptive_avg_pool1d", layers::adaptive_pool),
    ("aten.adaptive_avg_pool2d", layers::adaptive_pool),
    ("aten._adaptive_avg_pool2d", layers::adaptive_pool),
    ("aten.adaptive_max_pool1d", layers::adaptive_pool),
    ("aten.adaptive_max_pool2d", layers::adaptive_pool),
    ("aten.upsample_nearest1d", pictures::upsample),
    ("aten.upsample_nearest2d", pictures::upsample),
    ("aten.upsample_bilinear2d", pictures::upsample),
    ("aten.pixel_shuffle", pictures::pixel_shuffle),
    ("aten.pixel_unshuffle", pictures::pixel_unshuffle),
    ("aten.channel_shuffle", pictures::channel_shuffle),
    ("aten.matmul", layers::matmul),
    ("aten.baddbmm", layers::baddbmm),
    ("aten.bmm", layers::matmul),
    ("aten.mm", layers::matmul),
    // functions of an element
    ("aten.relu", pointwise::function),
    ("aten.relu6", pointwise::function),
    ("aten.hardswish", pointwise::function),
    ("aten.hardsigmoid", pointwise::function),
    ("aten.sigmoid", pointwise::function),
    ("aten.tanh", pointwise::function),
    ("aten.silu", pointwise::function),
    ("aten.selu", pointwise::function),
    ("aten.softsign", pointwise::function),
    ("aten.neg", pointwise::function),
    ("aten.abs", pointwise::function),
    ("aten.sqrt", pointwise::function),
    ("aten.rsqrt", pointwise::function),
    ("aten.reciprocal", pointwise::function),
    ("aten.exp", pointwise::function),
    ("aten.log", pointwise::function),
    ("aten.erf", pointwise::function),
    ("aten.sin", pointwise::function),
    ("aten.cos", pointwise::function),
    ("aten.floor", pointwise::function),
    ("aten.ceil", pointwise::function),
    ("aten.round", pointwise::function),
    ("aten.sign", pointwise::function),
    ("aten.logical_not", pointwise::function),
    ("aten.bitwise_not", pointwise::function),
    ("aten.gelu", pointwise::gelu),
    ("aten.leaky_relu", pointwise::leaky_relu),
    ("aten.elu", pointwise::elu),
    ("aten.clamp", pointwise::clamp),
    ("aten.hardtanh", pointwise::hardtanh),
    ("aten.softplus", pointwise::softplus),
    ("aten.clamp_min", pointwise::clamp),
    ("aten.clamp_max", pointwise::clamp),
    ("aten.celu", pointwise::celu),
    ("aten.glu", pointwise::glu),
    ("aten.log_sigmoid", pointwise::log_sigmoid),
    ("aten.mish", pointwise::mish),
    ("aten.rrelu", pointwise::rrelu),
    ("aten.threshold", pointwise::threshold),
    ("aten.hardshrink", pointwise::hardshrink),
    ("aten.softshrink", pointwise::softshrink),
    ("aten.prelu", layers::prelu),
    ("aten.square", pointwise::square),
    // functions of two elements
    ("aten.add", pointwise::pair),
    ("aten.sub", pointwise::pair),
    ("aten.rsub", pointwise::rsub),
    ("aten.addcmul", pointwise::addcmul),
    ("aten.mul", pointwise::pair),
    ("aten.div", pointwise::pair),
    ("aten.pow", pointwise::pair),
    ("aten.maximum", pointwise::pair),
    ("aten.minimum", pointwise::pair),
    ("aten.eq", pointwise::pair),
    ("aten.ne", pointwise::pair),
    ("aten.lt", pointwise::pair),
    ("aten.le", pointwise::pair),
    ("aten.gt", pointwise::pair),
    ("aten.ge", pointwise::pair),
    ("aten.__and__", pointwise::pair),
    ("aten.logical_and", pointwise::pair),
    ("aten.bitwise_and", pointwise::pair),
    ("aten.__or__", pointwise::pair),
    ("aten.logical_or", pointwise::pair),
    ("aten.bitwise_or", pointwise::pair),
    ("aten.where", pointwise::choose),
    ("aten.masked_fill", pointwise::masked_fill),
    ("aten.to", pointwise::cast),
    ("aten._to_copy", pointwise::cast),
    ("aten.fill", pointwise::fill),
    // the value itself
    ("aten.dropout", pointwise::dropout),
    ("aten.feature_dropout", pointwise::same),
    ("aten.contiguous", pointwise::same),
    ("aten.clone", pointwise::same),
    ("aten.alias", pointwise::same),
    ("aten.detach", pointwise::same),
    ("aten.lift_fresh_copy", pointwise::same),
    // assertions
    ("aten._assert_tensor_metadata", pointwise::nothing),
    ("aten._assert_scalar", pointwise::nothing),
    ("aten._assert_async", pointwise::nothing),
    ("aten.sym_constrain_range", pointwise::nothing),
    ("aten.sym_constrain_range_for_size", pointwise::nothing),
    // reductions
    ("aten.mean", reduce::reduce),
    ("aten.sum", reduce::reduce),
    ("aten.amax", reduce::reduce),
    ("aten.amin", reduce::reduce),
    ("aten.prod", reduce::reduce),
    ("aten.max", reduce::extreme),
    ("aten.min", reduce::extreme),
    ("aten.argmax", reduce::argmax),
    ("aten.argmin", reduce::argmax),
    ("aten.any", reduce::truth),
    ("aten.all", reduce::truth),
    ("aten.topk", reduce::topk),
    ("aten.var", reduce::variance),
    ("aten.std", reduce::variance),
    ("aten.norm", reduce::norm),
    ("aten.linalg_norm", reduce::norm),
    ("aten.linalg_vector_norm", reduce::norm),
    ("aten.logsumexp", reduce::log_sum_exp),
    ("aten.softmax", reduce::softmax),
    ("aten._softmax", reduce::softmax),
    ("aten.log_softmax", reduce::softmax),
    ("aten._log_softmax", reduce::softmax),
    ("aten.cumsum", reduce::cumsum),
    ("aten.diff", reduce::diff),
    // elements moved about
    ("aten.view", moves::view),
    ("aten.reshape", moves::view),
    ("aten._unsafe_view", moves::view),
    ("aten.flatten", moves::flatten),
    ("aten.unflatten", moves::unflatten),
    ("aten.unsqueeze", moves::unsqueeze),
    ("aten.squeeze", moves::squeeze),
    ("aten.permute", moves::permute),
    ("aten.transpose", moves::permute),
    ("aten.t", moves::permute),
    ("aten.swapdims", moves::permute),
    ("aten.swapaxes", moves::permute),
    ("aten.movedim", moves::permute),
    ("aten.mT", moves::permute),
    ("aten.adjoint", moves::permute),
    ("aten.expand", moves::expand),
    ("aten.expand_as", moves::like),
    ("aten.view_as", moves::like),
    ("aten.reshape_as", moves::like),
    ("aten.repeat", moves::repeat),
    ("aten.tile", moves::repeat),
    ("aten.flip", moves::flip),
    ("aten.cat", moves::cat),
    ("aten.stack", moves::stack),
    ("aten.pad", moves::pad),
    ("aten.constant_pad_nd", moves::pad),
    ("aten.roll", moves::roll),
    ("aten.select", picks::select),
    ("aten.index_select", picks::index_select),
    ("aten.narrow", picks::narrow),
    ("aten.slice", picks::slice),
    ("aten.split", picks::split),
    ("aten.split_with_sizes", picks::split),
    ("aten.chunk", picks::split),
    ("aten.unbind", picks::unbind),
    ("aten.index", picks::index),
    ("aten.gather", picks::gather),
    // sizes, and tensors from nothing
    ("aten.sym_size", create::sym_size),
    ("_operator.add", create::size_arithmetic),
    ("_operator.sub", create::size_arithmetic),
    ("_operator.mul", create::size_arithmetic),
    ("_operator.floordiv", create::size_arithmetic),
    ("aten.arange", create::arange),
    ("aten.zeros", create::full),
    ("aten.ones", create::full),
    ("aten.full", create::full),
    ("aten.new_zeros", create::full),
    ("aten.new_ones", create::full),
    ("aten.new_full", create::full),
    ("aten.full_like", create::full),
    ("aten.scalar_tensor", create::scalar_tensor),
    ("aten.zeros_like", create::full),
    ("aten.ones_like", create::full),
    ("aten.tril", create::triangle),
    ("aten.triu", create::triangle),
];

/// The name of an operator in the table: without the overload, and without the `_` that marks a change in place.
pub fn plain_name(target: &str) -> &str {
    let mut dots = target.match_indices('.');
    let end = match (dots.next(), dots.next()) {
        (Some(_), Some((second, _))) => second,
        _ => target.len(),
    };
    let name = &target[..end];
    if name.ends_with("__") {
        name
    } else {
        name.trim_end_matches('_')
    }
}

/// True for an operator that changes its operand.
pub fn is_in_place(target: &str) -> bool {
    let name = target.split('.').nth(1).unwrap_or_default();
    name.ends_with('_') && !name.ends_with("__")
}

/// The reader of an operator with its overload.
pub fn find(target: &str) -> Option<Reader> {
    let name = plain_name(target);
    let row = OPERATORS.iter().find(|row| row.0 == name)?;
    Some(row.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aten::readers::pointwise::{FUNCTIONS, PAIRS};
    use std::collections::BTreeSet;

    #[test]
    fn every_operator_stands_in_the_table_once() {
        let names: BTreeSet<&str> = OPERATORS.iter().map(|row| row.0).collect();
        assert_eq!(names.len(), OPERATORS.len());
        for (name, _) in OPERATORS {
            assert_eq!(plain_name(name), *name);
            assert!(find(&format!("{name}.default")).is_some(), "{name}");
        }
    }

    #[test]
    fn every_counterpart_is_an_operator_and_is_in_the_table() {
        let functions = FUNCTIONS.iter().map(|row| (row.0, row.1));
        for (name, op) in functions.chain(PAIRS.iter().map(|row| (row.0, row.1))) {
            assert!(find(&format!("aten.{name}.default")).is_some(), "{name}");
            let known = ir::Op::TABLE.iter().any(|entry| entry.name == op);
            assert!(known, "{op}");
        }
    }

    #[test]
    fn overloads_and_changes_in_place_are_the_same_operator() {
        for (target, name, changes) in [
            ("aten.add.Tensor", "aten.add", false),
            ("aten.add_.Tensor", "aten.add", true),
            ("aten.__and__.Tensor", "aten.__and__", false),
            ("_operator.mul", "_operator.mul", false),
            ("aten._softmax.default", "aten._softmax", false),
        ] {
            assert_eq!(plain_name(target), name);
            assert_eq!(is_in_place(target), changes, "{target}");
        }
    }
}
