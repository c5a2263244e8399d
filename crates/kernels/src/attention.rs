//! Scaled dot-product attention, `y = softmax(scale · q·kᵀ + mask) · v`, over `[heads, T, dh]` with heads = batch · heads.
//!
//! Under a causal mask query i sees keys 0 to i; rows are taken in blocks, and keys that no row of a block sees are left
//! out of its products.

use crate::elementwise;
use crate::gemm::{Init, gemm, transpose};
use crate::isa::versions;
use crate::math::exp;
use crate::row_reduce::{LANES, add_lanes, map_chunks, max_lanes, sums_of};

/// Rows of queries that share one product under a causal mask.
const CAUSAL_BLOCK: usize = 32;

/// A block of queries: first row, number of rows, number of keys that some row sees.
type Block = (usize, usize, usize);

/// Sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionShape {
    /// Heads of all samples.
    pub heads: usize,
    /// Neighbouring heads that share their keys and values.
    pub group: usize,
    /// Queries of a head.
    pub queries: usize,
    /// Keys, and values, of a head.
    pub keys: usize,
    /// Elements of a query and of a key.
    pub key_dim: usize,
    /// Elements of a value and of a result.
    pub value_dim: usize,
    /// Factor of the scores.
    pub scale: f32,
    /// Lets query i see only keys 0 to i.
    pub causal: bool,
}

/// A mask of the scores: truth where a key is seen, or numbers that are added. A query or a head may share it with others.
#[derive(Clone, Copy, Debug)]
pub struct AttentionMask<'a> {
    /// The start of each head's part.
    pub starts: &'a [usize],
    /// Distances of the entries of neighbouring queries and of neighbouring keys; zero where they share one.
    pub steps: [usize; 2],
    /// True for truth values.
    pub is_truth: bool,
}

impl AttentionMask<'_> {
    /// The place of the entry of a head, a query and a key.
    #[inline(always)]
    fn place(&self, head: usize, query: usize, key: usize) -> usize {
        self.starts[head] + query * self.steps[0] + key * self.steps[1]
    }

    /// Masks the scores of a head.
    fn apply(&self, head: usize, keys: usize, mask: &[f32], scores: &mut [f32]) {
        for (query, row) in scores.chunks_exact_mut(keys.max(1)).enumerate() {
            for (key, score) in row.iter_mut().enumerate() {
                let entry = mask[self.place(head, query, key)];
                *score = match (self.is_truth, entry) {
                    (false, _) => *score + entry,
                    (true, 0.0) => f32::NEG_INFINITY,
                    (true, _) => *score,
                };
            }
        }
    }

    /// Adds the gradient of a head's scores, which were scaled, to that of the mask.
    fn add_gradient(&self, head: usize, shape: &AttentionShape, scores: &[f32], mask: &mut [f32]) {
        for (query, row) in scores.chunks_exact(shape.keys.max(1)).enumerate() {
            for (key, gradient) in row.iter().enumerate() {
                mask[self.place(head, query, key)] += gradient / shape.scale;
            }
        }
    }
}

impl AttentionShape {
    /// Floats of scratch that both passes need: a turned operand and one head's scores.
    pub fn scratch_len(&self) -> usize {
        self.key_dim.max(self.value_dim) * self.keys + self.scores()
    }

    /// Queries, keys, and the elements of a key and of a value.
    fn sizes(&self) -> [usize; 4] {
        [self.queries, self.keys, self.key_dim, self.value_dim]
    }

    /// Weights of one head.
    fn scores(&self) -> usize {
        self.queries * self.keys
    }

    /// Blocks of queries.
    fn blocks(self) -> impl Iterator<Item = Block> {
        let step = if self.causal {
            CAUSAL_BLOCK
        } else {
            self.queries.max(1)
        };
        (0..self.queries).step_by(step).map(move |first| {
            let rows = step.min(self.queries - first);
            (first, rows, self.seen(first + rows - 1))
        })
    }

    /// Keys that query `i` sees.
    #[inline(always)]
    fn seen(self, i: usize) -> usize {
        if self.causal {
            self.keys.min(i + 1)
        } else {
            self.keys
        }
    }

    /// The head of the keys and values that head `i` of the queries looks at.
    fn shared(&self, i: usize) -> usize {
        i / self.group
    }

    /// The part of head `i` of an operand with `rows` rows of `cols` elements.
    fn of<'a>(&self, i: usize, what: &str, x: &'a [f32], rows: usize, cols: usize) -> &'a [f32] {
        self.check(what, x.len(), rows * cols);
        &x[i * rows * cols..(i + 1) * rows * cols]
    }

    /// As [`AttentionShape::of`], for writing.
    fn of_mut<'a>(
        &self,
        i: usize,
        what: &str,
        x: &'a mut [f32],
        rows: usize,
        cols: usize,
    ) -> &'a mut [f32] {
        self.check(what, x.len(), rows * cols);
        &mut x[i * rows * cols..(i + 1) * rows * cols]
    }

    fn check(&self, what: &str, len: usize, head: usize) {
        let is_shared = ["k", "v", "dk", "dv"].contains(&what);
        let group = if is_shared { self.group } else { 1 };
        assert_eq!(
            len * group,
            self.heads * head,
            "attention: {what} has {len} elements for {self:?}"
        );
    }
}

/// `y[heads, queries, value_dim]` from q `[heads, queries, key_dim]`, k `[heads, keys, key_dim]` and v
/// `[heads, keys, value_dim]`; keeps the weights in `probs[heads, queries, keys]`.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn attention_forward(
    s: &AttentionShape,
    q: &[f32],
    k: &[f32],
    v: &[f32],
    mask: Option<(AttentionMask, &[f32])>,
    y: &mut [f32],
    probs: &mut [f32],
    scratch: &mut [f32],
) {
    let [queries, keys, key_dim, value_dim] = s.sizes();
    let turned = &mut scratch[..keys * key_dim];
    for i in 0..s.heads {
        let q = s.of(i, "q", q, queries, key_dim);
        let k = s.of(s.shared(i), "k", k, keys, key_dim);
        let v = s.of(s.shared(i), "v", v, keys, value_dim);
        let y = s.of_mut(i, "y", y, queries, value_dim);
        let probs = s.of_mut(i, "probs", probs, queries, keys);
        transpose(keys, key_dim, k, key_dim, turned, keys);
        elementwise::scale(turned, s.scale);
        for (first, m, n) in s.blocks() {
            let (q, scores) = (&q[first * key_dim..], &mut probs[first * keys..]);
            product(
                [m, key_dim, n],
                (q, key_dim),
                (turned, keys),
                (scores, keys),
            );
        }
        if let Some((mask, entries)) = mask {
            mask.apply(i, keys, entries, probs);
        }
        for block in s.blocks() {
            softmax_seen(*s, block, &mut probs[block.0 * keys..]);
        }
        for (first, m, n) in s.blocks() {
            let (p, y) = (&probs[first * keys..], &mut y[first * value_dim..]);
            product([m, n, value_dim], (p, keys), (v, value_dim), (y, value_dim));
        }
    }
}

/// `C = A·B` for row-major operands with their row strides.
fn product(
    [m, k, n]: [usize; 3],
    (a, lda): (&[f32], usize),
    (b, ldb): (&[f32], usize),
    (c, ldc): (&mut [f32], usize),
) {
    gemm(m, k, n, a, lda, 1, b, ldb, c, ldc, Init::Zero);
}

/// Gradients of q, k and v from the forward's operands and weights. Overwrites all three, and adds to that of a mask of numbers.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn attention_backward(
    s: &AttentionShape,
    q: &[f32],
    k: &[f32],
    v: &[f32],
    probs: &[f32],
    dy: &[f32],
    dq: &mut [f32],
    dk: &mut [f32],
    dv: &mut [f32],
    mut dmask: Option<(AttentionMask, &mut [f32])>,
    scratch: &mut [f32],
) {
    let [queries, keys, key_dim, value_dim] = s.sizes();
    let (turned, scores) = scratch.split_at_mut(keys * value_dim);
    for i in 0..s.heads {
        let q = s.of(i, "q", q, queries, key_dim);
        let k = s.of(s.shared(i), "k", k, keys, key_dim);
        let v = s.of(s.shared(i), "v", v, keys, value_dim);
        let dy = s.of(i, "dy", dy, queries, value_dim);
        let probs = s.of(i, "probs", probs, queries, keys);
        let dq = s.of_mut(i, "dq", dq, queries, key_dim);
        let dk = s.of_mut(s.shared(i), "dk", dk, keys, key_dim);
        let dv = s.of_mut(s.shared(i), "dv", dv, keys, value_dim);
        transpose(keys, value_dim, v, value_dim, turned, keys);
        if i.is_multiple_of(s.group) {
            dk.fill(0.0);
            dv.fill(0.0);
        }
        for (first, m, n) in s.blocks() {
            let (p, dy) = (&probs[first * keys..], &dy[first * value_dim..]);
            let ds = &mut scores[first * keys..];
            product(
                [m, value_dim, n],
                (dy, value_dim),
                (turned, keys),
                (ds, keys),
            );
            scores_gradient(*s, (first, m, n), p, ds);
            let dq = &mut dq[first * key_dim..];
            product([m, n, key_dim], (ds, keys), (k, key_dim), (dq, key_dim));
            let q = &q[first * key_dim..];
            gemm(
                n,
                m,
                key_dim,
                ds,
                1,
                keys,
                q,
                key_dim,
                dk,
                key_dim,
                Init::Accumulate,
            );
            gemm(
                n,
                m,
                value_dim,
                p,
                1,
                keys,
                dy,
                value_dim,
                dv,
                value_dim,
                Init::Accumulate,
            );
        }
        if let Some((mask, gradient)) = &mut dmask {
            mask.add_gradient(i, s, &scores[..s.scores()], gradient);
        }
    }
}

versions! {
    /// Softmax of the seen keys of the rows of a block; zero for the rest.
    ///
    /// All rows are as long as the last one's keys reach, in whole vectors, with −∞ for hidden keys: loops that run as often for
    /// every row are predicted, and the long chains of the exponentials of several rows overlap.
    fn softmax_seen(head: AttentionShape, block: Block, scores: &mut [f32]) {
        let (first, m, n) = block;
        let width = head.keys.max(1);
        let reach = n.next_multiple_of(LANES).min(width);
        for (i, row) in scores.chunks_exact_mut(width).take(m).enumerate() {
            let seen = head.seen(first + i);
            let (row, beyond) = row.split_at_mut(reach);
            beyond.fill(0.0);
            hide(row, seen, f32::NEG_INFINITY);
            // A query that sees no key has no weights.
            let max = max_lanes(row);
            let max = if max == f32::NEG_INFINITY { 0.0 } else { max };
            map_chunks(row, #[inline(always)] |x| x - max);
        }
        for row in scores.chunks_exact_mut(width).take(m) {
            map_chunks(&mut row[..reach], exp);
        }
        for (i, row) in scores.chunks_exact_mut(width).take(m).enumerate() {
            let row = &mut row[..reach];
            let sum = add_lanes(row);
            let inverse = if sum == 0.0 { 0.0 } else { 1.0 / sum };
            map_chunks(row, #[inline(always)] |x| x * inverse);
            hide(row, head.seen(first + i), 0.0);
        }
    }

    /// `ds = scale · p · (dp − Σ dp·p)` for the rows of a block, in place of `dp`; zero for hidden keys.
    fn scores_gradient(head: AttentionShape, block: Block, p: &[f32], dp: &mut [f32]) {
        let (first, m, n) = block;
        let width = head.keys.max(1);
        let reach = n.next_multiple_of(LANES).min(width);
        for (i, (p, dp)) in p.chunks_exact(width).zip(dp.chunks_exact_mut(width)).take(m).enumerate() {
            let (dp, beyond) = dp.split_at_mut(reach);
            beyond.fill(0.0);
            hide(dp, head.seen(first + i), 0.0);
            let p = &p[..reach];
            let (inner, _) = sums_of(dp, p, #[inline(always)] |dp, p| (dp * p, 0.0));
            for (dp, &p) in dp.iter_mut().zip(p) {
                *dp = head.scale * p * (*dp - inner);
            }
        }
    }
}

/// Writes `value` over the keys from `seen` on.
#[inline(always)]
fn hide(row: &mut [f32], seen: usize, value: f32) {
    for (key, x) in row.iter_mut().enumerate() {
        *x = if key < seen { *x } else { value };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{assert_close, noise};

    /// One head in `f64`: y, probabilities, dq, dk, dv.
    fn exact(s: AttentionShape, q: &[f32], k: &[f32], v: &[f32], dy: &[f32]) -> [Vec<f64>; 5] {
        let AttentionShape {
            queries,
            keys,
            key_dim,
            value_dim,
            ..
        } = s;
        let key = |x: &[f32], i: usize, d: usize| f64::from(x[i * key_dim + d]);
        let value = |x: &[f32], i: usize, d: usize| f64::from(x[i * value_dim + d]);
        let (mut y, mut dq) = (vec![0.0; queries * value_dim], vec![0.0; queries * key_dim]);
        let (mut dk, mut dv) = (vec![0.0; keys * key_dim], vec![0.0; keys * value_dim]);
        let mut probs = vec![0.0; queries * keys];
        for i in 0..queries {
            let seen = 0..s.seen(i);
            let score = |j: usize| {
                f64::from(s.scale)
                    * (0..key_dim)
                        .map(|d| key(q, i, d) * key(k, j, d))
                        .sum::<f64>()
            };
            let total: f64 = seen.clone().map(|j| score(j).exp()).sum();
            let p: Vec<f64> = seen.clone().map(|j| score(j).exp() / total).collect();
            let dp = |j: usize| {
                (0..value_dim)
                    .map(|d| value(dy, i, d) * value(v, j, d))
                    .sum()
            };
            let dp: Vec<f64> = seen.clone().map(dp).collect();
            let inner: f64 = p.iter().zip(&dp).map(|(p, dp)| p * dp).sum();
            for j in seen {
                probs[i * keys + j] = p[j];
                let ds = f64::from(s.scale) * p[j] * (dp[j] - inner);
                for d in 0..key_dim {
                    dq[i * key_dim + d] += ds * key(k, j, d);
                    dk[j * key_dim + d] += ds * key(q, i, d);
                }
                for d in 0..value_dim {
                    y[i * value_dim + d] += p[j] * value(v, j, d);
                    dv[j * value_dim + d] += p[j] * value(dy, i, d);
                }
            }
        }
        [y, probs, dq, dk, dv]
    }

    #[test]
    fn forward_and_backward_match_f64() {
        on_every_isa(|isa| {
            for (heads, queries, keys, key_dim, value_dim) in [
                (1, 1, 1, 1, 1),
                (2, 5, 7, 3, 4),
                (3, 16, 16, 16, 16),
                (2, 70, 70, 8, 5),
                (1, 33, 40, 17, 17),
                (0, 4, 4, 4, 4),
            ] {
                for causal in [false, true] {
                    let s = AttentionShape {
                        heads,
                        group: 1,
                        queries,
                        keys,
                        key_dim,
                        value_dim,
                        scale: 0.7,
                        causal,
                    };
                    compare(s, &format!("{isa:?} {s:?}"));
                }
            }
        });
    }

    fn compare(s: AttentionShape, what: &str) {
        let (q_len, k_len) = (s.queries * s.key_dim, s.keys * s.key_dim);
        let (y_len, v_len) = (s.queries * s.value_dim, s.keys * s.value_dim);
        let [q, k] = [(q_len, 1), (k_len, 3)].map(|(len, seed)| noise(s.heads * len, seed));
        let [v, dy] = [(v_len, 4), (y_len, 2)].map(|(len, seed)| noise(s.heads * len, seed));
        let mut scratch = vec![f32::NAN; s.scratch_len()];
        let lengths = [y_len, s.scores(), q_len, k_len, v_len];
        let [mut y, mut probs, mut dq, mut dk, mut dv] =
            lengths.map(|len| vec![9.0; s.heads * len]);
        attention_forward(&s, &q, &k, &v, None, &mut y, &mut probs, &mut scratch);
        scratch.fill(f32::NAN);
        attention_backward(
            &s,
            &q,
            &k,
            &v,
            &probs,
            &dy,
            &mut dq,
            &mut dk,
            &mut dv,
            None,
            &mut scratch,
        );
        for i in 0..s.heads {
            let of = |x: &[f32], len: usize| x[i * len..(i + 1) * len].to_vec();
            let expected = exact(
                s,
                &of(&q, q_len),
                &of(&k, k_len),
                &of(&v, v_len),
                &of(&dy, y_len),
            );
            let got = [&y, &probs, &dq, &dk, &dv];
            for ((got, expected), len) in got.into_iter().zip(&expected).zip(lengths) {
                assert_close(&of(got, len), expected, 1e-5, what);
            }
        }
    }
}
