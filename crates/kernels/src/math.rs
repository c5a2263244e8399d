//! Elementary functions as straight-line `f32` arithmetic, so that loops over them vectorise.
//!
//! Each is within 4e-7 of the true value, relatively, wherever the result is a normal number; limits at ±∞ are right and
//! NaN stays NaN. The polynomials, and the quotient of two, are weighted least-squares fits
//! at Chebyshev nodes over the stated interval.

use std::f32::consts::LOG2_E;

/// Adding this to |x| < 2^22 leaves x, rounded to nearest even, in the low mantissa bits.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// `e^x`. Results below the normal range lose precision, as they must, and flush to zero under 2^-149.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let bounded = x.clamp(-104.0, 89.0);
    let rounded = bounded * LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    // (e^r - 1 - r) / r² for |r| ≤ ln 2 / 2
    let p =
        0.5 + r * (0.166_665_76 + r * (0.041_666_463 + r * (0.008_363_236 + r * 0.001_393_373_4)));
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = exponent >> 1;
    (1.0 + (r + r * r * p)) * power_of_two(half) * power_of_two(exponent - half)
}

/// `e^x - 1`, relatively right near zero.
#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    // (e^x - 1 - x) / x² for |x| ≤ 1/2
    let p = 0.5
        + x * (0.166_666_67
            + x * (0.041_665_792
                + x * (0.008_333_182 + x * (0.001_398_219_7 + x * 0.000_199_621_86))));
    if x.abs() <= 0.5 {
        x + x * x * p
    } else {
        exp(x) - 1.0
    }
}

/// Natural logarithm; −∞ at zero, NaN below it.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    // Splits x = 2^e · m with m in [√½, √2).
    let bits = scaled.to_bits().wrapping_sub(0x3f35_04f3);
    let exponent = (bits as i32) >> 23;
    let m = f32::from_bits((bits & 0x007f_ffff) + 0x3f35_04f3);
    let e = exponent as f32 - if subnormal { 23.0 } else { 0.0 };
    let finite = ln_near_one(m - 1.0, e);
    let edge = if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    let positive = if x == f32::INFINITY { x } else { finite };
    if x > 0.0 { positive } else { edge }
}

/// `ln(1 + x)` for `x ≥ 0`, relatively right near zero.
#[inline(always)]
fn ln_1p_positive(x: f32) -> f32 {
    let w = 1.0 + x;
    ln(w) + (x - (w - 1.0)) / w
}

/// `e·ln 2 + ln(1 + f)` for f in [√½ − 1, √2 − 1).
#[inline(always)]
fn ln_near_one(f: f32, e: f32) -> f32 {
    let p = 0.333_333_3
        + f * (-0.249_999_9
            + f * (0.200_007_08
                + f * (-0.166_684_8
                    + f * (0.142_499_37
                        + f * (-0.124_110_505
                            + f * (0.116_615_11 + f * (-0.115_712_01 + f * 0.071_497_54)))))));
    let square = f * f;
    let small = square * f * p + e * LN_2_LOW - 0.5 * square;
    (f + small) + e * LN_2_HIGH
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let s = x * x;
    // (tanh x - x) / x³ for |x| ≤ 5/8
    let p = -0.333_333_34
        + s * (0.133_333_04
            + s * (-0.053_959_407
                + s * (0.021_769_963 + s * (-0.008_346_987 + s * 0.002_295_847_3))));
    let size = x.abs();
    let large = (1.0 - 2.0 / (exp(2.0 * size) + 1.0)).copysign(x);
    if size <= 0.625 {
        x * (1.0 + s * p)
    } else {
        large
    }
}

/// Logistic function, `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `ln(1 + e^x)` without overflow.
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let tail = ln_1p_positive(exp(-x.abs()));
    if x > 0.0 { x + tail } else { tail }
}

/// Error function.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    // erf(t) / t = p / q in s = t² for t ≤ 4; from 3.92 on erf rounds to 1. Sums of pairs have shorter chains, and smaller errors,
    // than one sum after the other.
    let t = x.abs().min(4.0);
    let s = t * t;
    let square = s * s;
    let p = (1.213_007_6 + s * 0.208_061_13)
        + square
            * ((0.057_084_408 + s * 0.004_174_605)
                + square * (0.000_305_908_9 + s * 2.135_793_7e-6));
    let q = (1.075 + s * 0.542_721_87)
        + square
            * ((0.124_001_33 + s * 0.016_347_814)
                + square * (0.001_274_492_1 + s * 4.022_674_7e-5));
    let size = if t < 3.92 { (t * p / q).min(1.0) } else { 1.0 };
    if x.is_nan() { x } else { size.copysign(x) }
}

/// 2^n for −126 ≤ n ≤ 127, and 0 or ∞ one step outside.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        name: &'static str,
        ours: fn(f32) -> f32,
        exact: fn(f64) -> f64,
        from: f32,
        to: f32,
    }

    /// Series below 3, continued fraction above: independent of the polynomials under test.
    fn erf_exact(x: f64) -> f64 {
        let t = x.abs();
        let value = if t < 3.0 {
            let mut term = t;
            let mut sum = t;
            for n in 1..200 {
                term *= -t * t / f64::from(n);
                sum += term / f64::from(2 * n + 1);
            }
            sum * std::f64::consts::FRAC_2_SQRT_PI
        } else {
            let mut fraction = t;
            for n in (1..60).rev() {
                fraction = t + f64::from(n) / 2.0 / fraction;
            }
            1.0 - (-t * t).exp() / (fraction * std::f64::consts::PI.sqrt())
        };
        value.copysign(x)
    }

    fn cases() -> Vec<Case> {
        vec![
            Case {
                name: "exp",
                ours: exp,
                exact: f64::exp,
                from: -87.0,
                to: 88.7,
            },
            Case {
                name: "expm1",
                ours: expm1,
                exact: f64::exp_m1,
                from: -20.0,
                to: 88.0,
            },
            Case {
                name: "ln",
                ours: ln,
                exact: f64::ln,
                from: 1e-30,
                to: 100.0,
            },
            Case {
                name: "tanh",
                ours: tanh,
                exact: f64::tanh,
                from: -12.0,
                to: 12.0,
            },
            Case {
                name: "sigmoid",
                ours: sigmoid,
                exact: |x| 1.0 / (1.0 + (-x).exp()),
                from: -87.0,
                to: 30.0,
            },
            Case {
                name: "softplus",
                ours: softplus,
                exact: |x| x.exp().ln_1p(),
                from: -80.0,
                to: 80.0,
            },
            Case {
                name: "erf",
                ours: erf,
                exact: erf_exact,
                from: -6.0,
                to: 6.0,
            },
        ]
    }

    #[test]
    fn relative_error_is_within_four_e_minus_seven() {
        for case in cases() {
            let (mut worst, mut at) = (0.0f64, 0.0f32);
            let mut check = |x: f32| {
                let (got, want) = (f64::from((case.ours)(x)), (case.exact)(f64::from(x)));
                let error = if want == 0.0 {
                    got.abs()
                } else {
                    (got / want - 1.0).abs()
                };
                if error > worst {
                    (worst, at) = (error, x);
                }
            };
            let steps = 400_000;
            for i in 0..=steps {
                check(case.from + (case.to - case.from) * i as f32 / steps as f32);
            }
            // Near zero, and near one for the logarithms, on a logarithmic grid.
            for i in 0..4000 {
                let tiny = 10f32.powf(-30.0 * i as f32 / 4000.0);
                for x in [tiny, -tiny, 1.0 + tiny, 1.0 - tiny] {
                    if x >= case.from && x <= case.to {
                        check(x);
                    }
                }
            }
            assert!(worst <= 4e-7, "{}: error {worst:e} at {at:e}", case.name);
        }
    }

    #[test]
    fn limits_and_nan() {
        let inf = f32::INFINITY;
        assert_eq!(
            (exp(inf), exp(-inf), exp(1000.0), exp(0.0)),
            (inf, 0.0, inf, 1.0)
        );
        assert_eq!((expm1(inf), expm1(-inf), expm1(0.0)), (inf, -1.0, 0.0));
        assert_eq!((ln(inf), ln(0.0), ln(1.0)), (inf, -inf, 0.0));
        assert!(ln(-1.0).is_nan());
        assert_eq!((tanh(inf), tanh(-inf), tanh(50.0)), (1.0, -1.0, 1.0));
        assert_eq!((sigmoid(inf), sigmoid(-inf)), (1.0, 0.0));
        assert_eq!((erf(inf), erf(-inf)), (1.0, -1.0));
        assert_eq!((softplus(inf), softplus(-inf)), (inf, 0.0));
        for case in cases() {
            assert!((case.ours)(f32::NAN).is_nan(), "{}", case.name);
        }
    }

    #[test]
    fn signed_zeros_and_subnormals() {
        assert!(tanh(-0.0).is_sign_negative() && erf(-0.0).is_sign_negative());
        let x = 1e-40f32;
        assert!((f64::from(ln(x)) / f64::from(x).ln() - 1.0).abs() < 4e-7);
        assert!((f64::from(exp(-100.0)) - (-100f64).exp()).abs() <= f64::from(f32::from_bits(1)));
    }
}
