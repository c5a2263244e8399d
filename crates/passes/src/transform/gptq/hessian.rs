//! H = 2·Xᵀ·X/n of the inputs that a layer multiplies with its weights, one for each group of channels.

use super::factor::Square;
use super::inputs::Layer;
use kernels::double::add_single;
use kernels::gemm::{Init, gemm};
use kernels::threads::Pool;

/// Rows and columns of H that are summed at a time: the product is still in cache when it is added.
const BAND: usize = 240;
const STRIP: usize = 512;

/// The sums over all inputs seen so far.
pub struct Sums<'a> {
    layer: Layer,
    pool: &'a Pool,
    /// Σ Xᵀ·X of each group: what is on the diagonal and to the right of it.
    groups: Vec<Square>,
    /// Rows of X.
    count: usize,
}

impl<'a> Sums<'a> {
    /// Nothing seen yet.
    pub fn new(layer: Layer, pool: &'a Pool) -> Self {
        Self {
            layer,
            pool,
            groups: vec![Square::zero(layer.columns()); layer.groups()],
            count: 0,
        }
    }

    /// Adds the inputs of some rows.
    pub fn add(&mut self, shape: &[usize], values: &[f32]) {
        let layer = self.layer;
        layer.for_each_part(shape, values, |group, x| self.add_product(group, x));
    }

    /// Adds Xᵀ·X: the product in single precision, over a bounded number of rows, the sum in double.
    fn add_product(&mut self, group: usize, x: &[f32]) {
        let n = self.layer.columns();
        let rows = x.len() / n;
        self.count += if group == 0 { rows } else { 0 };
        let mut bands: Vec<&mut [f64]> = self.groups[group].values.chunks_mut(BAND * n).collect();
        self.pool.for_each(&mut bands, |index, sums| {
            let (top, height) = (index * BAND, sums.len() / n);
            let mut product = vec![0.0; height * STRIP];
            for left in (top..n).step_by(STRIP) {
                let width = STRIP.min(n - left);
                let (a, b) = (&x[top..], &x[left..]);
                let init = Init::Zero;
                gemm(
                    height,
                    rows,
                    width,
                    a,
                    1,
                    n,
                    b,
                    n,
                    &mut product,
                    width,
                    init,
                );
                for (sums, product) in sums.chunks_exact_mut(n).zip(product.chunks_exact(width)) {
                    add_single(&mut sums[left..][..width], product);
                }
            }
        });
    }

    /// H of each group.
    pub fn finish(mut self) -> Vec<Square> {
        let scale = 2.0 / self.count.max(1) as f64;
        for h in &mut self.groups {
            h.values.iter_mut().for_each(|x| *x *= scale);
            h.mirror();
        }
        self.groups
    }
}
