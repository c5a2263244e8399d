//! Reductions over axes: sums and means, extremes, products.

use super::Site;
use super::permute::axis;
use crate::step::{Memory, Step, Wires};
use kernels::elementwise;
use kernels::permute::{broadcast_zip, fold_to, reduce_to, sum_axes};

/// The axes of a value that are reduced.
struct Axes {
    reduced: Vec<bool>,
    /// The result's shape with the reduced axes kept at size one.
    kept: Vec<usize>,
    /// Elements of the value, and of the result.
    len: [usize; 2],
}

impl Axes {
    fn new(dims: &[i64], site: &Site) -> Self {
        let shape = &site.inputs[0];
        let mut reduced = vec![dims.is_empty(); shape.len()];
        for &dim in dims {
            reduced[axis(dim, shape.len())] = true;
        }
        let kept: Vec<usize> = shape
            .iter()
            .zip(&reduced)
            .map(|(&n, &r)| if r { 1 } else { n })
            .collect();
        let len = [shape.iter().product(), kept.iter().product()];
        Self { reduced, kept, len }
    }
}

/// Sum over axes, times a factor.
pub(crate) struct Total {
    axes: Axes,
    scale: f32,
}

impl Total {
    pub fn mean(dims: &[i64], site: &Site) -> Self {
        let axes = Axes::new(dims, site);
        let count = axes.len[0] / axes.len[1].max(1);
        Self {
            axes,
            scale: 1.0 / count as f32,
        }
    }

    pub fn sum(dims: &[i64], site: &Site) -> Self {
        Self {
            axes: Axes::new(dims, site),
            scale: 1.0,
        }
    }
}

impl Step for Total {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        sum_axes(x, &wires.inputs[0].shape, &self.axes.reduced, y);
        elementwise::scale(y, self.scale);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let shape = &wires.inputs[0].shape;
        let [dy, dx] = memory.split([wires.dy(), target]);
        let (kept, scale) = (&self.axes.kept, self.scale);
        broadcast_zip(dy, kept, &[scale], &[], dx, shape, |d, s| d * s);
        memory.commit_grad(wires, 0);
    }
}

/// The largest or the smallest element along axes; equal ones share the gradient.
pub(crate) struct Extreme {
    axes: Axes,
    is_max: bool,
}

impl Extreme {
    pub fn new(dims: &[i64], is_max: bool, site: &Site) -> Self {
        Self {
            axes: Axes::new(dims, site),
            is_max,
        }
    }
}

impl Step for Extreme {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (shape, kept) = (&wires.inputs[0].shape, &self.axes.kept);
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        if self.is_max {
            y.fill(f32::NEG_INFINITY);
            fold_to(
                x,
                shape,
                y,
                kept,
                |y, x| if y > x || y.is_nan() { y } else { x },
            );
        } else {
            y.fill(f32::INFINITY);
            fold_to(
                x,
                shape,
                y,
                kept,
                |y, x| if y < x || y.is_nan() { y } else { x },
            );
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let (shape, kept) = (&wires.inputs[0].shape, &self.axes.kept);
        let [x, y, dy, scratch, dx] = memory.split([
            wires.x(0),
            wires.y(),
            wires.dy(),
            wires.scratch.clone(),
            target,
        ]);
        let [len, results] = self.axes.len;
        let (is_extreme, shares) = scratch[..len + results].split_at_mut(len);
        broadcast_zip(x, shape, y, kept, is_extreme, shape, |x, y| {
            if x == y { 1.0 } else { 0.0 }
        });
        reduce_to(is_extreme, shape, shares, kept);
        elementwise::zip_inplace(dy, shares, |dy, count| dy / count.max(1.0));
        broadcast_zip(is_extreme, shape, shares, kept, dx, shape, |is, share| {
            is * share
        });
        memory.commit_grad(wires, 0);
    }

    fn scratch_len(&self) -> usize {
        self.axes.len[0] + self.axes.len[1]
    }
}

/// The product along axes.
pub(crate) struct Product {
    axes: Axes,
}

impl Product {
    pub fn new(dims: &[i64], site: &Site) -> Self {
        Self {
            axes: Axes::new(dims, site),
        }
    }
}

impl Step for Product {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        y.fill(1.0);
        fold_to(x, &wires.inputs[0].shape, y, &self.axes.kept, |y, x| y * x);
    }

    /// The gradient of an element is the product of the others: with one zero among them it belongs to that alone, with
    /// two to none.
    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let (shape, kept) = (&wires.inputs[0].shape, &self.axes.kept);
        let [len, results] = self.axes.len;
        let [x, dy, scratch, dx] =
            memory.split([wires.x(0), wires.dy(), wires.scratch.clone(), target]);
        let (spread, rest) = scratch[..len + 2 * results].split_at_mut(len);
        let (products, zeros) = rest.split_at_mut(results);
        products.fill(1.0);
        fold_to(
            x,
            shape,
            products,
            kept,
            |y, x| if x == 0.0 { y } else { y * x },
        );
        zeros.fill(0.0);
        fold_to(
            x,
            shape,
            zeros,
            kept,
            |n, x| if x == 0.0 { n + 1.0 } else { n },
        );
        elementwise::zip_inplace(dy, products, |dy, product| dy * product);
        broadcast_zip(x, shape, zeros, kept, spread, shape, |x, zeros| {
            match (x == 0.0, zeros) {
                (false, 0.0) => 1.0 / x,
                (true, 1.0) => 1.0,
                _ => 0.0,
            }
        });
        broadcast_zip(spread, shape, products, kept, dx, shape, |s, p| s * p);
        memory.commit_grad(wires, 0);
    }

    fn scratch_len(&self) -> usize {
        self.axes.len[0] + 2 * self.axes.len[1]
    }
}

/// Sums in exact integers, and means when the number of elements is a power of two: a sum with more bits behind the point.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::range::{CodeRange, product_frac, summed};
    use crate::integer::walk::broadcast_indices;
    use crate::integer::{Lowered, Site, Source};

    pub(crate) fn mean(reduced: &[bool], site: &Site) -> Result<Lowered, Refusal> {
        total(reduced, mean_range, site)
    }

    pub(crate) fn sum(reduced: &[bool], site: &Site) -> Result<Lowered, Refusal> {
        total(reduced, summed, site)
    }

    /// A sum over axes whose result has the range that `range` makes of the operand's and of the number of elements.
    fn total(
        reduced: &[bool],
        range: impl Fn(CodeRange, usize) -> Result<CodeRange, Refusal>,
        site: &Site,
    ) -> Result<Lowered, Refusal> {
        let shape = &site.operands[0].shape;
        let axes = shape.iter().zip(reduced);
        let kept: Vec<usize> = axes.map(|(&n, &r)| if r { 1 } else { n }).collect();
        let counts = shape
            .iter()
            .zip(&kept)
            .map(|(&n, &k)| if n == k { 1 } else { n });
        let range = range(site.operands[0].range, counts.product())?;
        let targets = broadcast_indices(&kept, shape);
        Ok(Lowered::step(Source::Total { targets }, range))
    }

    /// The range of means of `count` elements.
    pub(crate) fn mean_range(x: CodeRange, count: usize) -> Result<CodeRange, Refusal> {
        if !count.is_power_of_two() {
            let why = format!("a mean of {count} elements is not exact; only powers of two are");
            return Err(Refusal::NoForm(why));
        }
        let sum = summed(x, count)?;
        Ok(CodeRange {
            frac: product_frac(sum.frac, count.ilog2() as i32)?,
            ..sum
        })
    }
}
