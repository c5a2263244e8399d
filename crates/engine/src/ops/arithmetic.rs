//! Addition, subtraction, multiplication and division, of two broadcast operands or with a number.

use super::pair::PairFunction;
use super::{Lowered, Site};
use crate::step::{Memory, Step, Wires};
use kernels::elementwise;
use kernels::permute::{broadcast_zip, reduce_to};

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Add,
    Sub,
    Mul,
    Div,
}

pub(crate) fn lower(kind: Kind, scalar: Option<f64>, site: &Site) -> Lowered {
    match scalar {
        Some(scalar) => WithScalar {
            kind,
            scalar: scalar as f32,
        }
        .into(),
        None => Binary {
            kind,
            len: site.outputs[0].iter().product(),
        }
        .into(),
    }
}

/// One operand and a number.
struct WithScalar {
    kind: Kind,
    scalar: f32,
}

impl Step for WithScalar {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let s = self.scalar;
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        match self.kind {
            Kind::Add => elementwise::map(x, y, |x| x + s),
            Kind::Sub => elementwise::map(x, y, |x| x - s),
            Kind::Mul => elementwise::map(x, y, |x| x * s),
            Kind::Div => elementwise::map(x, y, |x| x / s),
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let s = self.scalar;
        let [dy, dx] = memory.split([wires.dy(), target]);
        match self.kind {
            Kind::Add | Kind::Sub => dx.copy_from_slice(dy),
            Kind::Mul => elementwise::map(dy, dx, |d| d * s),
            Kind::Div => elementwise::map(dy, dx, |d| d / s),
        }
        memory.commit_grad(wires, 0);
    }
}

/// Two operands, broadcast to the shape of the result.
struct Binary {
    kind: Kind,
    /// Elements of the result.
    len: usize,
}

impl Binary {
    /// The gradient of input `i` at the shape of the result: dy times the derivative.
    fn spread_gradient(&self, i: usize, wires: &Wires, memory: &mut Memory) {
        let shapes = [
            &wires.inputs[0].shape[..],
            &wires.inputs[1].shape,
            &wires.outputs[0].shape,
        ];
        let [a, b, dy, spread] =
            memory.split([wires.x(0), wires.x(1), wires.dy(), wires.scratch.clone()]);
        let [a_shape, b_shape, y_shape] = shapes;
        let spread = &mut spread[..self.len];
        match (self.kind, i) {
            (Kind::Add, _) | (Kind::Sub, 0) => spread.copy_from_slice(dy),
            (Kind::Sub, _) => elementwise::map(dy, spread, |d| -d),
            (Kind::Mul, 0) => broadcast_zip(dy, y_shape, b, b_shape, spread, y_shape, |d, b| d * b),
            (Kind::Mul, _) => broadcast_zip(dy, y_shape, a, a_shape, spread, y_shape, |d, a| d * a),
            (Kind::Div, 0) => broadcast_zip(dy, y_shape, b, b_shape, spread, y_shape, |d, b| d / b),
            (Kind::Div, _) => {
                broadcast_zip(a, a_shape, b, b_shape, spread, y_shape, |a, b| -a / (b * b));
                elementwise::zip_inplace(dy, spread, |d, slope| d * slope);
            }
        }
    }
}

impl Step for Binary {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [a_shape, b_shape] = [&wires.inputs[0].shape, &wires.inputs[1].shape];
        let y_shape = &wires.outputs[0].shape;
        let [a, b, y] = memory.split([wires.x(0), wires.x(1), wires.y()]);
        match self.kind {
            Kind::Add => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a + b),
            Kind::Sub => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a - b),
            Kind::Mul => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a * b),
            Kind::Div => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a / b),
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        for i in 0..2 {
            let Some(target) = wires.grad_target(i) else {
                continue;
            };
            let (dy_shape, dx_shape) = (&wires.outputs[0].shape, &wires.inputs[i].shape);
            // A plain sum needs no detour.
            let plain = matches!((self.kind, i), (Kind::Add, _) | (Kind::Sub, 0));
            if plain {
                let [dy, dx] = memory.split([wires.dy(), target]);
                reduce_to(dy, dy_shape, dx, dx_shape);
            } else {
                self.spread_gradient(i, wires, memory);
                let [spread, dx] = memory.split([wires.scratch.clone(), target]);
                reduce_to(&spread[..self.len], dy_shape, dx, dx_shape);
            }
            memory.commit_grad(wires, i);
        }
    }

    fn scratch_len(&self) -> usize {
        if self.kind == Kind::Add { 0 } else { self.len }
    }
}

/// The larger of two elements; NaN is larger than any number, and equal elements share the gradient.
#[derive(Clone, Copy)]
pub(crate) struct Max;

impl PairFunction for Max {
    const HAS_SLOPE: bool = true;

    fn value(self, a: f32, b: f32) -> f32 {
        if a > b || a.is_nan() { a } else { b }
    }

    fn slopes(self, a: f32, b: f32) -> [f32; 2] {
        shares(a, b)
    }
}

/// The smaller of two elements; NaN is smaller than any number, and equal elements share the gradient.
#[derive(Clone, Copy)]
pub(crate) struct Min;

impl PairFunction for Min {
    const HAS_SLOPE: bool = true;

    fn value(self, a: f32, b: f32) -> f32 {
        if a < b || a.is_nan() { a } else { b }
    }

    fn slopes(self, a: f32, b: f32) -> [f32; 2] {
        shares(b, a)
    }
}

/// The shares of the larger and the other.
fn shares(a: f32, b: f32) -> [f32; 2] {
    if a == b {
        [0.5, 0.5]
    } else if a > b {
        [1.0, 0.0]
    } else {
        [0.0, 1.0]
    }
}

/// `a^b`.
#[derive(Clone, Copy)]
pub(crate) struct Pow;

impl PairFunction for Pow {
    const HAS_SLOPE: bool = true;

    fn value(self, a: f32, b: f32) -> f32 {
        if b == 2.0 { a * a } else { a.powf(b) }
    }

    fn slopes(self, a: f32, b: f32) -> [f32; 2] {
        let by_base = if b == 0.0 {
            0.0
        } else {
            b * self.value(a, b - 1.0)
        };
        let by_exponent = if a == 0.0 && b >= 0.0 {
            0.0
        } else {
            a.powf(b) * a.ln()
        };
        [by_base, by_exponent]
    }
}

/// Sums, differences and products in exact integers.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::range::{CodeRange, Fit, refined};
    use crate::integer::walk::broadcast_indices;
    use crate::integer::{Lowered, Param, Site, Source};
    use crate::ops::activation::integer::clamp;
    use crate::ops::batch_norm::integer::affine;

    /// `a + b`, or `a − b`.
    pub(crate) fn add(
        scalar: Option<f64>,
        subtract: bool,
        site: &Site,
    ) -> Result<Lowered, Refusal> {
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
        let source = Source::Sum {
            indices: indices(site),
            bits: [a_bits, b_bits],
            subtract,
        };
        Ok(Lowered::step(source, range))
    }

    /// `a·b`.
    pub(crate) fn mul(scalar: Option<f64>, site: &Site) -> Result<Lowered, Refusal> {
        let a = site.operands[0].range;
        if let Some(scalar) = scalar {
            return times(a, exact(scalar)?);
        }
        let range = a.times(site.operands[1].range).fit()?;
        let indices = indices(site);
        Ok(Lowered::step(Source::Product { indices }, range))
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

    /// `max(a, b)` or `min(a, b)` for a number b.
    pub(crate) fn bound(
        scalar: Option<f64>,
        is_max: bool,
        site: &Site,
    ) -> Result<Lowered, Refusal> {
        let why = "an extreme of two values has no exact integer form; bound one by a number";
        let scalar = scalar.ok_or_else(|| Refusal::NoForm(why.to_owned()))?;
        let (low, high) = (is_max.then_some(scalar), (!is_max).then_some(scalar));
        clamp(low, high, site)
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

    /// For each element of the result the element of each operand.
    fn indices(site: &Site) -> [Vec<usize>; 2] {
        [0, 1].map(|k| broadcast_indices(&site.operands[k].shape, &site.outputs[0]))
    }
}
