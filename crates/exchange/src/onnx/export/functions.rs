//! Functions of single elements, comparisons and reductions.
#![expect(
    clippy::unnecessary_wraps,
    reason = "every writer has the signature of the table"
)]

use super::site::{Site, float, int, text};
use super::writers::Written;
use crate::constant::Refusal;

/// Operators that ONNX has under another name, with the same attributes: none.
const NAMES: &[(&str, &str)] = &[
    ("relu", "Relu"),
    ("sigmoid", "Sigmoid"),
    ("tanh", "Tanh"),
    ("softsign", "Softsign"),
    ("hardswish", "HardSwish"),
    ("selu", "Selu"),
    ("identity", "Identity"),
    ("neg", "Neg"),
    ("abs", "Abs"),
    ("sqrt", "Sqrt"),
    ("reciprocal", "Reciprocal"),
    ("exp", "Exp"),
    ("log", "Log"),
    ("erf", "Erf"),
    ("sin", "Sin"),
    ("cos", "Cos"),
    ("floor", "Floor"),
    ("ceil", "Ceil"),
    ("round", "Round"),
    ("sign", "Sign"),
    ("not", "Not"),
    ("and", "And"),
    ("or", "Or"),
    ("where", "Where"),
    ("matmul", "MatMul"),
    ("bmm", "MatMul"),
    ("add", "Add"),
    ("sub", "Sub"),
    ("mul", "Mul"),
    ("div", "Div"),
    ("max", "Max"),
    ("min", "Min"),
    ("pow", "Pow"),
    ("eq", "Equal"),
    ("ne", "Equal"),
    ("lt", "Less"),
    ("le", "LessOrEqual"),
    ("gt", "Greater"),
    ("ge", "GreaterOrEqual"),
    ("mean", "ReduceMean"),
    ("sum", "ReduceSum"),
    ("amax", "ReduceMax"),
    ("amin", "ReduceMin"),
    ("prod", "ReduceProd"),
    ("softmax", "Softmax"),
    ("log_softmax", "LogSoftmax"),
];

fn onnx_name(site: &Site) -> Result<&'static str, Refusal> {
    let name = site.node.op.name();
    let found = NAMES.iter().find(|row| row.0 == name);
    found
        .map(|row| row.1)
        .ok_or_else(|| Refusal::new("ONNX has no name for it"))
}

/// The operator under its own name.
pub fn plain(site: &mut Site) -> Written {
    let op = onnx_name(site)?;
    let inputs = site.inputs.clone();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    Ok(vec![site.emit(op, &inputs, Vec::new())])
}

/// Two values, or a value and a number.
pub fn binary(site: &mut Site) -> Written {
    let op = onnx_name(site)?;
    let left = site.x();
    let right = match site.number("scalar") {
        Some(number) => site.store_number("scalar", number),
        None => site.inputs[1].clone(),
    };
    let y = site.emit(op, &[&left, &right], Vec::new());
    Ok(vec![match site.node.op.name() {
        "ne" => site.emit("Not", &[&y], Vec::new()),
        _ => y,
    }])
}

/// 1/√x.
pub fn rsqrt(site: &mut Site) -> Written {
    let x = site.x();
    let root = site.emit("Sqrt", &[&x], Vec::new());
    Ok(vec![site.emit("Reciprocal", &[&root], Vec::new())])
}

/// Between two bounds.
pub fn clip(site: &mut Site) -> Written {
    let (low, high) = match site.node.op.name() {
        "relu6" => (0.0, 6.0),
        _ => (
            site.number("min_val").unwrap_or(-1.0),
            site.number("max_val").unwrap_or(1.0),
        ),
    };
    let (x, low, high) = (
        site.x(),
        site.store_number("min", low),
        site.store_number("max", high),
    );
    Ok(vec![site.emit("Clip", &[&x, &low, &high], Vec::new())])
}

pub fn hardsigmoid(site: &mut Site) -> Written {
    let alpha = site.number("alpha").unwrap_or(1.0 / 6.0);
    let beta = site.number("beta").unwrap_or(0.5);
    let x = site.x();
    Ok(vec![site.emit(
        "HardSigmoid",
        &[&x],
        vec![float("alpha", alpha), float("beta", beta)],
    )])
}

pub fn elu(site: &mut Site) -> Written {
    let (x, alpha) = (site.x(), site.number("alpha").unwrap_or(1.0));
    Ok(vec![site.emit("Elu", &[&x], vec![float("alpha", alpha)])])
}

pub fn leaky_relu(site: &mut Site) -> Written {
    let (x, slope) = (site.x(), site.number("negative_slope").unwrap_or(0.01));
    Ok(vec![site.emit(
        "LeakyRelu",
        &[&x],
        vec![float("alpha", slope)],
    )])
}

/// An operator of its own from version 20 on; before, by the error function.
pub fn gelu(site: &mut Site) -> Written {
    let (x, form) = (site.x(), site.word("approximate", "none"));
    if site.exporter.options.opset >= 20 {
        return Ok(vec![site.emit(
            "Gelu",
            &[&x],
            vec![text("approximate", &form)],
        )]);
    }
    if form != "none" {
        return Err(Refusal::new(
            "its approximation is written from opset 20 on",
        ));
    }
    let root = site.store_number("root_half", std::f64::consts::FRAC_1_SQRT_2);
    let scaled = site.emit("Mul", &[&x, &root], Vec::new());
    let erf = site.emit("Erf", &[&scaled], Vec::new());
    let (one, half) = (
        site.store_number("one", 1.0),
        site.store_number("half", 0.5),
    );
    let sum = site.emit("Add", &[&erf, &one], Vec::new());
    let product = site.emit("Mul", &[&x, &sum], Vec::new());
    Ok(vec![site.emit("Mul", &[&product, &half], Vec::new())])
}

/// x·sigmoid(x).
pub fn silu(site: &mut Site) -> Written {
    let x = site.x();
    let gate = site.emit("Sigmoid", &[&x], Vec::new());
    Ok(vec![site.emit("Mul", &[&x, &gate], Vec::new())])
}

/// ln(1 + exp(beta·x))/beta.
pub fn softplus(site: &mut Site) -> Written {
    let (x, beta) = (site.x(), site.number("beta").unwrap_or(1.0));
    if beta == 1.0 {
        return Ok(vec![site.emit("Softplus", &[&x], Vec::new())]);
    }
    let factor = site.store_number("beta", beta);
    let scaled = site.emit("Mul", &[&x, &factor], Vec::new());
    let y = site.emit("Softplus", &[&scaled], Vec::new());
    Ok(vec![site.emit("Div", &[&y, &factor], Vec::new())])
}

pub fn softmax(site: &mut Site) -> Written {
    let (op, x, axis) = (onnx_name(site)?, site.x(), site.int("dim", -1));
    Ok(vec![site.emit(op, &[&x], vec![int("axis", axis)])])
}

/// Nothing happens in evaluation; the probability is written for those who train.
pub fn dropout(site: &mut Site) -> Written {
    let (x, p) = (site.x(), site.number("p").unwrap_or(0.5));
    let ratio = site.store_number("ratio", p);
    Ok(vec![site.emit("Dropout", &[&x, &ratio], Vec::new())])
}

pub fn reduce(site: &mut Site) -> Written {
    let (op, x) = (onnx_name(site)?, site.x());
    let dims = site.ints("dim", 1, 0);
    let keep = i64::from(site.flag("keepdim", false));
    let rank = site.input_type(0).shape.rank() as i64;
    let all = matches!(
        site.attributes.get("dim"),
        None | Some(serde_json::Value::Null)
    ) || dims.is_empty();
    let axes = if all { (0..rank).collect() } else { dims };
    let axes = site.store_ints("axes", axes);
    Ok(vec![site.emit(
        op,
        &[&x, &axes],
        vec![int("keepdims", keep)],
    )])
}

/// The first of equal ones, as ONNX has it too.
pub fn argmax(site: &mut Site) -> Written {
    let (x, axis) = (site.x(), site.int("dim", -1));
    let keep = i64::from(site.flag("keepdim", false));
    Ok(vec![site.emit(
        "ArgMax",
        &[&x],
        vec![int("axis", axis), int("keepdims", keep)],
    )])
}
