//! Batch normalisation in evaluation: `y = x·scale + shift`, both rounded to the formats of weight and bias.

use super::{Lowered, Param, Site};
use crate::Mode;
use crate::fuse::Fusion;
use crate::integer::error::Refusal;
use crate::integer::range::{CodeRange, product_frac};
use crate::integer::stage::Stage;
use crate::ops::batch_norm::NormCoefficients;

pub(crate) fn lower(site: &Site) -> Result<Lowered, Refusal> {
    let shape = &site.operands[0].shape;
    let [scale, shift] = coefficients(site);
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
    let one = |&code: &i64| {
        let range = CodeRange {
            min: code.into(),
            max: code.into(),
            frac: from,
        };
        Ok(range.with_frac(to)?.0.min as i64)
    };
    codes.iter().map(one).collect()
}

/// Scale and shift as the float engine uses them: its norm, folded into the identity.
fn coefficients(site: &Site) -> [Vec<f32>; 2] {
    let fusion = Fusion::default();
    let float_site = crate::ops::Site {
        id: site.id,
        node: site.node,
        graph: site.graph,
        state: site.state,
        inputs: vec![site.operands[0].shape.clone()],
        outputs: site.outputs.clone(),
        mode: Mode::Eval,
        fusion: &fusion,
        batch: 1,
        rows: 1,
    };
    let channels = site.operands[0].shape[1];
    let (mut scale, mut shift) = (vec![1.0; channels], vec![0.0; channels]);
    NormCoefficients::of(site.id, &float_site).fold_into_rows(site.state, &mut scale, &mut shift);
    [scale, shift]
}
