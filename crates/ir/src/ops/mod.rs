//! The operators. Each has a file here that says what it means; the table below is the one place that lists them.
//!
//! Adding one: a file with a struct of attributes that implements [`Operator`], its `mod` line, its table line.
//! The engine has a file of the same name that says how it runs.

use crate::{
    CodeRange, Cost, FxOp, MaseType, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde_json::{Map, Value as Json};

mod attributes;
mod check;
mod rearrange;
mod window;

pub mod activation;
pub mod adaptive_pool;
pub mod argmax;
pub mod arithmetic;
pub mod attention;
pub mod batch_norm;
pub mod cast;
pub mod cat;
pub mod choice;
pub mod compare;
pub mod conv;
pub mod conv_transpose;
pub mod dropout;
pub mod embedding;
pub mod expand;
pub mod function;
pub mod gather;
pub mod getitem;
pub mod group_norm;
pub mod layer_norm;
pub mod linear;
pub mod lstm;
pub mod matmul;
pub mod opaque;
pub mod pad;
pub mod permute;
pub mod placeholder;
pub mod pool;
pub mod prelu;
pub mod reduce;
pub mod reshape;
pub mod rms_norm;
pub mod roll;
pub mod softmax;
pub mod thresholds;
pub mod topk;
pub mod upsample;

pub use attributes::AttributeError;
pub(crate) use check::numel;
pub use window::Window;

/// The table's entry for an operator.
#[derive(Clone, Copy, Debug)]
pub struct OpEntry {
    /// The name in configs, reports and the text form.
    pub name: &'static str,
    /// The class that MASE gives it.
    pub mase_type: MaseType,
    /// The opcode of torch.fx when it is not called as a module.
    pub fx_op: FxOp,
    /// The equation, or a description.
    pub about: &'static str,
}

macro_rules! ops {
    ($($(#[doc = $doc:literal])* $variant:ident($($path:ident)::+) = $name:literal, $mase_type:ident, $fx_op:ident;)*) => {
        /// Every operator with its attributes.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Op { $($(#[doc = $doc])* $variant($($path)::+),)* }

        impl Op {
            /// The table.
            pub const TABLE: &[OpEntry] = &[$(OpEntry {
                name: $name,
                mase_type: MaseType::$mase_type,
                fx_op: FxOp::$fx_op,
                about: concat!($($doc, "\n"),*),
            },)*];

            fn index(&self) -> usize {
                #[derive(Clone, Copy)]
                enum Index { $($variant,)* }
                (match self { $(Self::$variant(_) => Index::$variant,)* }) as usize
            }

            fn operator(&self) -> &dyn Operator {
                match self { $(Self::$variant(op) => op,)* }
            }

            /// The attributes as the text form prints them.
            pub fn attributes(&self) -> Map<String, Json> {
                let json = match self { $(Self::$variant(op) => serde_json::to_value(op),)* };
                match json { Ok(Json::Object(map)) => map, _ => Map::new() }
            }

            /// The operator called `name` with these attributes; `None` when there is no such operator.
            pub fn from_attributes(
                name: &str,
                attributes: Map<String, Json>,
            ) -> Option<Result<Self, AttributeError>> {
                match name {
                    $($name => Some(attributes::read(attributes).map(Self::$variant)),)*
                    _ => None,
                }
            }
        }

        $(impl From<$($path)::+> for Op { fn from(op: $($path)::+) -> Self { Self::$variant(op) } })*
    };
}

ops! {
    // the edges of the graph
    /// An input of the graph.
    Placeholder(placeholder::Placeholder) = "placeholder", Placeholder, Placeholder;
    /// A tensor stored with the model.
    Constant(placeholder::Constant) = "constant", GetAttr, GetAttr;
    /// The results of the graph.
    Output(placeholder::Output) = "output", Output, Output;

    /// An operator of another program that this one does not know; it is shown and written back, and does not run.
    Opaque(opaque::Opaque) = "opaque", BuiltinFunc, CallFunction;

    // layers with weights
    /// Fully connected layer, `y = x·Wᵀ + b`.
    Linear(linear::Linear) = "linear", ModuleRelatedFunc, CallFunction;
    /// Convolution over one axis of space, `[N, C, L]`.
    Conv1d(conv::Conv1d) = "conv1d", ModuleRelatedFunc, CallFunction;
    /// Convolution over two axes of space, `[N, C, H, W]`.
    Conv2d(conv::Conv2d) = "conv2d", ModuleRelatedFunc, CallFunction;
    /// Batch normalisation of `[N, C]` or `[N, C, L]`: `y = (x − μ)/√(σ² + ε)·γ + β`.
    BatchNorm1d(batch_norm::BatchNorm1d) = "batch_norm1d", Module, CallModule;
    /// Batch normalisation of `[N, C, H, W]`, per channel.
    BatchNorm2d(batch_norm::BatchNorm2d) = "batch_norm2d", Module, CallModule;
    /// Layer normalisation over the last axes: `y = (x − μ)/√(σ² + ε)·γ + β`.
    LayerNorm(layer_norm::LayerNorm) = "layer_norm", ModuleRelatedFunc, CallFunction;
    /// Transposed convolution over one axis of space, `[N, C, L]`.
    ConvTranspose1d(conv_transpose::ConvTranspose1d) = "conv_transpose1d", ModuleRelatedFunc, CallFunction;
    /// Transposed convolution over two axes of space, `[N, C, H, W]`.
    ConvTranspose2d(conv_transpose::ConvTranspose2d) = "conv_transpose2d", ModuleRelatedFunc, CallFunction;
    /// Normalisation by the root mean square over the last axes: `y = x/√(mean(x²) + ε)·γ`.
    RmsNorm(rms_norm::RmsNorm) = "rms_norm", ModuleRelatedFunc, CallFunction;
    /// Normalisation of groups of channels of each sample.
    GroupNorm(group_norm::GroupNorm) = "group_norm", ModuleRelatedFunc, CallFunction;
    /// Normalisation of each channel of each sample.
    InstanceNorm(group_norm::InstanceNorm) = "instance_norm", ModuleRelatedFunc, CallFunction;
    /// Long short-term memory over one axis of time, `[N, T, C]`: all h, the last h, the last c.
    Lstm(lstm::Lstm) = "lstm", ModuleRelatedFunc, CallFunction;
    /// Look-up of rows of a table by index, `y = W[x]`.
    Embedding(embedding::Embedding) = "embedding", ModuleRelatedFunc, CallFunction;

    // activations
    /// Rectified linear unit, `y = max(x, 0)`.
    Relu(activation::Relu) = "relu", ModuleRelatedFunc, CallFunction;
    /// Rectified linear unit with a ceiling, `y = min(max(x, 0), 6)`.
    Relu6(activation::Relu6) = "relu6", ModuleRelatedFunc, CallFunction;
    /// Clamp, `y = min(max(x, min_val), max_val)`.
    Hardtanh(activation::Hardtanh) = "hardtanh", ModuleRelatedFunc, CallFunction;
    /// `y = x·min(max(x + 3, 0), 6)/6`.
    Hardswish(activation::Hardswish) = "hardswish", ModuleRelatedFunc, CallFunction;
    /// `y = min(max(alpha·x + beta, 0), 1)`.
    Hardsigmoid(activation::Hardsigmoid) = "hardsigmoid", ModuleRelatedFunc, CallFunction;
    /// Logistic function, `y = 1/(1 + exp(−x))`.
    Sigmoid(activation::Sigmoid) = "sigmoid", ModuleRelatedFunc, CallFunction;
    /// Hyperbolic tangent.
    Tanh(activation::Tanh) = "tanh", ModuleRelatedFunc, CallFunction;
    /// Gaussian error linear unit, `y = x·Φ(x)`.
    Gelu(activation::Gelu) = "gelu", ModuleRelatedFunc, CallFunction;
    /// Sigmoid linear unit, `y = x/(1 + exp(−x))`.
    Silu(activation::Silu) = "silu", ModuleRelatedFunc, CallFunction;
    /// Exponential linear unit, `y = x` for x > 0, else `alpha·(exp(x) − 1)`.
    Elu(activation::Elu) = "elu", ModuleRelatedFunc, CallFunction;
    /// Exponential linear unit with the constants that keep mean and variance.
    Selu(activation::Selu) = "selu", ModuleRelatedFunc, CallFunction;
    /// `y = ln(1 + exp(beta·x))/beta`.
    Softplus(activation::Softplus) = "softplus", ModuleRelatedFunc, CallFunction;
    /// `y = x/(1 + |x|)`.
    Softsign(activation::Softsign) = "softsign", ModuleRelatedFunc, CallFunction;
    /// `y = x` for x > 0, else `negative_slope·x`.
    LeakyRelu(function::LeakyRelu) = "leaky_relu", ModuleRelatedFunc, CallFunction;
    /// `y = x` for x > 0, else `weight·x`, with a weight for all channels or for each.
    Prelu(prelu::Prelu) = "prelu", ModuleRelatedFunc, CallFunction;
    /// Steps at stored thresholds, `y = scale·#{t: x ≥ t} + offset`, with a list of them for all channels or for each.
    Thresholds(thresholds::Thresholds) = "thresholds", ModuleRelatedFunc, CallFunction;
    /// Softmax along an axis, `y = exp(x)/Σ exp(x)`.
    Softmax(softmax::Softmax) = "softmax", ModuleRelatedFunc, CallFunction;
    /// Logarithm of the softmax along an axis.
    LogSoftmax(softmax::LogSoftmax) = "log_softmax", ModuleRelatedFunc, CallFunction;
    /// In training each element becomes 0 with probability p, else x/(1 − p); in evaluation nothing happens.
    Dropout(dropout::Dropout) = "dropout", ModuleRelatedFunc, CallFunction;
    /// The value itself.
    Identity(dropout::Identity) = "identity", ModuleRelatedFunc, CallFunction;

    // pools
    /// The largest element of each window of `[N, C, L]`.
    MaxPool1d(pool::MaxPool1d) = "max_pool1d", ModuleRelatedFunc, CallFunction;
    /// The largest element of each window of `[N, C, H, W]`.
    MaxPool2d(pool::MaxPool2d) = "max_pool2d", ModuleRelatedFunc, CallFunction;
    /// The mean of each window of `[N, C, L]`.
    AvgPool1d(pool::AvgPool1d) = "avg_pool1d", ModuleRelatedFunc, CallFunction;
    /// The mean of each window of `[N, C, H, W]`.
    AvgPool2d(pool::AvgPool2d) = "avg_pool2d", ModuleRelatedFunc, CallFunction;
    /// The mean over a given number of windows of `[N, C, L]`.
    AdaptiveAvgPool1d(adaptive_pool::AdaptiveAvgPool1d) = "adaptive_avg_pool1d", ModuleRelatedFunc, CallFunction;
    /// The mean over a given number of windows of `[N, C, H, W]`.
    AdaptiveAvgPool2d(adaptive_pool::AdaptiveAvgPool2d) = "adaptive_avg_pool2d", ModuleRelatedFunc, CallFunction;
    /// The largest element of a given number of windows of `[N, C, L]`.
    AdaptiveMaxPool1d(adaptive_pool::AdaptiveMaxPool1d) = "adaptive_max_pool1d", ModuleRelatedFunc, CallFunction;
    /// The largest element of a given number of windows of `[N, C, H, W]`.
    AdaptiveMaxPool2d(adaptive_pool::AdaptiveMaxPool2d) = "adaptive_max_pool2d", ModuleRelatedFunc, CallFunction;

    /// A picture of another size, by its nearest pixels or by means of four.
    Upsample(upsample::Upsample) = "upsample", ModuleRelatedFunc, CallFunction;

    // arithmetic on values
    /// `y = a + b`, with broadcasting.
    Add(arithmetic::Add) = "add", BuiltinFunc, CallFunction;
    /// `y = a − b`, with broadcasting.
    Sub(arithmetic::Sub) = "sub", BuiltinFunc, CallFunction;
    /// `y = a·b` element by element, with broadcasting.
    Mul(arithmetic::Mul) = "mul", BuiltinFunc, CallFunction;
    /// `y = a/b` element by element, with broadcasting.
    Div(arithmetic::Div) = "div", BuiltinFunc, CallFunction;
    /// `y = −x`.
    Neg(function::Neg) = "neg", BuiltinFunc, CallFunction;
    /// `y = |x|`.
    Abs(function::Abs) = "abs", BuiltinFunc, CallFunction;
    /// `y = √x`.
    Sqrt(function::Sqrt) = "sqrt", BuiltinFunc, CallFunction;
    /// `y = 1/√x`.
    Rsqrt(function::Rsqrt) = "rsqrt", BuiltinFunc, CallFunction;
    /// `y = 1/x`.
    Reciprocal(function::Reciprocal) = "reciprocal", BuiltinFunc, CallFunction;
    /// `y = e^x`.
    Exp(function::Exp) = "exp", BuiltinFunc, CallFunction;
    /// Natural logarithm.
    Log(function::Log) = "log", BuiltinFunc, CallFunction;
    /// Error function, `y = 2/√π·∫₀ˣ exp(−t²) dt`.
    Erf(function::Erf) = "erf", BuiltinFunc, CallFunction;
    /// Sine.
    Sin(function::Sin) = "sin", BuiltinFunc, CallFunction;
    /// Cosine.
    Cos(function::Cos) = "cos", BuiltinFunc, CallFunction;
    /// The largest whole number up to x.
    Floor(function::Floor) = "floor", BuiltinFunc, CallFunction;
    /// The smallest whole number from x on.
    Ceil(function::Ceil) = "ceil", BuiltinFunc, CallFunction;
    /// The nearest whole number, of two the even one.
    Round(function::Round) = "round", BuiltinFunc, CallFunction;
    /// −1, 0 or 1 after the sign.
    Sign(function::Sign) = "sign", BuiltinFunc, CallFunction;
    /// True where `a = b`, with broadcasting.
    Eq(compare::Eq) = "eq", BuiltinFunc, CallFunction;
    /// True where `a ≠ b`, with broadcasting.
    Ne(compare::Ne) = "ne", BuiltinFunc, CallFunction;
    /// True where `a < b`, with broadcasting.
    Lt(compare::Lt) = "lt", BuiltinFunc, CallFunction;
    /// True where `a ≤ b`, with broadcasting.
    Le(compare::Le) = "le", BuiltinFunc, CallFunction;
    /// True where `a > b`, with broadcasting.
    Gt(compare::Gt) = "gt", BuiltinFunc, CallFunction;
    /// True where `a ≥ b`, with broadcasting.
    Ge(compare::Ge) = "ge", BuiltinFunc, CallFunction;
    /// True where both are, with broadcasting.
    And(compare::And) = "and", BuiltinFunc, CallFunction;
    /// True where one is, with broadcasting.
    Or(compare::Or) = "or", BuiltinFunc, CallFunction;
    /// True where the value is false.
    Not(compare::Not) = "not", BuiltinFunc, CallFunction;
    /// `y = a` where the condition holds, else `b`, with broadcasting.
    Where(choice::Where) = "where", BuiltinFunc, CallFunction;
    /// Matrix product `y = a·b`; batch axes broadcast.
    Matmul(matmul::Matmul) = "matmul", BuiltinFunc, CallFunction;
    /// Matrix product of two batches of matrices.
    Bmm(matmul::Bmm) = "bmm", BuiltinFunc, CallFunction;
    /// `y = max(a, b)` element by element, with broadcasting.
    Max(arithmetic::Max) = "max", BuiltinFunc, CallFunction;
    /// `y = min(a, b)` element by element, with broadcasting.
    Min(arithmetic::Min) = "min", BuiltinFunc, CallFunction;
    /// `y = a^b` element by element, with broadcasting.
    Pow(arithmetic::Pow) = "pow", BuiltinFunc, CallFunction;
    /// The mean along axes.
    Mean(reduce::Mean) = "mean", BuiltinFunc, CallFunction;
    /// The sum along axes.
    Sum(reduce::Sum) = "sum", BuiltinFunc, CallFunction;
    /// The largest element along axes.
    Amax(reduce::Amax) = "amax", BuiltinFunc, CallFunction;
    /// The smallest element along axes.
    Amin(reduce::Amin) = "amin", BuiltinFunc, CallFunction;
    /// The product along axes.
    Prod(reduce::Prod) = "prod", BuiltinFunc, CallFunction;
    /// The place of the largest element along the last axis, the first of equal ones: `[N, C]` becomes `i64[N]`.
    Argmax(argmax::Argmax) = "argmax", BuiltinFunc, CallFunction;
    /// The largest or smallest elements along an axis in order, and their places, the first of equal ones first.
    Topk(topk::Topk) = "topk", BuiltinFunc, CallFunction;
    /// Attention, `y = softmax(q·kᵀ/√d + mask)·v`.
    ScaledDotProductAttention(attention::ScaledDotProductAttention) = "scaled_dot_product_attention", ModuleRelatedFunc, CallFunction;

    // helpers that move elements and compute nothing
    /// Several neighbouring axes become one.
    Flatten(reshape::Flatten) = "flatten", ImplicitFunc, CallFunction;
    /// New axes for the same elements; −1 stands for what is left.
    Reshape(reshape::Reshape) = "reshape", ImplicitFunc, CallMethod;
    /// New axes for the same elements; −1 stands for what is left.
    View(reshape::View) = "view", ImplicitFunc, CallMethod;
    /// Two axes change places.
    Transpose(permute::Transpose) = "transpose", ImplicitFunc, CallMethod;
    /// The axes in another order.
    Permute(permute::Permute) = "permute", ImplicitFunc, CallMethod;
    /// Several values joined along an axis.
    Cat(cat::Cat) = "cat", ImplicitFunc, CallFunction;
    /// One value cut into several along an axis.
    Chunk(cat::Chunk) = "chunk", ImplicitFunc, CallFunction;
    /// Indexing as in Python, `x[:, 0, 2:5]`.
    Getitem(getitem::Getitem) = "getitem", ImplicitFunc, CallFunction;
    /// A value repeated along axes of size 1 and along new ones in front.
    Expand(expand::Expand) = "expand", ImplicitFunc, CallMethod;
    /// Slices picked by index along an axis, `y = x[…, index, …]`.
    Gather(gather::Gather) = "gather", ImplicitFunc, CallFunction;
    /// Elements added around a value: a number, mirrored elements or those at the edge.
    Pad(pad::Pad) = "pad", ImplicitFunc, CallFunction;
    /// Elements moved around axes; those that leave the end come in at the start.
    Roll(roll::Roll) = "roll", ImplicitFunc, CallFunction;
    /// The same elements as f32, i64 or bool.
    To(cast::To) = "to", ImplicitFunc, CallMethod;
}

impl Op {
    /// The table's line for this operator.
    pub fn entry(&self) -> &'static OpEntry {
        &Self::TABLE[self.index()]
    }

    /// The name in configs, reports and the text form.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }
}

impl Operator for Op {
    fn ports(&self) -> Vec<PortSpec> {
        self.operator().ports()
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        self.operator().infer(inputs)
    }

    fn cost(&self, inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        self.operator().cost(inputs, outputs)
    }

    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        self.operator().row_coupling(inputs)
    }

    fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        self.operator().exact_range(inputs, operands)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        self.operator().torch_module()
    }
}
