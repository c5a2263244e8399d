//! Parameter updates in one pass over memory, by `PyTorch`'s formulas.

use crate::isa::versions;

/// The scalars of one Adam or `AdamW` step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate over the first bias correction, `lr / (1 − β₁^t)`.
    pub step_size: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the denominator.
    pub eps: f32,
    /// Square root of the second bias correction, `√(1 − β₂^t)`.
    pub bias2_sqrt: f32,
    /// L2 penalty, added to the gradient.
    pub weight_decay: f32,
    /// `lr · weight_decay` of `AdamW`, which shrinks the parameter itself.
    pub decoupled_decay: f32,
}

/// The scalars of one SGD step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdStep {
    /// Learning rate.
    pub lr: f32,
    /// Decay of the momentum buffer; zero leaves the buffer alone.
    pub momentum: f32,
    /// Looks one step of momentum ahead.
    pub nesterov: bool,
    /// L2 penalty, added to the gradient.
    pub weight_decay: f32,
    /// True on the first step, when the buffer becomes the gradient.
    pub first: bool,
}

versions! {
    /// One Adam step: `m += (1 − β₁)(g − m)`, `v = β₂ v + (1 − β₂) g²`, `p −= step_size · m / (√v / bias2_sqrt + eps)`.
    pub fn adam(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], s: AdamStep) {
        let n = p.len();
        assert!(g.len() == n && m.len() == n && v.len() == n, "adam: {n} parameters, but lengths of g, m, v differ");
        let (keep1, keep2) = (1.0 - s.beta1, 1.0 - s.beta2);
        let shrink = 1.0 - s.decoupled_decay;
        // Both sides of the fraction times bias2_sqrt: one division an element instead of two.
        let (step, eps) = (s.step_size * s.bias2_sqrt, s.eps * s.bias2_sqrt);
        for (((p, &g), m), v) in p.iter_mut().zip(g).zip(m).zip(v) {
            let g = g + s.weight_decay * *p;
            *m += keep1 * (g - *m);
            *v = s.beta2 * *v + keep2 * g * g;
            *p = *p * shrink - step * (*m / (v.sqrt() + eps));
        }
    }

    /// One SGD step with momentum buffer `buf` (unused, and may be empty, when `momentum` is zero).
    pub fn sgd(p: &mut [f32], g: &[f32], buf: &mut [f32], s: SgdStep) {
        assert_eq!(p.len(), g.len(), "sgd: {} parameters, {} gradients", p.len(), g.len());
        if s.momentum == 0.0 {
            for (p, &g) in p.iter_mut().zip(g) {
                *p -= s.lr * (g + s.weight_decay * *p);
            }
            return;
        }
        assert_eq!(p.len(), buf.len(), "sgd: {} parameters, {} momenta", p.len(), buf.len());
        // On the first step the old buffer must not be read: it may hold anything, NaN included.
        if s.first {
            for ((p, &g), buf) in p.iter().zip(g).zip(buf.iter_mut()) {
                *buf = g + s.weight_decay * *p;
            }
        } else {
            for ((p, &g), buf) in p.iter().zip(g).zip(buf.iter_mut()) {
                *buf = s.momentum * *buf + (g + s.weight_decay * *p);
            }
        }
        let ahead = if s.nesterov { s.momentum } else { 1.0 };
        let direct = if s.nesterov { 1.0 } else { 0.0 };
        for ((p, &g), &buf) in p.iter_mut().zip(g).zip(buf.iter()) {
            let g = g + s.weight_decay * *p;
            *p -= s.lr * (direct * g + ahead * buf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{SIZES, assert_close, noise};

    fn wide(x: &[f32]) -> Vec<f64> {
        x.iter().map(|&x| f64::from(x)).collect()
    }

    #[test]
    fn adam_follows_the_formulas() {
        let s = AdamStep {
            step_size: 0.1,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-8,
            bias2_sqrt: 0.3,
            weight_decay: 0.01,
            decoupled_decay: 0.02,
        };
        on_every_isa(|isa| {
            for n in SIZES {
                let (mut p, g, mut m) = (noise(n, 1), noise(n, 2), noise(n, 3));
                let mut v: Vec<f32> = noise(n, 4).iter().map(|x| x.abs() + 0.1).collect();
                let (mut wp, mut wm, mut wv) = (wide(&p), wide(&m), wide(&v));
                for i in 0..n {
                    let g = f64::from(g[i]) + f64::from(s.weight_decay) * wp[i];
                    wm[i] = f64::from(s.beta1) * wm[i] + (1.0 - f64::from(s.beta1)) * g;
                    wv[i] = f64::from(s.beta2) * wv[i] + (1.0 - f64::from(s.beta2)) * g * g;
                    let denominator = wv[i].sqrt() / f64::from(s.bias2_sqrt) + f64::from(s.eps);
                    wp[i] = wp[i] * (1.0 - f64::from(s.decoupled_decay))
                        - f64::from(s.step_size) * wm[i] / denominator;
                }
                adam(&mut p, &g, &mut m, &mut v, s);
                assert_close(&p, &wp, 1e-6, &format!("p {isa:?} {n}"));
                assert_close(&m, &wm, 1e-6, &format!("m {isa:?} {n}"));
                assert_close(&v, &wv, 1e-6, &format!("v {isa:?} {n}"));
            }
        });
    }

    #[test]
    fn sgd_follows_the_formulas() {
        on_every_isa(|isa| {
            for (momentum, nesterov, first) in [
                (0.0, false, false),
                (0.9, false, true),
                (0.9, false, false),
                (0.9, true, true),
                (0.9, true, false),
            ] {
                let s = SgdStep {
                    lr: 0.1,
                    momentum,
                    nesterov,
                    weight_decay: 0.01,
                    first,
                };
                let (mut p, g) = (noise(100, 1), noise(100, 2));
                let mut buf = if first {
                    vec![f32::NAN; 100]
                } else {
                    noise(100, 3)
                };
                let (old_p, old_buf) = (wide(&p), wide(&buf));
                sgd(&mut p, &g, &mut buf, s);
                let mu = f64::from(momentum);
                let want: Vec<f64> = (0..100)
                    .map(|i| {
                        let g = f64::from(g[i]) + f64::from(s.weight_decay) * old_p[i];
                        let b = if first { g } else { mu * old_buf[i] + g };
                        let step = if momentum == 0.0 {
                            g
                        } else if nesterov {
                            g + mu * b
                        } else {
                            b
                        };
                        old_p[i] - f64::from(s.lr) * step
                    })
                    .collect();
                assert_close(&p, &want, 1e-6, &format!("{isa:?} {s:?}"));
            }
        });
    }
}
