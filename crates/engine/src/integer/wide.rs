//! Sources on 64-bit codes, a whole value at a time. The range of their results was proven when the program was built.

use super::program::{CatPart, MatMul, Source};

/// Computes all codes of a source from those of its operands; sources with kernels of their own compute none.
pub(crate) fn run(source: &Source, operands: &[Vec<i64>], y: &mut [i64]) {
    match source {
        Source::Gather(indices) => {
            for (y, &index) in y.iter_mut().zip(indices) {
                *y = operands[0][index];
            }
        }
        Source::Sum {
            indices,
            bits,
            subtract,
        } => {
            for (y, (a, b)) in y.iter_mut().zip(pairs(indices, operands)) {
                let (a, b) = (a << bits[0], b << bits[1]);
                *y = if *subtract { a - b } else { a + b };
            }
        }
        Source::Product { indices } => {
            for (y, (a, b)) in y.iter_mut().zip(pairs(indices, operands)) {
                *y = a * b;
            }
        }
        Source::Total { targets } => {
            y.fill(0);
            for (&x, &target) in operands[0].iter().zip(targets) {
                y[target] += x;
            }
        }
        Source::Argmax { classes } => {
            for (x, y) in operands[0].chunks_exact((*classes).max(1)).zip(y) {
                let mut largest = 0;
                for (place, code) in x.iter().enumerate() {
                    largest = if *code > x[largest] { place } else { largest };
                }
                *y = largest as i64;
            }
        }
        Source::Cat { parts } => concatenate(parts, operands, y),
        Source::MatMul(product) => multiply(product, operands, y),
        Source::Encode { .. }
        | Source::Constant(_)
        | Source::Copy
        | Source::Layer { .. }
        | Source::Pool { .. } => {}
    }
}

fn pairs<'a>(
    indices: &'a [Vec<usize>; 2],
    operands: &'a [Vec<i64>],
) -> impl Iterator<Item = (i64, i64)> + 'a {
    let pairs = indices[0].iter().zip(&indices[1]);
    pairs.map(|(&a, &b)| (operands[0][a], operands[1][b]))
}

fn concatenate(parts: &[CatPart], operands: &[Vec<i64>], y: &mut [i64]) {
    let total: usize = parts.iter().map(|part| part.run).sum();
    for (piece, y) in y.chunks_mut(total.max(1)).enumerate() {
        let mut rest = y;
        for (operand, &CatPart { run, bits }) in operands.iter().zip(parts) {
            let (own, later) = rest.split_at_mut(run);
            for (y, x) in own.iter_mut().zip(&operand[piece * run..]) {
                *y = x << bits;
            }
            rest = later;
        }
    }
}

fn multiply(product: &MatMul, operands: &[Vec<i64>], y: &mut [i64]) {
    let &MatMul { m, k, n, ref pairs } = product;
    for (&(left, right), y) in pairs.iter().zip(y.chunks_mut((m * n).max(1))) {
        let a = &operands[0][left * m * k..(left + 1) * m * k];
        let b = &operands[1][right * k * n..(right + 1) * k * n];
        y.fill(0);
        accumulate(k, n, a, b, y);
    }
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
