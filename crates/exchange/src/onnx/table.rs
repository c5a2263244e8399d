//! The table of operators that are read.

use super::QONNX_DOMAIN;
use super::call::{Call, Read};
use super::readers::{
    activation, arithmetic, attention, cast, channels_last, coded, conv, create, cut, logic, norm,
    pool, product, quantize, quantizers, recurrent, reduce, resize, shape, thresholds,
};
use crate::constant::{Array, Refusal};

/// The values of a node that depends on no input.
pub type Fold = fn(&Call) -> Result<Vec<Array>, Refusal>;

/// An operator that is read.
pub struct Entry {
    /// The set it belongs to; empty for ONNX's own.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The first version of its set that is read.
    pub since: i64,
    /// The reader.
    pub read: fn(&mut Call) -> Read,
    /// The evaluation when all inputs are known.
    pub fold: Option<Fold>,
}

const fn entry(
    name: &'static str,
    since: i64,
    read: fn(&mut Call) -> Read,
    fold: Option<Fold>,
) -> Entry {
    Entry {
        domain: "",
        name,
        since,
        read,
        fold,
    }
}

/// The sets that QONNX's operators were and are part of.
const QONNX_DOMAINS: [&str; 4] = [
    QONNX_DOMAIN,
    "onnx.brevitas",
    "finn.custom_op.general",
    "qonnx.custom_op.channels_last",
];

/// An operator of QONNX.
const fn custom(name: &'static str, read: fn(&mut Call) -> Read) -> Entry {
    Entry {
        domain: QONNX_DOMAIN,
        name,
        since: 1,
        read,
        fold: None,
    }
}

/// The line of an operator.
pub fn find(domain: &str, name: &str) -> Option<&'static Entry> {
    let domain = if QONNX_DOMAINS.contains(&domain) {
        QONNX_DOMAIN
    } else {
        domain
    };
    OPERATORS
        .iter()
        .find(|entry| entry.name == name && entry.domain == domain)
}

/// Every operator that is read: its name, the first version, the reader, the evaluation.
pub static OPERATORS: &[Entry] = &[
    // activations
    entry("Relu", 6, activation::plain, None),
    entry("Sigmoid", 6, activation::plain, Some(activation::fold)),
    entry("Tanh", 6, activation::plain, Some(activation::fold)),
    entry("Softsign", 1, activation::plain, None),
    entry("Softplus", 1, activation::softplus, None),
    entry("HardSwish", 14, activation::plain, None),
    entry("HardSigmoid", 6, activation::hard_sigmoid, None),
    entry("Elu", 6, activation::elu, None),
    entry("Celu", 12, activation::celu, None),
    entry("Selu", 6, activation::selu, None),
    entry("LeakyRelu", 6, activation::leaky_relu, None),
    entry("PRelu", 7, activation::prelu, None),
    entry("Gelu", 20, activation::gelu, None),
    entry("Mish", 18, activation::mish, None),
    entry("Swish", 24, activation::swish, None),
    entry("ThresholdedRelu", 10, activation::thresholded_relu, None),
    entry("Shrink", 9, activation::shrink, None),
    entry("Clip", 6, activation::clip, None),
    entry("Softmax", 1, activation::softmax, None),
    entry("LogSoftmax", 1, activation::softmax, None),
    entry("Hardmax", 13, activation::hardmax, None),
    entry("Dropout", 7, activation::dropout, None),
    entry("Identity", 1, activation::identity, Some(activation::same)),
    // functions of single elements
    entry("Neg", 6, activation::plain, Some(activation::fold)),
    entry("Abs", 6, activation::plain, Some(activation::fold)),
    entry("Sqrt", 6, activation::plain, Some(activation::fold)),
    entry("Reciprocal", 6, activation::plain, Some(activation::fold)),
    entry("Exp", 6, activation::plain, Some(activation::fold)),
    entry("Log", 6, activation::plain, Some(activation::fold)),
    entry("Erf", 9, activation::plain, None),
    entry("Sin", 7, activation::plain, Some(activation::fold)),
    entry("Cos", 7, activation::plain, Some(activation::fold)),
    entry("Floor", 6, activation::plain, Some(activation::fold)),
    entry("Ceil", 6, activation::plain, Some(activation::fold)),
    entry("Round", 11, activation::plain, Some(activation::fold)),
    entry("Sign", 9, activation::plain, Some(activation::fold)),
    entry("Tan", 7, activation::tan, None),
    entry("Sinh", 9, activation::sinh, None),
    entry("Cosh", 9, activation::cosh, None),
    // arithmetic with broadcasting
    entry("Add", 7, arithmetic::add, Some(arithmetic::fold)),
    entry("Sub", 7, arithmetic::binary, Some(arithmetic::fold)),
    entry("Mul", 7, arithmetic::binary, Some(arithmetic::fold)),
    entry("Div", 7, arithmetic::div, Some(arithmetic::fold)),
    entry("Pow", 7, arithmetic::pow, Some(arithmetic::fold)),
    entry("Mod", 10, arithmetic::modulo, Some(arithmetic::fold_modulo)),
    entry(
        "Max",
        8,
        arithmetic::variadic,
        Some(arithmetic::fold_variadic),
    ),
    entry(
        "Min",
        8,
        arithmetic::variadic,
        Some(arithmetic::fold_variadic),
    ),
    entry(
        "Sum",
        8,
        arithmetic::variadic,
        Some(arithmetic::fold_variadic),
    ),
    entry("Mean", 8, arithmetic::mean, None),
    // comparisons and logic
    entry("Equal", 7, logic::compare, Some(logic::fold)),
    entry("Less", 7, logic::compare, Some(logic::fold)),
    entry("LessOrEqual", 12, logic::compare, Some(logic::fold)),
    entry("Greater", 7, logic::compare, Some(logic::fold)),
    entry("GreaterOrEqual", 12, logic::compare, Some(logic::fold)),
    entry("And", 7, logic::compare, Some(logic::fold)),
    entry("Or", 7, logic::compare, Some(logic::fold)),
    entry("Xor", 7, logic::xor, Some(logic::fold)),
    entry("Not", 1, activation::plain, Some(activation::fold)),
    entry("Where", 9, logic::choose, Some(logic::fold_choose)),
    // products
    entry("MatMul", 1, product::matmul, Some(product::fold)),
    entry("Gemm", 7, product::gemm, None),
    entry("Conv", 1, conv::conv, None),
    entry("ConvTranspose", 1, conv::conv_transpose, None),
    entry("Attention", 23, attention::attention, None),
    // pools
    entry("MaxPool", 1, pool::max_pool, None),
    entry("AveragePool", 7, pool::average_pool, None),
    entry("GlobalAveragePool", 1, pool::global, None),
    entry("GlobalMaxPool", 1, pool::global, None),
    // normalisations
    entry("BatchNormalization", 7, norm::batch, None),
    entry("LayerNormalization", 17, norm::layer, None),
    entry("InstanceNormalization", 6, norm::instance, None),
    entry("GroupNormalization", 21, norm::group, None),
    entry("RMSNormalization", 23, norm::rms, None),
    entry("LpNormalization", 1, norm::lp, None),
    entry("LRN", 1, norm::local_response, None),
    entry("MeanVarianceNormalization", 13, norm::mean_variance, None),
    // reductions
    entry("ReduceMean", 1, reduce::reduce, Some(reduce::fold)),
    entry("ReduceSum", 1, reduce::reduce, Some(reduce::fold)),
    entry("ReduceMax", 1, reduce::reduce, Some(reduce::fold)),
    entry("ReduceMin", 1, reduce::reduce, Some(reduce::fold)),
    entry("ReduceProd", 1, reduce::reduce, Some(reduce::fold)),
    entry("ReduceL1", 1, reduce::reduce, None),
    entry("ReduceL2", 1, reduce::reduce, None),
    entry("ReduceSumSquare", 1, reduce::reduce, None),
    entry("ReduceLogSum", 1, reduce::reduce, None),
    entry("ReduceLogSumExp", 1, reduce::reduce, None),
    entry("ArgMax", 1, reduce::arg, None),
    entry("ArgMin", 1, reduce::arg, None),
    entry("TopK", 1, recurrent::topk, None),
    entry("LSTM", 7, recurrent::lstm, None),
    entry(
        "CumSum",
        11,
        reduce::cumulative_sum,
        Some(reduce::fold_cumulative_sum),
    ),
    // axes
    entry("Reshape", 1, shape::reshape, Some(shape::fold_reshape)),
    entry("Flatten", 1, shape::flatten, None),
    entry("Squeeze", 1, shape::squeeze, Some(shape::fold_squeeze)),
    entry(
        "Unsqueeze",
        1,
        shape::unsqueeze,
        Some(shape::fold_unsqueeze),
    ),
    entry("Transpose", 1, shape::transpose, None),
    entry("Expand", 8, shape::expand, Some(shape::fold_expand)),
    entry("DepthToSpace", 1, shape::depth_to_space, None),
    entry("SpaceToDepth", 1, shape::space_to_depth, None),
    // cutting and joining
    entry("Concat", 4, cut::concat, Some(cut::fold_concat)),
    entry("Split", 2, cut::split, Some(cut::fold_split)),
    entry("Slice", 1, cut::slice, Some(cut::fold_slice)),
    entry("Gather", 1, cut::gather, Some(cut::fold_gather)),
    entry("Tile", 6, cut::tile, Some(cut::fold_tile)),
    entry("Pad", 2, resize::pad, None),
    entry("Upsample", 7, resize::resize, None),
    entry("Resize", 10, resize::resize, None),
    // quantisers
    entry("QuantizeLinear", 10, quantize::quantize, None),
    entry("DequantizeLinear", 10, quantize::dequantize, None),
    entry("QLinearConv", 10, coded::conv, None),
    entry("QLinearMatMul", 10, coded::matmul, None),
    entry("ConvInteger", 10, coded::conv_integer, None),
    entry("MatMulInteger", 10, coded::matmul_integer, None),
    custom("Quant", quantizers::quant),
    custom("BipolarQuant", quantizers::bipolar),
    custom("FloatQuant", quantizers::float_quant),
    custom("Trunc", quantizers::trunc),
    custom("MultiThreshold", thresholds::multi_threshold),
    // the same set with channels on the last axis
    custom("Conv", channels_last::conv),
    custom("MaxPool", channels_last::max_pool),
    custom("MaxPoolNHWC", channels_last::max_pool),
    custom("BatchNormalization", channels_last::batch_norm),
    // values from nothing
    entry("Constant", 1, create::constant, None),
    entry("ConstantOfShape", 9, create::constant_of_shape, None),
    entry("Shape", 1, create::shape, None),
    entry("Size", 1, create::size, None),
    entry("Range", 11, create::range, Some(create::fold_range)),
    entry("Trilu", 14, create::trilu, Some(create::fold_trilu)),
    entry("EyeLike", 9, create::eye_like, None),
    entry("Cast", 6, cast::cast, Some(cast::fold)),
    entry("CastLike", 15, cast::cast_like, Some(cast::fold_like)),
];
