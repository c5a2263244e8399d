//! Evaluation in exact integers: `y = x·scale + shift`, both rounded to the formats of weight and bias.

use super::NormCoefficients;
use crate::integer::error::Refusal;
use crate::integer::range::{CodeRange, product_frac, refined};
use crate::integer::{Lowered, Param, Site, Stage};

pub(crate) fn lower(site: &Site) -> Result<Lowered, Refusal> {
    let shape = &site.operands[0].shape;
    let norm = NormCoefficients::of(site.id, site.graph, site.state);
    let [scale, shift] = norm.scale_and_shift(site.state);
    let (scale, shift) = (site.encode("weight", &scale)?, site.encode("bias", &shift)?);
    let inner = shape[2..].iter().product::<usize>().max(1);
    let stage = affine(site.operands[0].range.frac, &scale, &shift, inner)?;
    Ok(Lowered::Stages(vec![stage]))
}

/// `x·scale + shift` with the finer of the two steps.
pub(crate) fn affine(
    frac: i32,
    scale: &Param,
    shift: &Param,
    inner: usize,
) -> Result<Stage, Refusal> {
    let product = product_frac(frac, scale.frac)?;
    let finest = product.max(shift.frac);
    Ok(Stage::Affine {
        scale: moved(&scale.codes, product, finest)?,
        offset: moved(&shift.codes, shift.frac, finest)?,
        inner,
        frac: finest,
    })
}

/// Codes of one step as codes of a finer one.
pub(crate) fn moved(codes: &[i64], from: i32, to: i32) -> Result<Vec<i64>, Refusal> {
    let one = |&code: &i64| Ok(refined(CodeRange::code(code.into(), from), to)?.0.min as i64);
    codes.iter().map(one).collect()
}
