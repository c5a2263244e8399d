//! How PyTorch prints a layer, and the type names that tables of quantised layers show.

use crate::ops::activation::GeluForm;
use crate::{FxOp, Node, Op};
use format::Format;

/// The PyTorch class of an operator, `BatchNorm1d`; `None` for operators that are only functions.
pub fn torch_class(op: &Op) -> Option<&'static str> {
    let class = match op {
        Op::Linear(_) => "Linear",
        Op::Conv1d(_) => "Conv1d",
        Op::Conv2d(_) => "Conv2d",
        Op::BatchNorm1d(_) => "BatchNorm1d",
        Op::BatchNorm2d(_) => "BatchNorm2d",
        Op::LayerNorm(_) => "LayerNorm",
        Op::Embedding(_) => "Embedding",
        Op::Relu(_) => "ReLU",
        Op::Relu6(_) => "ReLU6",
        Op::Hardtanh(_) => "Hardtanh",
        Op::Hardswish(_) => "Hardswish",
        Op::Hardsigmoid(_) => "Hardsigmoid",
        Op::Sigmoid(_) => "Sigmoid",
        Op::Tanh(_) => "Tanh",
        Op::Gelu(_) => "GELU",
        Op::Silu(_) => "SiLU",
        Op::Elu(_) => "ELU",
        Op::Selu(_) => "SELU",
        Op::Softplus(_) => "Softplus",
        Op::Softsign(_) => "Softsign",
        Op::Softmax(_) => "Softmax",
        Op::LogSoftmax(_) => "LogSoftmax",
        Op::Dropout(_) => "Dropout",
        Op::Identity(_) => "Identity",
        Op::MaxPool1d(_) => "MaxPool1d",
        Op::MaxPool2d(_) => "MaxPool2d",
        Op::AvgPool1d(_) => "AvgPool1d",
        Op::AvgPool2d(_) => "AvgPool2d",
        Op::AdaptiveAvgPool1d(_) => "AdaptiveAvgPool1d",
        Op::AdaptiveAvgPool2d(_) => "AdaptiveAvgPool2d",
        Op::AdaptiveMaxPool1d(_) => "AdaptiveMaxPool1d",
        Op::AdaptiveMaxPool2d(_) => "AdaptiveMaxPool2d",
        Op::Flatten(_) => "Flatten",
        _ => return None,
    };
    Some(class)
}

/// The layer as PyTorch prints it, `Linear(in_features=16, out_features=5, bias=True)`; an operator that is only a
/// function is shown by its name.
pub fn torch_repr(op: &Op) -> String {
    match torch_class(op) {
        Some(class) => format!("{class}({})", arguments(op)),
        None => op.name().to_owned(),
    }
}

fn arguments(op: &Op) -> String {
    match op {
        Op::Linear(op) => {
            let bias = python_bool(op.bias);
            format!(
                "in_features={}, out_features={}, bias={bias}",
                op.in_features, op.out_features
            )
        }
        Op::Conv1d(op) => conv(op),
        Op::Conv2d(op) => conv(op),
        Op::BatchNorm1d(op) => batch_norm(op.num_features, op.eps, op.momentum),
        Op::BatchNorm2d(op) => batch_norm(op.num_features, op.eps, op.momentum),
        Op::LayerNorm(op) => {
            let (shape, eps) = (tuple(&op.normalized_shape), python_float(op.eps));
            format!(
                "{shape}, eps={eps}, elementwise_affine={}",
                python_bool(op.elementwise_affine)
            )
        }
        Op::Embedding(op) => format!("{}, {}", op.num_embeddings, op.embedding_dim),
        Op::Flatten(op) => format!("start_dim={}, end_dim={}", op.start_dim, op.end_dim),
        Op::MaxPool1d(op) => max_pool(op),
        Op::MaxPool2d(op) => max_pool(op),
        Op::AvgPool1d(op) => {
            avg_pool([&op.kernel_size, &op.stride, &op.padding].map(|sizes| tuple(sizes)))
        }
        Op::AvgPool2d(op) => {
            avg_pool([&op.kernel_size, &op.stride, &op.padding].map(|sizes| size(sizes)))
        }
        Op::AdaptiveAvgPool1d(op) => format!("output_size={}", op.output_size[0]),
        Op::AdaptiveMaxPool1d(op) => format!("output_size={}", op.output_size[0]),
        Op::AdaptiveAvgPool2d(op) => format!("output_size={}", tuple(&op.output_size)),
        Op::AdaptiveMaxPool2d(op) => format!("output_size={}", tuple(&op.output_size)),
        op => activation(op),
    }
}

fn activation(op: &Op) -> String {
    match op {
        Op::Relu(op) if op.inplace => "inplace=True".to_owned(),
        Op::Hardtanh(op) => format!(
            "min_val={}, max_val={}",
            python_float(op.min_val),
            python_float(op.max_val)
        ),
        Op::Gelu(op) => {
            let form = if op.approximate == GeluForm::Tanh {
                "tanh"
            } else {
                "none"
            };
            format!("approximate='{form}'")
        }
        Op::Elu(op) => format!("alpha={}", python_float(op.alpha)),
        Op::Softplus(op) => format!(
            "beta={}, threshold={}",
            python_float(op.beta),
            python_float(op.threshold)
        ),
        Op::Softmax(op) => format!("dim={}", op.dim),
        Op::LogSoftmax(op) => format!("dim={}", op.dim),
        Op::Dropout(op) => format!("p={}, inplace=False", python_float(op.p)),
        _ => String::new(),
    }
}

fn conv<const K: usize>(op: &crate::ops::conv::Conv<K>) -> String {
    let parts = [
        Some(format!("{}, {}", op.in_channels, op.out_channels)),
        Some(format!("kernel_size={}", tuple(&op.kernel_size))),
        Some(format!("stride={}", tuple(&op.stride))),
        (op.padding != [0; K]).then(|| format!("padding={}", tuple(&op.padding))),
        (op.dilation != [1; K]).then(|| format!("dilation={}", tuple(&op.dilation))),
        (op.groups != 1).then(|| format!("groups={}", op.groups)),
        (!op.bias).then(|| "bias=False".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn batch_norm(num_features: usize, eps: f64, momentum: f64) -> String {
    let (eps, momentum) = (python_float(eps), python_float(momentum));
    format!("{num_features}, eps={eps}, momentum={momentum}, affine=True, track_running_stats=True")
}

fn max_pool<const K: usize>(op: &crate::ops::pool::MaxPool<K>) -> String {
    let (kernel, stride) = (size(&op.kernel_size), size(&op.stride));
    let (padding, dilation) = (size(&op.padding), size(&op.dilation));
    format!(
        "kernel_size={kernel}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode=False"
    )
}

fn avg_pool([kernel, stride, padding]: [String; 3]) -> String {
    format!("kernel_size={kernel}, stride={stride}, padding={padding}")
}

impl Node {
    /// What kind of thing the node is to users: the class of a layer, `Linear`; the name of a function, `add`; the
    /// node's own name at the edges of the graph.
    pub fn type_name(&self) -> String {
        match self.fx_op() {
            FxOp::CallModule => torch_class(&self.op).unwrap_or(self.op.name()).to_owned(),
            FxOp::CallFunction | FxOp::CallMethod => self.op.name().to_owned(),
            FxOp::Placeholder | FxOp::GetAttr | FxOp::Output => self.name.clone(),
        }
    }

    /// The type name with the name of the format its operands have: `LinearInteger`, `add_integer`. Without formats
    /// it is the plain type name.
    pub fn quantized_type_name(&self) -> String {
        let named = ["data_in_0", "weight"]
            .iter()
            .find_map(|port| self.formats.get(*port));
        let Some(format) = named.or_else(|| self.formats.values().next()) else {
            return self.type_name();
        };
        match self.fx_op() {
            FxOp::CallModule => self.type_name() + &camel_case(format),
            FxOp::CallFunction | FxOp::CallMethod => {
                format!("{}_{}", self.type_name(), format.name())
            }
            FxOp::Placeholder | FxOp::GetAttr | FxOp::Output => self.type_name(),
        }
    }
}

/// `BlockFP` for `block_fp`, as the labs write the names of quantised layers.
fn camel_case(format: &Format) -> String {
    let words = format.name().split('_').map(|word| match word {
        "fp" => "FP".to_owned(),
        "ieee" => "IEEE".to_owned(),
        "mxint" => "MXInt".to_owned(),
        "mxfp" => "MXFP".to_owned(),
        word => word[..1].to_uppercase() + &word[1..],
    });
    words.collect()
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// A float as Python prints it: shortest digits, an exponent of at least two digits below 1e-4 and from 1e16 on.
fn python_float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) && value.is_finite() {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent
            .strip_prefix('-')
            .map_or(('+', exponent), |e| ('-', e));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{value:?}")
}

fn tuple(sizes: &[usize]) -> String {
    match sizes {
        [size] => format!("({size},)"),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

/// One number when all axes have the same, as pools are usually written.
fn size(sizes: &[usize]) -> String {
    match sizes {
        [first, rest @ ..] if rest.iter().all(|size| size == first) => first.to_string(),
        sizes => tuple(sizes),
    }
}
