//! Matrix products of two values, batched and broadcast over the leading axes.

use super::Site;
use crate::step::{GradSlot, Memory, Step, Wires};
use kernels::gemm::{Init, gemm, transpose};

/// `C[m, n] = A[m, k]·B[k, n]` for every matrix of the batch.
pub(crate) struct Matmul {
    m: usize,
    k: usize,
    n: usize,
    /// Per matrix of the result: the index of its left and right operand's matrix.
    pairs: Vec<[usize; 2]>,
}

impl Matmul {
    pub fn new(site: &Site) -> Self {
        let [a, b] = [&site.inputs[0], &site.inputs[1]];
        let y = &site.outputs[0];
        let batch = &y[..y.len() - 2];
        let count: usize = batch.iter().product();
        let of = |shape: &[usize], i: usize| broadcast_index(&shape[..shape.len() - 2], batch, i);
        Self {
            m: a[a.len() - 2],
            k: a[a.len() - 1],
            n: b[b.len() - 1],
            pairs: (0..count).map(|i| [of(a, i), of(b, i)]).collect(),
        }
    }

    /// The start of a gradient's product: added when an earlier pair has written the gradient already.
    fn init(&self, at: usize, side: usize, accumulate: bool) -> Init<'static> {
        let seen = self.pairs[..at]
            .iter()
            .any(|pair| pair[side] == self.pairs[at][side]);
        if accumulate || seen {
            Init::Accumulate
        } else {
            Init::Zero
        }
    }

    /// dA = dC·Bᵀ.
    fn left_backward(&self, wires: &Wires, memory: &mut Memory, slot: &GradSlot) {
        let (m, k, n) = (self.m, self.k, self.n);
        let [b, dy, da, scratch] = memory.split([
            wires.x(1),
            wires.dy(),
            slot.span.clone(),
            wires.scratch.clone(),
        ]);
        let turned = &mut scratch[..k * n];
        for (i, &[left, right]) in self.pairs.iter().enumerate() {
            transpose(k, n, &b[right * k * n..(right + 1) * k * n], n, turned, k);
            let (dy, da) = (
                &dy[i * m * n..(i + 1) * m * n],
                &mut da[left * m * k..(left + 1) * m * k],
            );
            gemm(
                m,
                n,
                k,
                dy,
                n,
                1,
                turned,
                k,
                da,
                k,
                self.init(i, 0, slot.accumulate),
            );
        }
    }

    /// dB = Aᵀ·dC.
    fn right_backward(&self, wires: &Wires, memory: &mut Memory, slot: &GradSlot) {
        let (m, k, n) = (self.m, self.k, self.n);
        let [a, dy, db] = memory.split([wires.x(0), wires.dy(), slot.span.clone()]);
        for (i, &[left, right]) in self.pairs.iter().enumerate() {
            let (a, dy) = (
                &a[left * m * k..(left + 1) * m * k],
                &dy[i * m * n..(i + 1) * m * n],
            );
            let db = &mut db[right * k * n..(right + 1) * k * n];
            gemm(
                k,
                m,
                n,
                a,
                1,
                k,
                dy,
                n,
                db,
                n,
                self.init(i, 1, slot.accumulate),
            );
        }
    }
}

/// The index in a batch of shape `shape` of what entry `i` of the broadcast batch reads.
pub(crate) fn broadcast_index(shape: &[usize], batch: &[usize], mut i: usize) -> usize {
    let (mut index, mut stride) = (0, 1);
    for (back, &size) in batch.iter().rev().enumerate() {
        let position = i % size;
        i /= size;
        if let Some(&own) = shape
            .len()
            .checked_sub(back + 1)
            .and_then(|axis| shape.get(axis))
        {
            index += if own == 1 { 0 } else { position * stride };
            stride *= own;
        }
    }
    index
}

impl Step for Matmul {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (m, k, n) = (self.m, self.k, self.n);
        let [a, b, y] = memory.split([wires.x(0), wires.x(1), wires.y()]);
        for (&[left, right], y) in self.pairs.iter().zip(y.chunks_mut(m * n)) {
            let a = &a[left * m * k..(left + 1) * m * k];
            let b = &b[right * k * n..(right + 1) * k * n];
            gemm(m, k, n, a, k, 1, b, n, y, n, Init::Zero);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if let Some(slot) = &wires.inputs[0].grad {
            self.left_backward(wires, memory, slot);
        }
        if let Some(slot) = &wires.inputs[1].grad {
            self.right_backward(wires, memory, slot);
        }
    }

    fn scratch_len(&self) -> usize {
        self.k * self.n
    }
}

/// Products in exact integers.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::range::{Fit, summed};
    use crate::integer::walk::broadcast_indices;
    use crate::integer::{Lowered, MatMul, Site, Source};

    pub(crate) fn lower(site: &Site) -> Result<Lowered, Refusal> {
        let [a, b] = [&site.operands[0], &site.operands[1]];
        let [a_shape, b_shape] = [&a.shape, &b.shape];
        let batch = &site.outputs[0][..site.outputs[0].len() - 2];
        let matrices = |shape: &[usize]| broadcast_indices(&shape[..shape.len() - 2], batch);
        let k = a_shape[a_shape.len() - 1];
        let range = summed(a.range.times(b.range).fit()?, k)?;
        let product = MatMul {
            m: a_shape[a_shape.len() - 2],
            k,
            n: b_shape[b_shape.len() - 1],
            pairs: matrices(a_shape)
                .into_iter()
                .zip(matrices(b_shape))
                .collect(),
        };
        Ok(Lowered::step(Source::MatMul(product), range))
    }
}
