//! Matrix products of two values, batched and broadcast over the leading axes.

use super::{Lowered, Site, WideKernel};
use crate::integer::error::Refusal;
use crate::integer::range::{Fit, summed};
use crate::integer::walk::broadcast_indices;

pub(crate) fn lower(site: &Site) -> Result<Lowered, Refusal> {
    let [a, b] = [&site.operands[0], &site.operands[1]];
    let [a_shape, b_shape] = [&a.shape, &b.shape];
    let batch = &site.outputs[0][..site.outputs[0].len() - 2];
    let matrices = |shape: &[usize]| broadcast_indices(&shape[..shape.len() - 2], batch);
    let k = a_shape[a_shape.len() - 1];
    let range = summed(a.range.times(b.range).fit()?, k)?;
    let kernel = Matmul {
        m: a_shape[a_shape.len() - 2],
        k,
        n: b_shape[b_shape.len() - 1],
        pairs: matrices(a_shape)
            .into_iter()
            .zip(matrices(b_shape))
            .collect(),
    };
    Ok(Lowered::Kernel(kernel.into(), range, Vec::new()))
}

/// `C[m, n] = A[m, k]·B[k, n]` for every matrix of the batch.
struct Matmul {
    m: usize,
    k: usize,
    n: usize,
    /// Per matrix of the result: the index of its left and right operand's matrix.
    pairs: Vec<(usize, usize)>,
}

impl WideKernel for Matmul {
    fn run(&self, operands: &[Vec<i64>], y: &mut [i64]) {
        let (m, k, n) = (self.m, self.k, self.n);
        for (&(left, right), y) in self.pairs.iter().zip(y.chunks_mut((m * n).max(1))) {
            let a = &operands[0][left * m * k..(left + 1) * m * k];
            let b = &operands[1][right * k * n..(right + 1) * k * n];
            multiply(k, n, a, b, y);
        }
    }
}

/// `C = A·B`, row-major and dense.
pub(crate) fn multiply(k: usize, n: usize, a: &[i64], b: &[i64], c: &mut [i64]) {
    c.fill(0);
    accumulate(k, n, a, b, c);
}

/// `C += A·B`, row-major and dense.
pub(crate) fn accumulate(k: usize, n: usize, a: &[i64], b: &[i64], c: &mut [i64]) {
    for (a, c) in a.chunks_exact(k.max(1)).zip(c.chunks_exact_mut(n.max(1))) {
        for (&a, b) in a.iter().zip(b.chunks_exact(n.max(1))) {
            for (c, &b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    }
}
