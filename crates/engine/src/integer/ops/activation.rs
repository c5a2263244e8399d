//! Activations that are a clamp: relu, relu6, hardtanh.

use super::{Lowered, Site};
use crate::integer::error::Refusal;
use crate::integer::range::{CodeRange, refined};
use crate::integer::stage::Stage;

/// Clamps to bounds that must be codes of the operand.
pub(crate) fn clamp(lo: Option<f64>, hi: Option<f64>, site: &Site) -> Result<Lowered, Refusal> {
    let frac = site.operands[0].range.frac;
    let bound = |value: Option<f64>, none: i64| value.map_or(Ok(none), |v| code_of(v, frac));
    let (lo, hi) = (bound(lo, i64::MIN)?, bound(hi, i64::MAX)?);
    Ok(Lowered::Stages(vec![Stage::Clamp { lo, hi }]))
}

/// The code of a bound; beyond `i64` no operand reaches it.
fn code_of(value: f64, frac: i32) -> Result<i64, Refusal> {
    let off_grid = || {
        let why = format!(
            "the bound {value} is not a multiple of its operand's step 2^{}",
            -i64::from(frac)
        );
        Refusal::NoForm(why)
    };
    let code = CodeRange::number(value).ok_or_else(off_grid)?;
    if code.frac > frac && code.magnitude() != 0 {
        return Err(off_grid());
    }
    let beyond = if value < 0.0 { i64::MIN } else { i64::MAX };
    Ok(refined(code, frac).map_or(beyond, |(code, _)| code.min as i64))
}
