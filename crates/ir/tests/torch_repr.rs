//! Layers as PyTorch prints them.

use ir::{Graph, Op, torch_class, torch_repr};

/// Calls, and what `print` of PyTorch's module says.
const LAYERS: &[(&str, &str)] = &[
    (
        "linear(a) { in_features = 16, out_features = 5 }",
        "Linear(in_features=16, out_features=5, bias=True)",
    ),
    (
        "linear(a) { in_features = 16, out_features = 5, bias = false }",
        "Linear(in_features=16, out_features=5, bias=False)",
    ),
    (
        "conv1d(a) { in_channels = 4, out_channels = 6, kernel_size = 4, stride = 2, padding = 1 }",
        "Conv1d(4, 6, kernel_size=(4,), stride=(2,), padding=(1,))",
    ),
    (
        "conv2d(a) { in_channels = 4, out_channels = 6, kernel_size = [3, 2], padding = [2, 0], dilation = 2, groups = 2 }",
        "Conv2d(4, 6, kernel_size=(3, 2), stride=(1, 1), padding=(2, 0), dilation=(2, 2), groups=2)",
    ),
    (
        "conv2d(a) { in_channels = 4, out_channels = 6, kernel_size = 1, bias = false }",
        "Conv2d(4, 6, kernel_size=(1, 1), stride=(1, 1), bias=False)",
    ),
    (
        "batch_norm1d(a) { num_features = 16 }",
        "BatchNorm1d(16, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
    ),
    (
        "batch_norm1d(a) { num_features = 4, eps = 0.001 }",
        "BatchNorm1d(4, eps=0.001, momentum=0.1, affine=True, track_running_stats=True)",
    ),
    (
        "batch_norm2d(a) { num_features = 4, momentum = 0.2 }",
        "BatchNorm2d(4, eps=1e-05, momentum=0.2, affine=True, track_running_stats=True)",
    ),
    (
        "layer_norm(a) { normalized_shape = [4, 10] }",
        "LayerNorm((4, 10), eps=1e-05, elementwise_affine=True)",
    ),
    (
        "layer_norm(a) { normalized_shape = [16], elementwise_affine = false }",
        "LayerNorm((16,), eps=1e-05, elementwise_affine=False)",
    ),
    (
        "embedding(a) { num_embeddings = 10, embedding_dim = 4 }",
        "Embedding(10, 4)",
    ),
    ("relu(a) { inplace = true }", "ReLU(inplace=True)"),
    ("relu(a)", "ReLU()"),
    ("relu6(a)", "ReLU6()"),
    (
        "hardtanh(a) { min_val = -0.5 }",
        "Hardtanh(min_val=-0.5, max_val=1.0)",
    ),
    ("hardswish(a)", "Hardswish()"),
    ("hardsigmoid(a)", "Hardsigmoid()"),
    ("sigmoid(a)", "Sigmoid()"),
    ("tanh(a)", "Tanh()"),
    (
        "gelu(a) { approximate = \"tanh\" }",
        "GELU(approximate='tanh')",
    ),
    ("gelu(a)", "GELU(approximate='none')"),
    ("silu(a)", "SiLU()"),
    ("elu(a) { alpha = 0.3 }", "ELU(alpha=0.3)"),
    ("selu(a)", "SELU()"),
    (
        "softplus(a) { beta = 2 }",
        "Softplus(beta=2.0, threshold=20.0)",
    ),
    ("softsign(a)", "Softsign()"),
    ("softmax(a) { dim = -1 }", "Softmax(dim=-1)"),
    ("softmax(a) { dim = 0 }", "Softmax(dim=0)"),
    ("log_softmax(a) { dim = 1 }", "LogSoftmax(dim=1)"),
    ("dropout(a) { p = 0.1 }", "Dropout(p=0.1, inplace=False)"),
    ("identity(a)", "Identity()"),
    (
        "max_pool1d(a) { kernel_size = 3, stride = 1, dilation = 2 }",
        "MaxPool1d(kernel_size=3, stride=1, padding=0, dilation=2, ceil_mode=False)",
    ),
    (
        "max_pool2d(a) { kernel_size = 3, stride = 2, padding = 1 }",
        "MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)",
    ),
    (
        "avg_pool1d(a) { kernel_size = 2 }",
        "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))",
    ),
    (
        "avg_pool2d(a) { kernel_size = [3, 2], padding = 1, count_include_pad = false }",
        "AvgPool2d(kernel_size=(3, 2), stride=(3, 2), padding=1)",
    ),
    (
        "adaptive_avg_pool1d(a) { output_size = 3 }",
        "AdaptiveAvgPool1d(output_size=3)",
    ),
    (
        "adaptive_avg_pool2d(a) { output_size = [3, 2] }",
        "AdaptiveAvgPool2d(output_size=(3, 2))",
    ),
    (
        "adaptive_max_pool1d(a) { output_size = 20 }",
        "AdaptiveMaxPool1d(output_size=20)",
    ),
    (
        "adaptive_max_pool2d(a) { output_size = 1 }",
        "AdaptiveMaxPool2d(output_size=(1, 1))",
    ),
    (
        "leaky_relu(a) { negative_slope = 0.2 }",
        "LeakyReLU(negative_slope=0.2)",
    ),
    ("prelu(a)", "PReLU(num_parameters=1)"),
    (
        "conv_transpose1d(a) { in_channels = 4, out_channels = 6, kernel_size = 3, stride = 2, output_padding = 1, bias = false }",
        "ConvTranspose1d(4, 6, kernel_size=(3,), stride=(2,), output_padding=(1,), bias=False)",
    ),
    (
        "conv_transpose2d(a) { in_channels = 4, out_channels = 6, kernel_size = 3, padding = 1, dilation = 2, groups = 2 }",
        "ConvTranspose2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), groups=2)",
    ),
    (
        "rms_norm(a) { normalized_shape = [4] }",
        "RMSNorm((4,), eps=1e-05, elementwise_affine=True)",
    ),
    (
        "group_norm(a) { num_groups = 2, num_channels = 4 }",
        "GroupNorm(2, 4, eps=1e-05, affine=True)",
    ),
    ("flatten(a)", "Flatten(start_dim=1, end_dim=-1)"),
    (
        "flatten(a) { start_dim = 0, end_dim = 1 }",
        "Flatten(start_dim=0, end_dim=1)",
    ),
];

/// The operator of a call, whatever its input.
fn op(call: &str) -> Op {
    let text = format!("graph \"g\" {{ a: f32[N, 4] = placeholder\n y = {call} return y }}");
    let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
    graph.nodes()[1].op.clone()
}

#[test]
fn layers_are_printed_as_pytorch_prints_them() {
    for (call, repr) in LAYERS {
        assert_eq!(torch_repr(&op(call)), *repr);
        assert_eq!(torch_class(&op(call)), repr.split('(').next());
    }
}

/// Operators that are functions, which have no class.
const FUNCTIONS: &[&str] = &[
    "constant { shape = [2] }",
    "argmax(a)",
    "topk(a) { k = 2 }",
    "lstm(a) { input_size = 4, hidden_size = 2 }",
    "thresholds(a) { steps = 3 }",
    "opaque(a) { operator = \"Own\", version = 1, results = [\"f32[N, 4]\"] }",
    "add(a, a)",
    "sub(a, a)",
    "mul(a, a)",
    "div(a, a)",
    "matmul(a, a)",
    "bmm(a, a)",
    "mean(a)",
    "scaled_dot_product_attention(a, a, a)",
    "reshape(a) { shape = [N, 4] }",
    "view(a) { shape = [N, 4] }",
    "transpose(a) { dim0 = 0, dim1 = 1 }",
    "permute(a) { dims = [0, 1] }",
    "cat(a, a)",
    "chunk(a) { chunks = 2, dim = 1 }",
    "getitem(a) { index = \":\" }",
    "max(a, a)",
    "min(a, a)",
    "pow(a, a)",
    "neg(a)",
    "abs(a)",
    "sqrt(a)",
    "rsqrt(a)",
    "reciprocal(a)",
    "exp(a)",
    "log(a)",
    "erf(a)",
    "sin(a)",
    "cos(a)",
    "floor(a)",
    "ceil(a)",
    "round(a)",
    "sign(a)",
    "eq(a, a)",
    "ne(a, a)",
    "lt(a, a)",
    "le(a, a)",
    "gt(a, a)",
    "ge(a, a)",
    "and(a, a)",
    "or(a, a)",
    "not(a)",
    "where(a, a, a)",
    "sum(a)",
    "amax(a)",
    "amin(a)",
    "prod(a)",
    "pad(a) { pad = [1, 1] }",
    "roll(a) { shifts = [1], dims = [1] }",
    "instance_norm(a) { num_features = 4 }",
    "upsample(a) { output_size = 4 }",
    "expand(a) { shape = [N, 4] }",
    "gather(a, a)",
    "to(a) { dtype = \"f32\" }",
    "hardsigmoid(a) { alpha = 0.2 }",
];

#[test]
fn functions_are_shown_by_their_names() {
    for call in FUNCTIONS {
        assert_eq!(torch_class(&op(call)), None, "{call}");
        assert_eq!(torch_repr(&op(call)), op(call).name());
    }
}

#[test]
fn every_operator_is_a_layer_or_a_function() {
    let layers = LAYERS.iter().map(|(call, _)| *call);
    let calls = layers.chain(FUNCTIONS.iter().copied());
    let known: Vec<&str> = calls.map(|call| op(call).name()).collect();
    for entry in Op::TABLE {
        let is_edge = ["placeholder", "output"].contains(&entry.name);
        assert!(is_edge || known.contains(&entry.name), "{}", entry.name);
    }
}

/// As Python's `repr` has them.
#[test]
fn floats_are_those_of_python() {
    for (number, repr) in [
        ("0", "0.0"),
        ("1", "1.0"),
        ("-0.5", "-0.5"),
        ("0.0001", "0.0001"),
        ("0.00009", "9e-05"),
        ("-0.00001", "-1e-05"),
        ("2.5e-7", "2.5e-07"),
        ("1e-12", "1e-12"),
        ("1e-123", "1e-123"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("1.25e100", "1.25e+100"),
    ] {
        let elu = op(&format!("elu(a) {{ alpha = {number} }}"));
        assert_eq!(torch_repr(&elu), format!("ELU(alpha={repr})"));
    }
}
