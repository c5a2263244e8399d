//! Functions of single elements, arithmetic, comparisons, choices.

use crate::aten::call::{Call, Read, made, one};
use crate::aten::source::Source;
use crate::aten::table::is_in_place;
use crate::constant::{self, Array, Binary, Refusal, Unary, Values};
use ir::{DType, Value};
use serde_json::{Value as Json, json};

/// Functions of one element: their names, their counterparts, their evaluation.
pub const FUNCTIONS: &[(&str, &str, Option<Unary>)] = &[
    ("relu", "relu", None),
    ("relu6", "relu6", None),
    ("hardswish", "hardswish", None),
    ("hardsigmoid", "hardsigmoid", None),
    ("sigmoid", "sigmoid", Some(Unary::Sigmoid)),
    ("tanh", "tanh", Some(Unary::Tanh)),
    ("silu", "silu", None),
    ("selu", "selu", None),
    ("softsign", "softsign", None),
    ("neg", "neg", Some(Unary::Neg)),
    ("abs", "abs", Some(Unary::Abs)),
    ("sqrt", "sqrt", Some(Unary::Sqrt)),
    ("rsqrt", "rsqrt", None),
    ("reciprocal", "reciprocal", Some(Unary::Reciprocal)),
    ("exp", "exp", Some(Unary::Exp)),
    ("log", "log", Some(Unary::Log)),
    ("erf", "erf", None),
    ("sin", "sin", Some(Unary::Sin)),
    ("cos", "cos", Some(Unary::Cos)),
    ("floor", "floor", Some(Unary::Floor)),
    ("ceil", "ceil", Some(Unary::Ceil)),
    ("round", "round", Some(Unary::Round)),
    ("sign", "sign", Some(Unary::Sign)),
    ("logical_not", "not", Some(Unary::Not)),
    ("bitwise_not", "not", Some(Unary::Not)),
];

/// Functions of two elements.
pub const PAIRS: &[(&str, &str, Binary)] = &[
    ("add", "add", Binary::Add),
    ("sub", "sub", Binary::Sub),
    ("mul", "mul", Binary::Mul),
    ("div", "div", Binary::Div),
    ("pow", "pow", Binary::Pow),
    ("maximum", "max", Binary::Max),
    ("minimum", "min", Binary::Min),
    ("eq", "eq", Binary::Eq),
    ("ne", "ne", Binary::Eq),
    ("lt", "lt", Binary::Lt),
    ("le", "le", Binary::Le),
    ("gt", "gt", Binary::Gt),
    ("ge", "ge", Binary::Ge),
    ("__and__", "and", Binary::And),
    ("logical_and", "and", Binary::And),
    ("bitwise_and", "and", Binary::And),
    ("__or__", "or", Binary::Or),
    ("logical_or", "or", Binary::Or),
    ("bitwise_or", "or", Binary::Or),
];

/// A function of one element.
pub fn function(call: &mut Call) -> Read {
    let name = call.operator_name();
    let row = FUNCTIONS.iter().find(|row| row.0 == name);
    let (_, op, fold) = row.ok_or_else(|| Refusal::new("no such function is known"))?;
    if let (Some(array), Some(fold)) = (call.known("self"), fold) {
        return Ok(made(constant::unary(*fold, &array)?));
    }
    let attributes = if name == "relu" && is_in_place(&call.node.target) {
        json!({ "inplace": true })
    } else {
        json!({})
    };
    unary(call, op, attributes)
}

fn unary(call: &mut Call, op: &str, attributes: Json) -> Read {
    let x = call.value("self")?;
    Ok(one(call.push(op, attributes, &[x])?))
}

/// `x·Φ(x)`.
pub fn gelu(call: &mut Call) -> Read {
    let form = call.text("approximate", "none");
    unary(call, "gelu", json!({ "approximate": form }))
}

/// `x` above zero, a part of it below.
pub fn leaky_relu(call: &mut Call) -> Read {
    let slope = call.number("negative_slope").unwrap_or(0.01);
    unary(call, "leaky_relu", json!({ "negative_slope": slope }))
}

/// An exponential below zero.
pub fn elu(call: &mut Call) -> Read {
    if ["scale", "input_scale"]
        .iter()
        .any(|name| call.number(name).is_some_and(|s| s != 1.0))
    {
        return Err(Refusal::new("scales other than 1 are not computed"));
    }
    let alpha = call.number("alpha").unwrap_or(1.0);
    unary(call, "elu", json!({ "alpha": alpha }))
}

/// A smooth `max(x, 0)`.
pub fn softplus(call: &mut Call) -> Read {
    let beta = call.number("beta").unwrap_or(1.0);
    let threshold = call.number("threshold").unwrap_or(20.0);
    unary(
        call,
        "softplus",
        json!({ "beta": beta, "threshold": threshold }),
    )
}

/// Bounds that are numbers.
pub fn hardtanh(call: &mut Call) -> Read {
    let low = call.number("min_val").unwrap_or(-1.0);
    let high = call.number("max_val").unwrap_or(1.0);
    unary(call, "hardtanh", json!({ "min_val": low, "max_val": high }))
}

/// `x²`.
pub fn square(call: &mut Call) -> Read {
    let x = call.value("self")?;
    Ok(one(call.push("mul", json!({}), &[x, x])?))
}

/// Dropout, which changes nothing in evaluation.
pub fn dropout(call: &mut Call) -> Read {
    let p = call.number("p").unwrap_or(0.5);
    let source = same(call)?;
    let Some(Source::Live(x)) = source.first().cloned() else {
        return Ok(source);
    };
    if call.builder.type_of(x).dtype != DType::F32 {
        return Ok(source);
    }
    Ok(one(call.push("dropout", json!({ "p": p }), &[x])?))
}

/// Bounds, each a number, a tensor or none.
pub fn clamp(call: &mut Call) -> Read {
    let mut y = call.value("self")?;
    for (op, name) in [("max", "min"), ("min", "max")] {
        if let Some(scalar) = call.number(name) {
            y = call.push(op, json!({ "scalar": scalar }), &[y])?;
        } else if call.argument(name).is_some() {
            let bound = call.value(name)?;
            y = call.push(op, json!({}), &[y, bound])?;
        }
    }
    Ok(one(y))
}

/// A function of two elements with broadcasting.
pub fn pair(call: &mut Call) -> Read {
    let name = call.operator_name();
    let row = PAIRS.iter().find(|row| row.0 == name);
    let (_, op, fold) = row.ok_or_else(|| Refusal::new("no such arithmetic is known"))?;
    if let Some(alpha) = call.number("alpha").filter(|alpha| *alpha != 1.0) {
        return scaled_pair(call, op, alpha);
    }
    if call.argument("rounding_mode").is_some() {
        return Err(Refusal::new("a rounded quotient is not computed"));
    }
    let right = if call.argument("other").is_some() {
        "other"
    } else {
        "exponent"
    };
    if let (Some(a), Some(b)) = (call.known("self"), call.known(right)) {
        let folded = fold_pair(*fold, &a, &b)?;
        let is_negated = name == "ne";
        return Ok(made(if is_negated {
            constant::unary(Unary::Not, &folded)?
        } else {
            folded
        }));
    }
    let y = live_pair(call, op, right)?;
    Ok(one(y))
}

/// A sum or a difference whose second operand is multiplied before.
fn scaled_pair(call: &mut Call, op: &str, alpha: f64) -> Read {
    let (a, b) = (call.value("self")?, call.value("other")?);
    let is_float = |value: Value| call.builder.type_of(value).dtype == DType::F32;
    if !is_float(a) || !is_float(b) {
        let why = "alpha other than 1 is not computed of integers";
        return Err(Refusal::new(why));
    }
    let b = call.push("mul", json!({ "scalar": alpha }), &[b])?;
    Ok(one(call.push(op, json!({}), &[a, b])?))
}

/// `other − self`, the operands in the other order.
pub fn rsub(call: &mut Call) -> Read {
    if call.number("alpha").is_some_and(|alpha| alpha != 1.0) {
        return Err(Refusal::new("alpha other than 1 is not computed"));
    }
    let minus = call.value("self")?;
    if call.builder.type_of(minus).dtype != DType::F32 {
        return Err(Refusal::new("a difference of integers is not computed"));
    }
    let minus = call.push("neg", json!({}), &[minus])?;
    if let Some(scalar) = call.number("other") {
        let y = call.push("add", json!({ "scalar": scalar }), &[minus])?;
        return Ok(one(y));
    }
    let other = call.value("other")?;
    Ok(one(call.push("add", json!({}), &[other, minus])?))
}

/// `self + value·tensor1·tensor2`.
pub fn addcmul(call: &mut Call) -> Read {
    let (x, a, b) = (
        call.value("self")?,
        call.value("tensor1")?,
        call.value("tensor2")?,
    );
    let mut product = call.push("mul", json!({}), &[a, b])?;
    if let Some(scalar) = call.number("value").filter(|scalar| *scalar != 1.0) {
        product = call.push("mul", json!({ "scalar": scalar }), &[product])?;
    }
    Ok(one(call.push("add", json!({}), &[x, product])?))
}

/// Half of the channels times the logistic function of the others.
pub fn glu(call: &mut Call) -> Read {
    let dim = call.int("dim", Some(-1))?;
    let x = call.value("self")?;
    let halves = call.push("chunk", json!({ "chunks": 2, "dim": dim }), &[x])?;
    let [Source::Live(a), Source::Live(b)] = call.results(halves)[..] else {
        return Err(Refusal::new("its axis has no halves"));
    };
    let gate = call.push("sigmoid", json!({}), &[b])?;
    Ok(one(call.push("mul", json!({}), &[a, gate])?))
}

/// `x·tanh(softplus(x))`.
pub fn mish(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let soft = call.push("softplus", json!({}), &[x])?;
    let gate = call.push("tanh", json!({}), &[soft])?;
    Ok(one(call.push("mul", json!({}), &[x, gate])?))
}

/// An exponential below zero with a slope that is the same on both sides.
pub fn celu(call: &mut Call) -> Read {
    let alpha = call.number("alpha").unwrap_or(1.0);
    let x = call.value("self")?;
    if alpha == 1.0 {
        return Ok(one(call.push("elu", json!({ "alpha": 1.0 }), &[x])?));
    }
    let scaled = call.push("div", json!({ "scalar": alpha }), &[x])?;
    let y = call.push("elu", json!({ "alpha": 1.0 }), &[scaled])?;
    Ok(one(call.push("mul", json!({ "scalar": alpha }), &[y])?))
}

/// The logarithm of the logistic function, `−softplus(−x)`.
pub fn log_sigmoid(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let minus = call.push("neg", json!({}), &[x])?;
    let soft = call.push("softplus", json!({}), &[minus])?;
    Ok(one(call.push("neg", json!({}), &[soft])?))
}

/// A slope below zero, which in evaluation is the middle of its bounds.
pub fn rrelu(call: &mut Call) -> Read {
    if call.flag("training", false) {
        let why = "its slope is random; export the network after .eval()";
        return Err(Refusal::new(why));
    }
    let lower = call.number("lower").unwrap_or(1.0 / 8.0);
    let upper = call.number("upper").unwrap_or(1.0 / 3.0);
    let slope = f64::midpoint(lower, upper);
    unary(call, "leaky_relu", json!({ "negative_slope": slope }))
}

/// Zero about zero, `x` beyond a bound.
pub fn hardshrink(call: &mut Call) -> Read {
    let bound = call.number("lambd").unwrap_or(0.5);
    let x = call.value("self")?;
    let magnitude = call.push("abs", json!({}), &[x])?;
    let is_beyond = call.push("gt", json!({ "scalar": bound }), &[magnitude])?;
    let zero = call.builder.value_of(&Source::made(Array::scalar(0.0)))?;
    Ok(one(call.push("where", json!({}), &[is_beyond, x, zero])?))
}

/// Zero about zero, and beyond a bound what `x` exceeds it by.
pub fn softshrink(call: &mut Call) -> Read {
    let bound = call.number("lambd").unwrap_or(0.5);
    let x = call.value("self")?;
    let inside = call.push("max", json!({ "scalar": -bound }), &[x])?;
    let inside = call.push("min", json!({ "scalar": bound }), &[inside])?;
    Ok(one(call.push("sub", json!({}), &[x, inside])?))
}

/// `x` above a threshold, one number up to it.
pub fn threshold(call: &mut Call) -> Read {
    let bound = call.number("threshold").unwrap_or(0.0);
    let value = call.number("value").unwrap_or(0.0);
    let x = call.value("self")?;
    let is_above = call.push("gt", json!({ "scalar": bound }), &[x])?;
    let filler = Source::made(Array::scalar(value as f32));
    let filler = call.builder.value_of(&filler)?;
    Ok(one(call.push(
        "where",
        json!({}),
        &[is_above, x, filler],
    )?))
}

/// Both in the wider type of the two.
fn fold_pair(function: Binary, a: &Array, b: &Array) -> Result<Array, Refusal> {
    let (from, to) = (a.values.dtype(), b.values.dtype());
    if from == to {
        return constant::binary(function, a, b);
    }
    let wider = wider(from, to);
    let cast = |array: &Array| constant::cast(array, wider);
    constant::binary(function, &cast(a)?, &cast(b)?)
}

fn wider(a: DType, b: DType) -> DType {
    if a == DType::F32 || b == DType::F32 {
        DType::F32
    } else {
        DType::I64
    }
}

fn live_pair(call: &mut Call, op: &str, right: &str) -> Result<Value, Refusal> {
    let a = call.source("self")?;
    let number = call.number(right).filter(|number| number.is_finite());
    let dtype = call.ty(&a).dtype;
    if let Some(scalar) = number
        && (dtype == DType::F32 || scalar.fract() == 0.0)
        && !matches!(a, Source::Known(_))
        && !(op == "div" && scalar == 0.0)
    {
        let mut a = call.builder.value_of(&a)?;
        if op == "div" && dtype != DType::F32 {
            a = call.push("to", json!({ "dtype": "f32" }), &[a])?;
        }
        return call.push(op, json!({ "scalar": scalar }), &[a]);
    }
    let b = call.source(right)?;
    let [a, b] = call.all_kept_once([a, b])?;
    let wider = match (dtype, call.ty(&b).dtype) {
        (a, b) if a == b && !(op == "div" && a != DType::F32) => a,
        _ if op == "div" => DType::F32,
        (a, b) => wider(a, b),
    };
    let (a, b) = (as_dtype(call, &a, wider)?, as_dtype(call, &b, wider)?);
    call.push(op, json!({}), &[a, b])
}

fn as_dtype(call: &mut Call, source: &Source, dtype: DType) -> Result<Value, Refusal> {
    let value = call.builder.value_of(source)?;
    if call.builder.type_of(value).dtype == dtype {
        return Ok(value);
    }
    call.push("to", json!({ "dtype": dtype.to_string() }), &[value])
}

/// One of two values by a condition.
pub fn choose(call: &mut Call) -> Read {
    let known = ["condition", "self", "other"].map(|name| call.known(name));
    if let [Some(condition), Some(a), Some(b)] = known {
        return Ok(made(constant::choose(&condition, &a, &b)?));
    }
    let [condition, a, b] = ["condition", "self", "other"].map(|name| call.source(name));
    let [condition, a, b] = call.all_kept_once([condition?, a?, b?])?;
    let condition = call.builder.value_of(&condition)?;
    let dtype = match (call.ty(&a).dtype, call.ty(&b).dtype) {
        (a, b) if a == b => a,
        (a, b) => wider(a, b),
    };
    let (a, b) = (as_dtype(call, &a, dtype)?, as_dtype(call, &b, dtype)?);
    Ok(one(call.push("where", json!({}), &[condition, a, b])?))
}

/// A number in place of the elements where a mask holds.
pub fn masked_fill(call: &mut Call) -> Read {
    let (own, filler) = (call.source("self")?, call.source("value")?);
    let dtype = call.ty(&own).dtype;
    if let (Some(mask), Some(own), Source::Known(filler)) =
        (call.known("mask"), call.known("self"), &filler)
    {
        let filler = constant::cast(&filler.array, dtype)?;
        return Ok(made(constant::choose(&mask, &filler, &own)?));
    }
    let filler = match filler {
        Source::Known(known) => Source::made(constant::cast(&known.array, dtype)?),
        other => other,
    };
    let [mask, own] = call.all_kept_once([call.source("mask")?, own])?;
    let mask = call.builder.value_of(&mask)?;
    let (own, filler) = (
        call.builder.value_of(&own)?,
        call.builder.value_of(&filler)?,
    );
    Ok(one(call.push("where", json!({}), &[mask, filler, own])?))
}

/// Another element type, or another place, which changes nothing.
pub fn cast(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let dtype = call.dtype("dtype").unwrap_or(call.ty(&source).dtype);
    if call.ty(&source).dtype == dtype {
        return Ok(vec![source]);
    }
    if let Some(array) = call.known("self") {
        return Ok(made(constant::cast(&array, dtype)?));
    }
    Ok(one(as_dtype(call, &source, dtype)?))
}

/// The value itself: copies, orders in memory, dropped channels in evaluation.
pub fn same(call: &mut Call) -> Read {
    if call.flag("train", false) {
        let why = "it drops elements; export the network after .eval()";
        return Err(Refusal::new(why));
    }
    Ok(vec![call.source("self").or_else(|_| call.source("input"))?])
}

/// An assertion about types, which the verifier makes too.
#[expect(clippy::unnecessary_wraps, reason = "the signature of the table")]
pub fn nothing(call: &mut Call) -> Read {
    call.accept_all();
    Ok(Vec::new())
}

/// One number written into a known tensor, or into the tensor that it is a view of.
pub fn fill(call: &mut Call) -> Read {
    let (Source::Known(mut own), Some(value)) = (call.source("self")?, call.known("value")) else {
        return Err(Refusal::new("only constants are filled in place"));
    };
    let value = constant::cast(&value, own.array.values.dtype())?;
    own.array = constant::filled(&own.array.shape, &value)?;
    if let Some((base, places)) = &own.view_of
        && let Some(Source::Known(mut whole)) = call.builder.find(base).cloned()
    {
        for &place in places.integers().unwrap_or_default() {
            write(&mut whole.array.values, place as usize, &value.values);
        }
        call.builder.forget_views(base);
        call.builder.replace(base, Source::Known(whole));
    } else if let Some(name) = call.value_name("self") {
        call.builder.replace(name, Source::Known(own.clone()));
    }
    Ok(vec![Source::Known(own)])
}

fn write(values: &mut Values, place: usize, value: &Values) {
    match (values, value) {
        (Values::F32(values), Values::F32(value)) => values[place] = value[0],
        (Values::I64(values), Values::I64(value)) => values[place] = value[0],
        (Values::Bool(values), Values::Bool(value)) => values[place] = value[0],
        _ => {}
    }
}
