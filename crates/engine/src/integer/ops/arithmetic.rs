//! Sums, differences and products of two broadcast operands, or with a number.

use super::batch_norm::affine;
use super::{Lowered, Param, Site, WideKernel};
use crate::integer::error::Refusal;
use crate::integer::range::{CodeRange, Fit, refined};
use crate::integer::walk::broadcast_indices;

/// `a + b`, or `a − b`.
pub(crate) fn add(scalar: Option<f64>, subtract: bool, site: &Site) -> Result<Lowered, Refusal> {
    let a = site.operands[0].range;
    if let Some(scalar) = scalar {
        let offset = exact(if subtract { -scalar } else { scalar })?;
        let one = Param {
            codes: vec![1],
            frac: 0,
        };
        return Ok(Lowered::Stages(vec![affine(
            a.frac,
            &one,
            &param(offset),
            1,
        )?]));
    }
    let b = site.operands[1].range;
    let frac = a.frac.max(b.frac);
    let ((a, a_bits), (b, b_bits)) = (refined(a, frac)?, refined(b, frac)?);
    let b = if subtract { b.negated().fit()? } else { b };
    let range = a.plus(b).fit()?;
    let kind = Kind::Sum {
        bits: [a_bits, b_bits],
        subtract,
    };
    Ok(Lowered::Kernel(
        Binary::new(kind, site).into(),
        range,
        Vec::new(),
    ))
}

/// `a·b`.
pub(crate) fn mul(scalar: Option<f64>, site: &Site) -> Result<Lowered, Refusal> {
    let a = site.operands[0].range;
    if let Some(scalar) = scalar {
        return times(a, exact(scalar)?);
    }
    let range = a.times(site.operands[1].range).fit()?;
    Ok(Lowered::Kernel(
        Binary::new(Kind::Product, site).into(),
        range,
        Vec::new(),
    ))
}

/// `a/b` for a number b that is a power of two.
pub(crate) fn div(scalar: Option<f64>, site: &Site) -> Result<Lowered, Refusal> {
    let refuse = |why: &str| Refusal::NoForm(why.to_owned());
    let scalar =
        scalar.ok_or_else(|| refuse("a quotient of two values has no exact integer form"))?;
    if !CodeRange::number(scalar).is_some_and(CodeRange::is_power_of_two) {
        let why = format!(
            "the divisor {scalar} is not a power of two, so that the quotient is not exact"
        );
        return Err(Refusal::NoForm(why));
    }
    times(site.operands[0].range, exact(scalar.recip())?)
}

fn times(a: CodeRange, factor: CodeRange) -> Result<Lowered, Refusal> {
    let zero = Param {
        codes: vec![0],
        frac: i32::MIN,
    };
    Ok(Lowered::Stages(vec![affine(
        a.frac,
        &param(factor),
        &zero,
        1,
    )?]))
}

fn param(number: CodeRange) -> Param {
    Param {
        codes: vec![number.min as i64],
        frac: number.frac,
    }
}

fn exact(scalar: f64) -> Result<CodeRange, Refusal> {
    let why = || {
        Refusal::NoForm(format!(
            "the number {scalar} has no exact fixed-point form of 24 bits"
        ))
    };
    CodeRange::number(scalar).ok_or_else(why)
}

enum Kind {
    /// Each operand moved left by its bits, then added, or the second subtracted.
    Sum {
        bits: [u32; 2],
        subtract: bool,
    },
    Product,
}

/// Two operands, broadcast to the shape of the result.
struct Binary {
    kind: Kind,
    /// For each element of the result the element of each operand.
    indices: [Vec<usize>; 2],
}

impl Binary {
    fn new(kind: Kind, site: &Site) -> Self {
        let index = |k: usize| broadcast_indices(&site.operands[k].shape, &site.outputs[0]);
        Self {
            kind,
            indices: [index(0), index(1)],
        }
    }
}

impl WideKernel for Binary {
    fn run(&self, operands: &[Vec<i64>], y: &mut [i64]) {
        let pairs = self.indices[0].iter().zip(&self.indices[1]);
        let pairs = pairs.map(|(&a, &b)| (operands[0][a], operands[1][b]));
        match &self.kind {
            Kind::Sum { bits, subtract } => {
                for (y, (a, b)) in y.iter_mut().zip(pairs) {
                    let (a, b) = (a << bits[0], b << bits[1]);
                    *y = if *subtract { a - b } else { a + b };
                }
            }
            Kind::Product => {
                for (y, (a, b)) in y.iter_mut().zip(pairs) {
                    *y = a * b;
                }
            }
        }
    }
}
