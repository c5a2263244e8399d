//! Scaled dot-product attention, `y = softmax(scale · q·kᵀ) · v`, over `[heads, T, dh]` with heads = batch · heads.
//!
//! Under a causal mask query i sees keys 0 to i; rows are taken in blocks, and keys that no row of a block sees are left
//! out of its products.

use crate::gemm::{Init, gemm, transpose};
use crate::isa::versions;
use crate::maps;
use crate::math::exp;
use crate::rows::{add_lanes, max_lanes, sums_of};

/// Rows of queries that share one product under a causal mask.
const CAUSAL_BLOCK: usize = 32;

/// The sizes of one head, and how many keys each query sees.
#[derive(Clone, Copy)]
struct Head {
    t_q: usize,
    t_k: usize,
    causal: bool,
}

impl Head {
    /// Blocks of queries: first row, number of rows, number of keys that some row sees.
    fn blocks(self) -> impl Iterator<Item = (usize, usize, usize)> {
        let step = if self.causal {
            CAUSAL_BLOCK
        } else {
            self.t_q.max(1)
        };
        (0..self.t_q).step_by(step).map(move |first| {
            let rows = step.min(self.t_q - first);
            (first, rows, self.seen(first + rows - 1))
        })
    }

    /// Keys that query `i` sees.
    #[inline(always)]
    fn seen(self, i: usize) -> usize {
        if self.causal {
            self.t_k.min(i + 1)
        } else {
            self.t_k
        }
    }
}

/// Floats of scratch that [`attention_forward`] and [`attention_backward`] need: a turned operand and one head's scores.
pub fn attention_scratch_len(t_q: usize, t_k: usize, dh: usize) -> usize {
    dh * t_k + t_q * t_k
}

/// `y[h, t_q, dh]` from q `[h, t_q, dh]` and k, v `[h, t_k, dh]`; keeps the weights in `probs[h, t_q, t_k]`.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn attention_forward(
    h: usize,
    t_q: usize,
    t_k: usize,
    dh: usize,
    scale: f32,
    causal: bool,
    q: &[f32],
    k: &[f32],
    v: &[f32],
    y: &mut [f32],
    probs: &mut [f32],
    scratch: &mut [f32],
) {
    let (rows, keys) = (t_q * dh, t_k * dh);
    check(
        h,
        [rows, keys, t_q * t_k],
        [&[q.len(), y.len()], &[k.len(), v.len()], &[probs.len()]],
    );
    let head = Head { t_q, t_k, causal };
    let turned = &mut scratch[..keys];
    for i in 0..h {
        let (q, k, v) = (&q[i * rows..], &k[i * keys..], &v[i * keys..]);
        let (y, probs) = (&mut y[i * rows..], &mut probs[i * t_q * t_k..][..t_q * t_k]);
        transpose(t_k, dh, k, dh, turned, t_k);
        maps::scale(turned, scale);
        for (first, m, n) in head.blocks() {
            let (q, scores) = (&q[first * dh..], &mut probs[first * t_k..]);
            gemm(m, dh, n, q, dh, 1, turned, t_k, scores, t_k, Init::Zero);
        }
        softmax_seen(head, probs);
        for (first, m, n) in head.blocks() {
            gemm(
                m,
                n,
                dh,
                &probs[first * t_k..],
                t_k,
                1,
                v,
                dh,
                &mut y[first * dh..],
                dh,
                Init::Zero,
            );
        }
    }
}

/// Gradients of q, k and v from the forward's operands and weights. Overwrites all three.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn attention_backward(
    h: usize,
    t_q: usize,
    t_k: usize,
    dh: usize,
    scale: f32,
    causal: bool,
    q: &[f32],
    k: &[f32],
    v: &[f32],
    probs: &[f32],
    dy: &[f32],
    dq: &mut [f32],
    dk: &mut [f32],
    dv: &mut [f32],
    scratch: &mut [f32],
) {
    let (rows, keys) = (t_q * dh, t_k * dh);
    let of_keys = [k.len(), v.len(), dk.len(), dv.len()];
    check(
        h,
        [rows, keys, t_q * t_k],
        [&[q.len(), dy.len(), dq.len()], &of_keys, &[probs.len()]],
    );
    let head = Head { t_q, t_k, causal };
    let (turned, scores) = scratch.split_at_mut(keys);
    for i in 0..h {
        let (q, k, v) = (&q[i * rows..], &k[i * keys..], &v[i * keys..]);
        let (dy, probs) = (&dy[i * rows..], &probs[i * t_q * t_k..][..t_q * t_k]);
        let (dk, dv) = (&mut dk[i * keys..][..keys], &mut dv[i * keys..][..keys]);
        transpose(t_k, dh, v, dh, turned, t_k);
        dk.fill(0.0);
        dv.fill(0.0);
        for (first, m, n) in head.blocks() {
            let (at, row) = (first * t_k, first * dh);
            gemm(
                m,
                dh,
                n,
                &dy[row..],
                dh,
                1,
                turned,
                t_k,
                &mut scores[at..],
                t_k,
                Init::Zero,
            );
            scores_gradient(head, first, m, scale, &probs[at..], &mut scores[at..]);
            let ds = &scores[at..];
            gemm(
                m,
                n,
                dh,
                ds,
                t_k,
                1,
                k,
                dh,
                &mut dq[i * rows + row..],
                dh,
                Init::Zero,
            );
            gemm(
                n,
                m,
                dh,
                ds,
                1,
                t_k,
                &q[row..],
                dh,
                dk,
                dh,
                Init::Accumulate,
            );
            gemm(
                n,
                m,
                dh,
                &probs[at..],
                1,
                t_k,
                &dy[row..],
                dh,
                dv,
                dh,
                Init::Accumulate,
            );
        }
    }
}

fn check(h: usize, sizes: [usize; 3], lengths: [&[usize]; 3]) {
    for ((size, lengths), what) in sizes
        .into_iter()
        .zip(lengths)
        .zip(["queries", "keys", "weights"])
    {
        let fits = lengths.iter().all(|&n| n == h * size);
        assert!(
            fits,
            "attention: {h} heads of {size} {what} need {}, lengths are {lengths:?}",
            h * size
        );
    }
}

versions! {
    /// Softmax of the seen keys of each row; zero for the rest.
    fn softmax_seen(head: Head, scores: &mut [f32]) {
        for (i, row) in scores.chunks_exact_mut(head.t_k.max(1)).enumerate() {
            let (row, hidden) = row.split_at_mut(head.seen(i));
            hidden.fill(0.0);
            let max = max_lanes(row);
            for x in row.iter_mut() {
                *x = exp(*x - max);
            }
            let inverse = 1.0 / add_lanes(row);
            for x in row {
                *x *= inverse;
            }
        }
    }

    /// `ds = scale · p · (dp − Σ dp·p)` for `m` rows from row `first`, in place of `dp`; zero for hidden keys.
    fn scores_gradient(head: Head, first: usize, m: usize, scale: f32, p: &[f32], dp: &mut [f32]) {
        let width = head.t_k.max(1);
        for (i, (p, dp)) in p.chunks_exact(width).zip(dp.chunks_exact_mut(width)).take(m).enumerate() {
            let (dp, hidden) = dp.split_at_mut(head.seen(first + i));
            hidden.fill(0.0);
            let p = &p[..dp.len()];
            let (inner, _) = sums_of(dp, p, |dp, p| (dp * p, 0.0));
            for (dp, &p) in dp.iter_mut().zip(p) {
                *dp = scale * p * (*dp - inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{assert_close, noise};

    /// One head in `f64`: y, probabilities, dq, dk, dv.
    fn exact(
        head: Head,
        dh: usize,
        scale: f64,
        q: &[f32],
        k: &[f32],
        v: &[f32],
        dy: &[f32],
    ) -> [Vec<f64>; 5] {
        let Head { t_q, t_k, .. } = head;
        let at = |x: &[f32], i: usize, d: usize| f64::from(x[i * dh + d]);
        let [mut y, mut dq] = [(); 2].map(|()| vec![0.0; t_q * dh]);
        let [mut dk, mut dv] = [(); 2].map(|()| vec![0.0; t_k * dh]);
        let mut probs = vec![0.0; t_q * t_k];
        for i in 0..t_q {
            let keys = 0..head.seen(i);
            let score = |j: usize| scale * (0..dh).map(|d| at(q, i, d) * at(k, j, d)).sum::<f64>();
            let total: f64 = keys.clone().map(|j| score(j).exp()).sum();
            let p: Vec<f64> = keys.clone().map(|j| score(j).exp() / total).collect();
            let dp: Vec<f64> = keys
                .clone()
                .map(|j| (0..dh).map(|d| at(dy, i, d) * at(v, j, d)).sum())
                .collect();
            let inner: f64 = p.iter().zip(&dp).map(|(p, dp)| p * dp).sum();
            for j in keys {
                probs[i * t_k + j] = p[j];
                let ds = scale * p[j] * (dp[j] - inner);
                for d in 0..dh {
                    y[i * dh + d] += p[j] * at(v, j, d);
                    dq[i * dh + d] += ds * at(k, j, d);
                    dk[j * dh + d] += ds * at(q, i, d);
                    dv[j * dh + d] += p[j] * at(dy, i, d);
                }
            }
        }
        [y, probs, dq, dk, dv]
    }

    #[test]
    fn forward_and_backward_match_f64() {
        on_every_isa(|isa| {
            for (h, t_q, t_k, dh) in [
                (1, 1, 1, 1),
                (2, 5, 7, 3),
                (3, 16, 16, 16),
                (2, 70, 70, 8),
                (1, 33, 40, 17),
                (0, 4, 4, 4),
            ] {
                for causal in [false, true] {
                    let [q, dy] = [1, 2].map(|seed| noise(h * t_q * dh, seed));
                    let [k, v] = [3, 4].map(|seed| noise(h * t_k * dh, seed));
                    let mut scratch = vec![f32::NAN; attention_scratch_len(t_q, t_k, dh)];
                    let [mut y, mut dq] = [(); 2].map(|()| vec![9.0; h * t_q * dh]);
                    let [mut dk, mut dv] = [(); 2].map(|()| vec![9.0; h * t_k * dh]);
                    let mut probs = vec![9.0; h * t_q * t_k];
                    attention_forward(
                        h,
                        t_q,
                        t_k,
                        dh,
                        0.7,
                        causal,
                        &q,
                        &k,
                        &v,
                        &mut y,
                        &mut probs,
                        &mut scratch,
                    );
                    scratch.fill(f32::NAN);
                    attention_backward(
                        h,
                        t_q,
                        t_k,
                        dh,
                        0.7,
                        causal,
                        &q,
                        &k,
                        &v,
                        &probs,
                        &dy,
                        &mut dq,
                        &mut dk,
                        &mut dv,
                        &mut scratch,
                    );
                    let head = Head { t_q, t_k, causal };
                    for i in 0..h {
                        let (a, b) = (
                            i * t_q * dh..(i + 1) * t_q * dh,
                            i * t_k * dh..(i + 1) * t_k * dh,
                        );
                        let [wy, wp, wdq, wdk, wdv] = exact(
                            head,
                            dh,
                            f64::from(0.7f32),
                            &q[a.clone()],
                            &k[b.clone()],
                            &v[b.clone()],
                            &dy[a.clone()],
                        );
                        let what =
                            |name: &str| format!("{name} {isa:?} {h} {t_q} {t_k} {dh} {causal}");
                        assert_close(&y[a.clone()], &wy, 3e-6, &what("y"));
                        assert_close(
                            &probs[i * t_q * t_k..(i + 1) * t_q * t_k],
                            &wp,
                            3e-6,
                            &what("probs"),
                        );
                        assert_close(&dq[a], &wdq, 1e-5, &what("dq"));
                        assert_close(&dk[b.clone()], &wdk, 1e-5, &what("dk"));
                        assert_close(&dv[b], &wdv, 1e-5, &what("dv"));
                    }
                }
            }
        });
    }
}
