//! Functions of single elements, with broadcasting.

use super::{Array, Refusal, Size, Values, broadcast_shapes, check_growth, spread};
use ir::DType;

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// −x.
    Neg,
    /// |x|.
    Abs,
    /// √x.
    Sqrt,
    /// 1/x.
    Reciprocal,
    /// eˣ.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// The largest whole number up to x.
    Floor,
    /// The smallest whole number from x on.
    Ceil,
    /// The nearest whole number, of two the even one.
    Round,
    /// −1, 0 or 1.
    Sign,
    /// Negation of a truth value.
    Not,
    /// Hyperbolic tangent.
    Tanh,
    /// Logistic function.
    Sigmoid,
}

/// A function of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// a + b.
    Add,
    /// a − b.
    Sub,
    /// a·b.
    Mul,
    /// a/b, of integers towards zero.
    Div,
    /// aᵇ.
    Pow,
    /// The larger one.
    Max,
    /// The smaller one.
    Min,
    /// The remainder with the sign of b.
    Mod,
    /// The remainder with the sign of a.
    Remainder,
    /// a = b.
    Eq,
    /// a < b.
    Lt,
    /// a ≤ b.
    Le,
    /// a > b.
    Gt,
    /// a ≥ b.
    Ge,
    /// Both.
    And,
    /// One of them or both.
    Or,
    /// One of them.
    Xor,
}

/// A function of every element.
pub fn unary(function: Unary, array: &Array) -> Result<Array, Refusal> {
    let refused = || {
        Refusal::new(format!(
            "{function:?} of {} is not evaluated",
            array.values.dtype()
        ))
    };
    let values = match &array.values {
        Values::F32(values) => {
            let of = float_function(function).ok_or_else(refused)?;
            Values::F32(values.iter().map(|&x| of(x)).collect())
        }
        Values::I64(values) => {
            let of: fn(i64) -> Option<i64> = match function {
                Unary::Neg => i64::checked_neg,
                Unary::Abs => i64::checked_abs,
                Unary::Sign => |x| Some(x.signum()),
                Unary::Floor | Unary::Ceil | Unary::Round => Some,
                _ => return Err(refused()),
            };
            let results: Option<Vec<i64>> = values.iter().map(|&x| of(x)).collect();
            Values::I64(results.ok_or_else(|| Refusal::new(format!("{function:?} overflows")))?)
        }
        Values::Bool(values) if function == Unary::Not => {
            Values::Bool(values.iter().map(|&x| !x).collect())
        }
        Values::Bool(_) | Values::Sizes(_) => return Err(refused()),
    };
    Ok(Array::new(array.shape.clone(), values))
}

fn float_function(function: Unary) -> Option<fn(f32) -> f32> {
    Some(match function {
        Unary::Neg => |x| -x,
        Unary::Abs => f32::abs,
        Unary::Sqrt => f32::sqrt,
        Unary::Reciprocal => f32::recip,
        Unary::Exp => f32::exp,
        Unary::Log => f32::ln,
        Unary::Sin => f32::sin,
        Unary::Cos => f32::cos,
        Unary::Floor => f32::floor,
        Unary::Ceil => f32::ceil,
        Unary::Round => f32::round_ties_even,
        Unary::Sign => |x| if x == 0.0 { 0.0 } else { x.signum() },
        Unary::Tanh => f32::tanh,
        Unary::Sigmoid => |x| 1.0 / (1.0 + (-x).exp()),
        Unary::Not => return None,
    })
}

/// A function of the elements of two tensors that broadcast.
pub fn binary(function: Binary, a: &Array, b: &Array) -> Result<Array, Refusal> {
    let shape = broadcast_shapes(&a.shape, &b.shape)?;
    check_growth(&shape, a.values.len() + b.values.len())?;
    let (a, b) = (spread(a, &shape)?, spread(b, &shape)?);
    let values = match (&a.values, &b.values) {
        (Values::F32(a), Values::F32(b)) => floats(function, a, b),
        (Values::I64(a), Values::I64(b)) => integers(function, a, b),
        (Values::Bool(a), Values::Bool(b)) => truths(function, a, b),
        (Values::Sizes(_), Values::I64(_) | Values::Sizes(_))
        | (Values::I64(_), Values::Sizes(_)) => {
            let (a, b) = (a.sizes().unwrap_or_default(), b.sizes().unwrap_or_default());
            sizes(function, &a, &b)
        }
        (a, b) => {
            let (a, b) = (a.dtype(), b.dtype());
            Err(Refusal::new(format!(
                "{function:?} of {a} and {b} is not evaluated"
            )))
        }
    };
    Ok(Array::new(shape, values?))
}

fn zip<A: Copy, R>(a: &[A], b: &[A], of: impl Fn(A, A) -> R) -> Vec<R> {
    a.iter().zip(b).map(|(&a, &b)| of(a, b)).collect()
}

fn compare<A: Copy + PartialOrd>(function: Binary, a: &[A], b: &[A]) -> Option<Values> {
    let of: fn(A, A) -> bool = match function {
        Binary::Eq => |a, b| a == b,
        Binary::Lt => |a, b| a < b,
        Binary::Le => |a, b| a <= b,
        Binary::Gt => |a, b| a > b,
        Binary::Ge => |a, b| a >= b,
        _ => return None,
    };
    Some(Values::Bool(zip(a, b, of)))
}

fn floats(function: Binary, a: &[f32], b: &[f32]) -> Result<Values, Refusal> {
    if let Some(truth) = compare(function, a, b) {
        return Ok(truth);
    }
    let of: fn(f32, f32) -> f32 = match function {
        Binary::Add => |a, b| a + b,
        Binary::Sub => |a, b| a - b,
        Binary::Mul => |a, b| a * b,
        Binary::Div => |a, b| a / b,
        Binary::Pow => f32::powf,
        Binary::Max => f32::max,
        Binary::Min => f32::min,
        Binary::Remainder => |a, b| a % b,
        _ => {
            return Err(Refusal::new(format!(
                "{function:?} of floats is not evaluated"
            )));
        }
    };
    Ok(Values::F32(zip(a, b, of)))
}

fn integers(function: Binary, a: &[i64], b: &[i64]) -> Result<Values, Refusal> {
    if let Some(truth) = compare(function, a, b) {
        return Ok(truth);
    }
    let of: fn(i64, i64) -> Option<i64> = match function {
        Binary::Add => i64::checked_add,
        Binary::Sub => i64::checked_sub,
        Binary::Mul => i64::checked_mul,
        Binary::Div => i64::checked_div,
        Binary::Pow => |a, b| a.checked_pow(u32::try_from(b).ok()?),
        Binary::Max => |a, b| Some(a.max(b)),
        Binary::Min => |a, b| Some(a.min(b)),
        Binary::Mod => |a, b| {
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            })
        },
        Binary::Remainder => i64::checked_rem,
        _ => {
            return Err(Refusal::new(format!(
                "{function:?} of integers is not evaluated"
            )));
        }
    };
    let values: Option<Vec<i64>> = zip(a, b, of).into_iter().collect();
    let overflow = || {
        Refusal::new(format!(
            "{function:?} of two constants overflows or divides by 0"
        ))
    };
    Ok(Values::I64(values.ok_or_else(overflow)?))
}

fn truths(function: Binary, a: &[bool], b: &[bool]) -> Result<Values, Refusal> {
    let of: fn(bool, bool) -> bool = match function {
        Binary::And => |a, b| a && b,
        Binary::Or => |a, b| a || b,
        Binary::Xor => |a, b| a != b,
        Binary::Eq => |a, b| a == b,
        _ => {
            return Err(Refusal::new(format!(
                "{function:?} of truth values is not evaluated"
            )));
        }
    };
    Ok(Values::Bool(zip(a, b, of)))
}

fn sizes(function: Binary, a: &[Size], b: &[Size]) -> Result<Values, Refusal> {
    let unknown = || {
        Refusal::new(format!(
            "{function:?} of sizes that depend on the batch is not known"
        ))
    };
    let pairs = || a.iter().copied().zip(b.iter().copied());
    if function == Binary::Eq {
        // A batch is never empty, so that its multiples have the sign of their factors.
        let differ = |a: Size, b: Size| a.factor.signum() != b.factor.signum();
        let same = pairs().map(|(a, b)| {
            if a.of_batch == b.of_batch {
                Some(a.factor == b.factor)
            } else {
                differ(a, b).then_some(false)
            }
        });
        let same: Option<Vec<bool>> = same.collect();
        return Ok(Values::Bool(same.ok_or_else(unknown)?));
    }
    let results: Option<Vec<Size>> = pairs().map(|(a, b)| size(function, a, b)).collect();
    Ok(Values::Sizes(results.ok_or_else(unknown)?))
}

fn size(function: Binary, a: Size, b: Size) -> Option<Size> {
    let with = |factor: i64, of_batch: bool| Size {
        factor,
        of_batch: of_batch && factor != 0,
    };
    let divides = b.factor != 0 && a.factor.checked_rem(b.factor) == Some(0);
    let alike = a.of_batch == b.of_batch;
    match function {
        Binary::Mul if !(a.of_batch && b.of_batch) => Some(with(
            a.factor.checked_mul(b.factor)?,
            a.of_batch || b.of_batch,
        )),
        Binary::Add if alike => Some(with(a.factor.checked_add(b.factor)?, a.of_batch)),
        Binary::Add | Binary::Sub if b.factor == 0 => Some(a),
        Binary::Add if a.factor == 0 => Some(b),
        Binary::Sub if alike => Some(with(a.factor.checked_sub(b.factor)?, a.of_batch)),
        Binary::Div if divides && alike => Some(with(a.factor / b.factor, false)),
        Binary::Div if divides && !b.of_batch => Some(with(a.factor / b.factor, true)),
        Binary::Max if alike && a.of_batch => Some(with(a.factor.max(b.factor), true)),
        Binary::Min if alike && a.of_batch => Some(with(a.factor.min(b.factor), true)),
        // A batch has at least one row.
        Binary::Max if a.of_batch && b.factor.max(0) <= a.factor => Some(a),
        Binary::Max if b.of_batch && a.factor.max(0) <= b.factor => Some(b),
        _ => None,
    }
}

/// `a` where the condition holds, else `b`.
pub fn choose(condition: &Array, a: &Array, b: &Array) -> Result<Array, Refusal> {
    let shape = broadcast_shapes(&a.shape, &b.shape)?;
    let shape = broadcast_shapes(&shape, &condition.shape)?;
    check_growth(&shape, a.values.len() + b.values.len())?;
    let (condition, a, b) = (
        spread(condition, &shape)?,
        spread(a, &shape)?,
        spread(b, &shape)?,
    );
    let Values::Bool(truth) = &condition.values else {
        return Err(Refusal::new("a condition is not of truth values"));
    };
    let values = match (&a.values, &b.values) {
        (Values::F32(a), Values::F32(b)) => Values::F32(pick(truth, a, b)),
        (Values::I64(a), Values::I64(b)) => Values::I64(pick(truth, a, b)),
        (Values::Bool(a), Values::Bool(b)) => Values::Bool(pick(truth, a, b)),
        (Values::Sizes(_) | Values::I64(_), Values::Sizes(_))
        | (Values::Sizes(_), Values::I64(_)) => {
            let (a, b) = (a.sizes().unwrap_or_default(), b.sizes().unwrap_or_default());
            Values::Sizes(pick(truth, &a, &b))
        }
        _ => return Err(Refusal::new("a choice between two types is not evaluated")),
    };
    Ok(Array::new(shape, values))
}

/// The elements as another type: floats towards zero, truth values as 0 and 1.
pub fn cast(array: &Array, dtype: DType) -> Result<Array, Refusal> {
    let values = match (&array.values, dtype) {
        (Values::F32(values), DType::I64) => {
            Values::I64(values.iter().map(|&x| x as i64).collect())
        }
        (Values::F32(values), DType::Bool) => {
            Values::Bool(values.iter().map(|&x| x != 0.0).collect())
        }
        (Values::I64(values), DType::F32) => {
            Values::F32(values.iter().map(|&x| x as f32).collect())
        }
        (Values::I64(values), DType::Bool) => {
            Values::Bool(values.iter().map(|&x| x != 0).collect())
        }
        (Values::Bool(values), DType::F32) => {
            Values::F32(values.iter().map(|&x| f32::from(u8::from(x))).collect())
        }
        (Values::Bool(values), DType::I64) => {
            Values::I64(values.iter().map(|&x| i64::from(x)).collect())
        }
        (values, dtype) if values.dtype() == dtype => values.clone(),
        (_, dtype) => {
            return Err(Refusal::new(format!(
                "a size of the batch is not known as {dtype}"
            )));
        }
    };
    Ok(Array::new(array.shape.clone(), values))
}

fn pick<T: Clone>(truth: &[bool], a: &[T], b: &[T]) -> Vec<T> {
    let pairs = truth.iter().zip(a.iter().zip(b));
    pairs
        .map(|(&t, (a, b))| if t { a } else { b }.clone())
        .collect()
}
