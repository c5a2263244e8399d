//! PyTorch's notation of layers, and the type names that tables of quantised layers show.

use crate::{FxOp, Node, Op, Operator};

/// A PyTorch module: its class and its arguments as PyTorch prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TorchModule {
    /// The class, `BatchNorm1d`.
    pub class: &'static str,
    /// The arguments, `16, eps=1e-05`.
    pub arguments: String,
}

impl TorchModule {
    /// A module of this class with these arguments.
    pub(crate) fn new(class: &'static str, arguments: impl Into<String>) -> Self {
        Self {
            class,
            arguments: arguments.into(),
        }
    }
}

/// The PyTorch class of an operator, `BatchNorm1d`; `None` for operators that are only functions.
pub fn torch_class(op: &Op) -> Option<&'static str> {
    op.torch_module().map(|module| module.class)
}

/// The layer as PyTorch prints it, `Linear(in_features=16, out_features=5, bias=True)`; an operator that is only a
/// function is shown by its name.
pub fn torch_repr(op: &Op) -> String {
    match op.torch_module() {
        Some(TorchModule { class, arguments }) => format!("{class}({arguments})"),
        None => op.name().to_owned(),
    }
}

impl Node {
    /// The kind of node as users know it: the class of a layer, `Linear`; the name of a function, `add`; the
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
            FxOp::CallModule => self.type_name() + format.entry().class_suffix,
            FxOp::CallFunction | FxOp::CallMethod => {
                format!("{}_{}", self.type_name(), format.name())
            }
            FxOp::Placeholder | FxOp::GetAttr | FxOp::Output => self.type_name(),
        }
    }
}

/// A bool as Python prints it.
pub(crate) fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// A float as Python prints it: shortest digits, an exponent of at least two digits below 1e-4 and from 1e16 on.
pub(crate) fn python_float(value: f64) -> String {
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

/// Sizes as a Python tuple.
pub(crate) fn tuple(sizes: &[usize]) -> String {
    match sizes {
        [size] => format!("({size},)"),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

/// One number when all axes have the same, as pools are usually written.
pub(crate) fn size(sizes: &[usize]) -> String {
    match sizes {
        [first, rest @ ..] if rest.iter().all(|size| size == first) => first.to_string(),
        sizes => tuple(sizes),
    }
}
