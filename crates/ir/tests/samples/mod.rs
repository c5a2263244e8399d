//! At least one use of every operator: the types of its inputs, the call, and the types of its results.

use ir::{Graph, Op};

/// One use of an operator.
pub struct Sample {
    /// The types of the inputs, which are called a, b, c.
    pub inputs: &'static [&'static str],
    /// What the node y is.
    pub call: &'static str,
    /// The types of its results.
    pub results: &'static [&'static str],
}

impl Sample {
    /// A graph of the inputs, the node y and a return.
    pub fn graph(&self) -> Graph {
        let inputs = ["a", "b", "c"].iter().zip(self.inputs);
        let inputs: Vec<String> = inputs
            .map(|(name, ty)| format!("{name}: {ty} = placeholder"))
            .collect();
        let text = format!(
            "graph \"sample\" {{ {} y = {} return y }}",
            inputs.join(" "),
            self.call
        );
        Graph::parse(&text).unwrap_or_else(|errors| panic!("{}:\n{errors}", self.call))
    }

    /// The operator itself.
    pub fn op(&self) -> Op {
        let graph = self.graph();
        let y = graph.find("y").expect("every sample has a node y");
        graph.node(y).op.clone()
    }
}

const fn sample(
    inputs: &'static [&'static str],
    call: &'static str,
    results: &'static [&'static str],
) -> Sample {
    Sample {
        inputs,
        call,
        results,
    }
}

const ROWS: &[&str] = &["f32[N, 16]"];
const LINES: &[&str] = &["f32[N, 4, 10]"];
const IMAGES: &[&str] = &["f32[N, 4, 9, 8]"];

/// The table.
pub const SAMPLES: &[Sample] = &[
    // the edges of the graph
    sample(
        ROWS,
        "constant { shape = [2, 3], init_std = 0.1 }",
        &["f32[2, 3]"],
    ),
    sample(ROWS, "constant { shape = [] }", &["f32[]"]),
    sample(
        ROWS,
        "constant { shape = [3], trained = false }",
        &["f32[3]"],
    ),
    sample(
        ROWS,
        "constant { shape = [3], dtype = \"i64\" }",
        &["i64[3]"],
    ),
    // layers with weights
    sample(
        ROWS,
        "linear(a) { in_features = 16, out_features = 5 }",
        &["f32[N, 5]"],
    ),
    sample(
        &["f32[N, 3, 16]"],
        "linear(a) { in_features = 16, out_features = 5, bias = false }",
        &["f32[N, 3, 5]"],
    ),
    sample(
        LINES,
        "conv1d(a) { in_channels = 4, out_channels = 6, kernel_size = 4, stride = 2, padding = 1 }",
        &["f32[N, 6, 5]"],
    ),
    sample(
        IMAGES,
        "conv2d(a) { in_channels = 4, out_channels = 6, kernel_size = [3, 2], padding = [2, 0], dilation = 2, groups = 2 }",
        &["f32[N, 6, 9, 6]"],
    ),
    sample(
        ROWS,
        "batch_norm1d(a) { num_features = 16 }",
        &["f32[N, 16]"],
    ),
    sample(
        LINES,
        "batch_norm1d(a) { num_features = 4, eps = 0.001 }",
        &["f32[N, 4, 10]"],
    ),
    sample(
        IMAGES,
        "batch_norm2d(a) { num_features = 4, momentum = 0.2 }",
        &["f32[N, 4, 9, 8]"],
    ),
    sample(
        LINES,
        "layer_norm(a) { normalized_shape = [4, 10] }",
        &["f32[N, 4, 10]"],
    ),
    sample(
        ROWS,
        "layer_norm(a) { normalized_shape = [16], elementwise_affine = false }",
        &["f32[N, 16]"],
    ),
    sample(
        LINES,
        "conv_transpose1d(a) { in_channels = 4, out_channels = 6, kernel_size = 3, stride = 2, output_padding = 1, bias = false }",
        &["f32[N, 6, 22]"],
    ),
    sample(
        &["f32[N, 4, 3, 2]"],
        "conv_transpose2d(a) { in_channels = 4, out_channels = 2, kernel_size = [3, 2], stride = [1, 2], padding = [1, 0], dilation = [1, 2], groups = 2 }",
        &["f32[N, 2, 3, 5]"],
    ),
    sample(ROWS, "rms_norm(a) { normalized_shape = [16] }", ROWS),
    sample(
        LINES,
        "rms_norm(a) { normalized_shape = [4, 10], elementwise_affine = false }",
        LINES,
    ),
    sample(
        LINES,
        "group_norm(a) { num_groups = 2, num_channels = 4 }",
        LINES,
    ),
    sample(
        LINES,
        "instance_norm(a) { num_features = 4, affine = true }",
        LINES,
    ),
    sample(
        &["f32[N, 2, 3, 4]"],
        "upsample(a) { output_size = [6, 7] }",
        &["f32[N, 2, 6, 7]"],
    ),
    sample(
        &["f32[N, 2, 3, 4]"],
        "upsample(a) { output_size = [5, 6], mode = \"bilinear\" }",
        &["f32[N, 2, 5, 6]"],
    ),
    sample(
        &["i64[N, 7]"],
        "embedding(a) { num_embeddings = 10, embedding_dim = 4 }",
        &["f32[N, 7, 4]"],
    ),
    sample(
        LINES,
        "lstm(a) { input_size = 10, hidden_size = 3 }",
        &["f32[N, 4, 3]", "f32[N, 3]", "f32[N, 3]"],
    ),
    sample(
        &["f32[N, 2, 5]", "f32[N, 3]", "f32[N, 3]"],
        "lstm(a, b, c) { input_size = 5, hidden_size = 3, bias = false, reverse = true }",
        &["f32[N, 2, 3]", "f32[N, 3]", "f32[N, 3]"],
    ),
    sample(ROWS, "topk(a) { k = 3 }", &["f32[N, 3]", "i64[N, 3]"]),
    sample(
        LINES,
        "topk(a) { k = 2, dim = 1, largest = false }",
        &["f32[N, 2, 10]", "i64[N, 2, 10]"],
    ),
    sample(ROWS, "argmax(a)", &["i64[N]"]),
    sample(LINES, "argmax(a)", &["i64[N, 4]"]),
    // activations
    sample(ROWS, "relu(a) { inplace = true }", ROWS),
    sample(ROWS, "relu6(a)", ROWS),
    sample(ROWS, "hardtanh(a) { min_val = -0.5 }", ROWS),
    sample(ROWS, "hardswish(a)", ROWS),
    sample(ROWS, "hardsigmoid(a)", ROWS),
    sample(ROWS, "hardsigmoid(a) { alpha = 0.25, beta = 0.375 }", ROWS),
    sample(ROWS, "sigmoid(a)", ROWS),
    sample(ROWS, "tanh(a)", ROWS),
    sample(ROWS, "gelu(a) { approximate = \"tanh\" }", ROWS),
    sample(ROWS, "silu(a)", ROWS),
    sample(ROWS, "elu(a) { alpha = 0.3 }", ROWS),
    sample(ROWS, "selu(a)", ROWS),
    sample(ROWS, "softplus(a) { beta = 2 }", ROWS),
    sample(ROWS, "softsign(a)", ROWS),
    sample(ROWS, "leaky_relu(a) { negative_slope = 0.2 }", ROWS),
    sample(ROWS, "prelu(a)", ROWS),
    sample(LINES, "prelu(a) { num_parameters = 4 }", LINES),
    sample(ROWS, "thresholds(a) { steps = 3 }", ROWS),
    sample(
        LINES,
        "thresholds(a) { channels = 4, steps = 15, scale = 0.5, offset = -4.0 }",
        LINES,
    ),
    sample(ROWS, "softmax(a) { dim = -1 }", ROWS),
    sample(ROWS, "softmax(a) { dim = 0 }", ROWS),
    sample(LINES, "log_softmax(a) { dim = 1 }", LINES),
    sample(ROWS, "dropout(a) { p = 0.1 }", ROWS),
    sample(&["bool[N, 2]"], "identity(a)", &["bool[N, 2]"]),
    sample(ROWS, "identity(a)", ROWS),
    // pools
    sample(
        LINES,
        "max_pool1d(a) { kernel_size = 3, stride = 1, dilation = 2 }",
        &["f32[N, 4, 6]"],
    ),
    sample(
        IMAGES,
        "max_pool2d(a) { kernel_size = 3, stride = 2, padding = 1 }",
        &["f32[N, 4, 5, 4]"],
    ),
    sample(
        LINES,
        "max_pool1d(a) { kernel_size = 4, stride = 4, ceil_mode = true }",
        &["f32[N, 4, 3]"],
    ),
    sample(
        IMAGES,
        "avg_pool2d(a) { kernel_size = 3, stride = 2, ceil_mode = true }",
        &["f32[N, 4, 4, 4]"],
    ),
    sample(
        LINES,
        "avg_pool1d(a) { kernel_size = 2 }",
        &["f32[N, 4, 5]"],
    ),
    sample(
        IMAGES,
        "avg_pool2d(a) { kernel_size = [3, 2], padding = 1, count_include_pad = false }",
        &["f32[N, 4, 3, 5]"],
    ),
    sample(
        LINES,
        "adaptive_avg_pool1d(a) { output_size = 3 }",
        &["f32[N, 4, 3]"],
    ),
    sample(
        IMAGES,
        "adaptive_avg_pool2d(a) { output_size = [3, 2] }",
        &["f32[N, 4, 3, 2]"],
    ),
    sample(
        LINES,
        "adaptive_max_pool1d(a) { output_size = 20 }",
        &["f32[N, 4, 20]"],
    ),
    sample(
        IMAGES,
        "adaptive_max_pool2d(a) { output_size = 1 }",
        &["f32[N, 4, 1, 1]"],
    ),
    // arithmetic
    sample(
        &["f32[N, 3, 4]", "f32[3, 1]"],
        "add(a, b)",
        &["f32[N, 3, 4]"],
    ),
    sample(ROWS, "add(a) { scalar = 1.5 }", ROWS),
    sample(&["f32[4]", "f32[N, 4]"], "sub(a, b)", &["f32[N, 4]"]),
    sample(ROWS, "mul(a) { scalar = -2 }", ROWS),
    sample(&["f32[N, 1]", "f32[N, 5]"], "div(a, b)", &["f32[N, 5]"]),
    sample(&["f32[N, 4]", "f32[4]"], "max(a, b)", &["f32[N, 4]"]),
    sample(ROWS, "max(a) { scalar = 0.5 }", ROWS),
    sample(&["f32[4]", "f32[N, 4]"], "min(a, b)", &["f32[N, 4]"]),
    sample(&["f32[N, 4]", "f32[4]"], "pow(b, a)", &["f32[N, 4]"]),
    sample(ROWS, "pow(a) { scalar = 2 }", ROWS),
    sample(&["i64[N, 4]", "i64[4]"], "add(a, b)", &["i64[N, 4]"]),
    sample(ROWS, "neg(a)", ROWS),
    sample(ROWS, "abs(a)", ROWS),
    sample(ROWS, "sqrt(a)", ROWS),
    sample(ROWS, "rsqrt(a)", ROWS),
    sample(ROWS, "reciprocal(a)", ROWS),
    sample(ROWS, "exp(a)", ROWS),
    sample(ROWS, "log(a)", ROWS),
    sample(ROWS, "erf(a)", ROWS),
    sample(ROWS, "sin(a)", ROWS),
    sample(ROWS, "cos(a)", ROWS),
    sample(ROWS, "floor(a)", ROWS),
    sample(ROWS, "ceil(a)", ROWS),
    sample(ROWS, "round(a)", ROWS),
    sample(ROWS, "sign(a)", ROWS),
    sample(&["f32[N, 3]", "f32[3]"], "eq(a, b)", &["bool[N, 3]"]),
    sample(&["i64[N, 3]"], "ne(a) { scalar = 1 }", &["bool[N, 3]"]),
    sample(ROWS, "ne(a) { scalar = 0 }", &["bool[N, 16]"]),
    sample(&["f32[N, 1]", "f32[3]"], "lt(a, b)", &["bool[N, 3]"]),
    sample(ROWS, "le(a) { scalar = 0.5 }", &["bool[N, 16]"]),
    sample(&["f32[3]", "f32[N, 3]"], "gt(a, b)", &["bool[N, 3]"]),
    sample(ROWS, "ge(a) { scalar = -0.5 }", &["bool[N, 16]"]),
    sample(&["bool[N, 3]", "bool[3]"], "and(a, b)", &["bool[N, 3]"]),
    sample(&["bool[N, 1]", "bool[3]"], "or(a, b)", &["bool[N, 3]"]),
    sample(&["bool[N, 3]"], "not(a)", &["bool[N, 3]"]),
    sample(
        &["bool[N, 1, 4]", "f32[N, 3, 4]", "f32[4]"],
        "where(a, b, c)",
        &["f32[N, 3, 4]"],
    ),
    sample(
        &["f32[N, 1, 3, 5]", "f32[4, 5, 2]"],
        "matmul(a, b)",
        &["f32[N, 4, 3, 2]"],
    ),
    sample(
        &["f32[N, 16]", "f32[16, 5]"],
        "matmul(a, b)",
        &["f32[N, 5]"],
    ),
    sample(
        &["f32[N, 3, 5]", "f32[N, 5, 2]"],
        "bmm(a, b)",
        &["f32[N, 3, 2]"],
    ),
    sample(LINES, "mean(a) { dim = 1 }", &["f32[N, 10]"]),
    sample(
        LINES,
        "mean(a) { dim = [-1, 1], keepdim = true }",
        &["f32[N, 1, 1]"],
    ),
    sample(LINES, "mean(a)", &["f32[]"]),
    sample(LINES, "sum(a) { dim = 1 }", &["f32[N, 10]"]),
    sample(LINES, "sum(a)", &["f32[]"]),
    sample(
        LINES,
        "amax(a) { dim = [2], keepdim = true }",
        &["f32[N, 4, 1]"],
    ),
    sample(LINES, "amin(a) { dim = [1, 2] }", &["f32[N]"]),
    sample(&["f32[N, 2, 3]"], "prod(a) { dim = 1 }", &["f32[N, 3]"]),
    sample(
        &["f32[N, 2, 5, 8]", "f32[N, 2, 7, 8]", "f32[N, 2, 7, 3]"],
        "scaled_dot_product_attention(a, b, c) { is_causal = true, scale = 0.25 }",
        &["f32[N, 2, 5, 3]"],
    ),
    sample(
        &["f32[N, 8]", "f32[7, 8]", "f32[7, 3]"],
        "scaled_dot_product_attention(a, b, c) { is_causal = true }",
        &["f32[N, 3]"],
    ),
    sample(
        &["f32[N, 4, 3, 2]", "f32[N, 2, 3, 2]", "f32[N, 1, 1, 3]"],
        "scaled_dot_product_attention(a, b, b, c) { enable_gqa = true }",
        &["f32[N, 4, 3, 2]"],
    ),
    sample(
        &["f32[N, 3, 2]", "f32[N, 4, 2]", "bool[3, 4]"],
        "scaled_dot_product_attention(a, b, b, c)",
        &["f32[N, 3, 2]"],
    ),
    // shapes
    sample(IMAGES, "flatten(a)", &["f32[N, 288]"]),
    sample(
        IMAGES,
        "flatten(a) { start_dim = 0, end_dim = 1 }",
        &["f32[4*N, 9, 8]"],
    ),
    sample(
        LINES,
        "reshape(a) { shape = [N, 2, -1] }",
        &["f32[N, 2, 20]"],
    ),
    sample(LINES, "reshape(a) { shape = [-1, 8] }", &["f32[5*N, 8]"]),
    sample(
        &["i64[N, 6]"],
        "view(a) { shape = [2*N, 3] }",
        &["i64[2*N, 3]"],
    ),
    sample(LINES, "view(a) { shape = [N, 2, 20] }", &["f32[N, 2, 20]"]),
    sample(
        LINES,
        "transpose(a) { dim0 = 1, dim1 = 2 }",
        &["f32[N, 10, 4]"],
    ),
    sample(
        LINES,
        "transpose(a) { dim0 = -1, dim1 = 0 }",
        &["f32[10, 4, N]"],
    ),
    sample(
        LINES,
        "permute(a) { dims = [0, 2, -2] }",
        &["f32[N, 10, 4]"],
    ),
    sample(
        &["f32[N, 4]", "f32[N, 2]"],
        "cat(a, b, a) { dim = -1 }",
        &["f32[N, 10]"],
    ),
    sample(ROWS, "cat(a, a)", &["f32[2*N, 16]"]),
    sample(
        LINES,
        "chunk(a) { chunks = 4, dim = 2 }",
        &[
            "f32[N, 4, 3]",
            "f32[N, 4, 3]",
            "f32[N, 4, 3]",
            "f32[N, 4, 1]",
        ],
    ),
    sample(
        LINES,
        "getitem(a) { index = \":, -2:, 8:99\" }",
        &["f32[N, 2, 2]"],
    ),
    sample(
        LINES,
        "getitem(a) { index = \":, 0, -8:5\" }",
        &["f32[N, 3]"],
    ),
    sample(
        LINES,
        "getitem(a) { index = \":, 1::2, :7:3\" }",
        &["f32[N, 2, 3]"],
    ),
    sample(
        IMAGES,
        "pad(a) { pad = [1, 2, 0, 3], value = 0.5 }",
        &["f32[N, 4, 12, 11]"],
    ),
    sample(
        LINES,
        "pad(a) { pad = [3, 2], mode = \"reflect\" }",
        &["f32[N, 4, 15]"],
    ),
    sample(
        LINES,
        "pad(a) { pad = [1, 0, 2, 1], mode = \"edge\" }",
        &["f32[N, 7, 11]"],
    ),
    sample(
        IMAGES,
        "roll(a) { shifts = [-2, 11], dims = [2, 3] }",
        IMAGES,
    ),
    sample(
        &["f32[N, 1, 3]"],
        "expand(a) { shape = [N, 4, -1] }",
        &["f32[N, 4, 3]"],
    ),
    sample(
        &["f32[N, 16]", "f32[1, 3]"],
        "expand(b) { shape = [N, 2, 3] }",
        &["f32[N, 2, 3]"],
    ),
    sample(
        &["f32[N, 3, 4]", "i64[2, 3]"],
        "gather(a, b) { dim = 1 }",
        &["f32[N, 2, 3, 4]"],
    ),
    sample(
        &["f32[5, 4]", "i64[N, 2]"],
        "gather(a, b)",
        &["f32[N, 2, 4]"],
    ),
    sample(ROWS, "to(a) { dtype = \"i64\" }", &["i64[N, 16]"]),
    sample(ROWS, "to(a) { dtype = \"bool\" }", &["bool[N, 16]"]),
    sample(&["bool[N, 4]"], "to(a) { dtype = \"f32\" }", &["f32[N, 4]"]),
];
