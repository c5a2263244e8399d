//! Rounding to number formats, compiled for the machine. The arithmetic is that of the crate `format`.

use crate::isa::versions;
use format::{Format, Integer, Overflow, Rounding};

/// Adding this to |x| < 2^22 leaves x, rounded to nearest even, in the low mantissa bits.
const ROUND: f32 = 12_582_912.0;
/// The same for `f64` and |x| < 2^51.
const ROUND_WIDE: f64 = 6_755_399_441_055_744.0;

versions! {
    /// [`Format::quantize`]: writes the nearest values of the format to `y`.
    pub fn quantize(f: &Format, x: &[f32], shape: &[usize], y: &mut [f32]) {
        f.quantize(x, shape, y);
    }

    /// [`Format::straight_through`]: zeroes the gradient where rounding `x` saturates.
    pub fn straight_through(f: &Format, x: &[f32], shape: &[usize], grad: &mut [f32]) {
        f.straight_through(x, shape, grad);
    }

    /// [`Format::scale_gradient`]: as [`straight_through`], and returns the gradient of the logarithm of the step.
    pub fn scale_gradient(f: &Format, x: &[f32], grad: &mut [f32]) -> Option<f32> {
        f.scale_gradient(x, grad)
    }

    /// The codes of a signed fixed point of up to 8 bits; NaN becomes 0.
    pub fn quantize_codes_i8(f: Integer, x: &[f32], codes: &mut [i8]) {
        narrow_codes(f, x, codes, #[inline(always)] |code| code as i8);
    }

    /// The codes of an unsigned fixed point of up to 8 bits; NaN becomes 0.
    pub fn quantize_codes_u8(f: Integer, x: &[f32], codes: &mut [u8]) {
        narrow_codes(f, x, codes, #[inline(always)] |code| code as u8);
    }

    /// The codes of a fixed point of up to 8 bits, all moved up so that none is negative; NaN becomes what 0 does.
    pub fn quantize_codes_moved(f: Integer, offset: u8, x: &[f32], codes: &mut [u8]) {
        narrow_codes(f, x, codes, #[inline(always)] |code| (code + i32::from(offset)) as u8);
    }

    /// The codes of a fixed point of up to 8 bits as words; NaN becomes 0.
    pub fn quantize_codes_i16(f: Integer, x: &[f32], codes: &mut [i16]) {
        narrow_codes(f, x, codes, #[inline(always)] |code| code as i16);
    }

    /// The codes of a fixed point of up to 32 bits, 31 if unsigned; NaN becomes 0.
    pub fn quantize_codes_i32(f: Integer, x: &[f32], codes: &mut [i32]) {
        assert_eq!(x.len(), codes.len(), "quantize_codes: {} values, {} codes", x.len(), codes.len());
        if f.overflow == Overflow::Wrap {
            return wrapped_codes(f, x, codes, #[inline(always)] |code| code as i32);
        }
        let ((lo, hi), scale) = (code_range(f), 2f64.powi(f.frac_width));
        let (floor, ties_up) = (f.rounding == Rounding::Floor, f.rounding == Rounding::NearestUp);
        for (code, &x) in codes.iter_mut().zip(x) {
            let exact = (f64::from(x) * scale).clamp(lo, hi);
            let shifted = exact + ROUND_WIDE;
            let nearest = shifted - ROUND_WIDE;
            let down = i64::from(floor && nearest > exact);
            let up = i64::from(ties_up && exact - nearest == 0.5);
            let near = shifted.to_bits().wrapping_sub(ROUND_WIDE.to_bits()) as i64;
            *code = if x.is_nan() { 0 } else { (near + up - down) as i32 };
        }
    }
}

/// Smallest and largest code.
#[inline(always)]
fn code_range(f: Integer) -> (f64, f64) {
    let span = 2f64.powi(f.width as i32 - i32::from(f.signed));
    (if f.signed { -span } else { 0.0 }, span - 1.0)
}

/// Codes of up to 8 bits: the scaled value is clamped, then rounded by the addition of a large number. Scaling by a power
/// of two is exact, or leaves a value far below a half, or one far beyond the range.
#[inline(always)]
fn narrow_codes<T>(f: Integer, x: &[f32], codes: &mut [T], narrow: impl Fn(i32) -> T) {
    assert_eq!(
        x.len(),
        codes.len(),
        "quantize_codes: {} values, {} codes",
        x.len(),
        codes.len()
    );
    assert!(f.width <= 8, "quantize_codes: width {} exceeds 8", f.width);
    if f.overflow == Overflow::Wrap {
        return wrapped_codes(f, x, codes, |code| narrow(code as i32));
    }
    let (lo, hi) = code_range(f);
    let (lo, hi) = (lo as f32, hi as f32);
    let half = f.frac_width / 2;
    let (first, second) = (2f32.powi(half), 2f32.powi(f.frac_width - half));
    let (floor, ties_up) = (
        f.rounding == Rounding::Floor,
        f.rounding == Rounding::NearestUp,
    );
    for (code, &x) in codes.iter_mut().zip(x) {
        let exact = (x * first * second).clamp(lo, hi);
        let shifted = exact + ROUND;
        let nearest = shifted - ROUND;
        let down = i32::from(floor && nearest > exact);
        let up = i32::from(ties_up && exact - nearest == 0.5);
        let near = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
        *code = narrow(if x.is_nan() { 0 } else { near + up - down });
    }
}

/// Codes that wrap, of up to 32 bits.
#[inline(always)]
fn wrapped_codes<T>(f: Integer, x: &[f32], codes: &mut [T], narrow: impl Fn(i64) -> T) {
    /// Multiples of 2^width from here on: floats have no bits that far below.
    const WHOLE_TURNS: f64 = 72_057_594_037_927_936.0; // 2^56
    let (scale, span) = (2f64.powi(f.frac_width), 1_i64 << f.width);
    for (code, &x) in codes.iter_mut().zip(x) {
        let exact = f64::from(x.clamp(f32::MIN, f32::MAX)) * scale;
        let whole = match f.rounding {
            Rounding::NearestEven => exact.round_ties_even(),
            Rounding::NearestUp => (exact + 0.5).floor(),
            Rounding::Floor => exact.floor(),
        };
        let turned = if whole.abs() < WHOLE_TURNS {
            (whole as i64).rem_euclid(span)
        } else {
            0
        };
        let is_negative = f.signed && turned >= span / 2;
        *code = narrow(if is_negative { turned - span } else { turned });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;

    fn samples() -> Vec<f32> {
        let mut x: Vec<f32> = noise(5000, 1).iter().map(|x| x * 20.0).collect();
        x.extend((-400..400).map(|i: i16| f32::from(i) / 32.0));
        x.extend([
            0.0,
            -0.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            1e30,
            -1e30,
            1e-40,
        ]);
        x
    }

    /// A value for a field that must be given.
    fn sample(field: &str) -> &'static str {
        match field {
            "width" => "8",
            "frac_width" => "3",
            "block_size" => "[16]",
            _ => "4",
        }
    }

    #[test]
    fn every_level_rounds_as_the_format_does() {
        let x = samples();
        for entry in Format::TABLE {
            let fields = entry.fields.iter().filter(|field| field.default.is_none());
            let given: Vec<String> = fields
                .map(|field| format!("{} = {}", field.name, sample(field.name)))
                .collect();
            let spec = Format::parse(&format!("{}({})", entry.name, given.join(", "))).unwrap();
            let mut want = vec![0.0; x.len()];
            spec.quantize(&x, &[x.len()], &mut want);
            on_every_isa(|isa| {
                let mut y = vec![9.0; x.len()];
                quantize(&spec, &x, &[x.len()], &mut y);
                let same = y
                    .iter()
                    .zip(&want)
                    .all(|(y, w)| y.to_bits() == w.to_bits() || (y.is_nan() && w.is_nan()));
                assert!(same, "{isa:?} {spec}");
                let (mut grad, mut expected) = (vec![1.0; x.len()], vec![1.0; x.len()]);
                straight_through(&spec, &x, &[x.len()], &mut grad);
                spec.straight_through(&x, &[x.len()], &mut expected);
                assert_eq!(grad, expected, "{isa:?} {spec}");
            });
        }
    }

    #[test]
    fn codes_times_the_step_are_the_rounded_values() {
        let x = samples();
        for (width, frac_width) in [(8, 4), (8, 0), (5, 7), (8, -2), (3, 1), (1, 0)] {
            for (signed, rounding, overflow) in [
                (true, Rounding::NearestEven, Overflow::Saturate),
                (false, Rounding::NearestEven, Overflow::Saturate),
                (true, Rounding::Floor, Overflow::Saturate),
                (true, Rounding::NearestUp, Overflow::Saturate),
                (false, Rounding::NearestUp, Overflow::Wrap),
                (true, Rounding::NearestEven, Overflow::Wrap),
                (true, Rounding::Floor, Overflow::Wrap),
            ] {
                let integer = Integer {
                    width,
                    frac_width,
                    signed,
                    rounding,
                    overflow,
                };
                let mut values = vec![0.0; x.len()];
                Format::Integer(integer).quantize(&x, &[x.len()], &mut values);
                let want: Vec<i32> = values
                    .iter()
                    .map(|v| (v * 2f32.powi(frac_width)) as i32)
                    .collect();
                on_every_isa(|isa| {
                    let mut wide = vec![9; x.len()];
                    quantize_codes_i32(integer, &x, &mut wide);
                    assert_eq!(wide, want, "{isa:?} {integer:?}");
                    let (mut bytes, mut unsigned) = (vec![9i8; x.len()], vec![9u8; x.len()]);
                    if signed {
                        quantize_codes_i8(integer, &x, &mut bytes);
                        assert!(
                            bytes.iter().map(|&c| i32::from(c)).eq(want.iter().copied()),
                            "{isa:?} {integer:?}"
                        );
                    } else {
                        quantize_codes_u8(integer, &x, &mut unsigned);
                        assert!(
                            unsigned
                                .iter()
                                .map(|&c| i32::from(c))
                                .eq(want.iter().copied()),
                            "{isa:?} {integer:?}"
                        );
                    }
                });
            }
        }
    }

    /// The smooth form holds what rounding adds: s·clamp(x / s + rest) with the rest of the middle scale.
    #[test]
    fn the_gradient_of_a_scale_is_that_of_the_smooth_form() {
        let x: Vec<f32> = noise(3000, 7).iter().map(|x| x * 3.0).collect();
        let dy = noise(3000, 8);
        for (spec, scale, lo, hi) in [
            ("affine(4, 0.3)", 0.3_f64, -8.0, 7.0),
            ("affine(3, 0.7, signed = false)", 0.7, 0.0, 7.0),
            ("integer(4, 1)", 0.5, -8.0, 7.0),
        ] {
            let smooth = |log2: f64| {
                let step = scale * log2.exp2();
                let terms = x.iter().zip(&dy).map(|(&x, &dy)| {
                    let exact = f64::from(x) / scale;
                    let code = exact.round_ties_even();
                    let value = if code < lo || code > hi {
                        code.clamp(lo, hi)
                    } else {
                        f64::from(x) / step + code - exact
                    };
                    f64::from(dy) * value * step
                });
                terms.sum::<f64>()
            };
            let h = 1e-4;
            let want = (smooth(h) - smooth(-h)) / (2.0 * h) / std::f64::consts::LN_2;
            on_every_isa(|isa| {
                let format = Format::parse(spec).unwrap();
                let (mut grad, mut masked) = (dy.clone(), dy.clone());
                let got = f64::from(scale_gradient(&format, &x, &mut grad).unwrap());
                straight_through(&format, &x, &[x.len()], &mut masked);
                assert_eq!(grad, masked, "{isa:?} {spec}");
                assert!(
                    (got - want).abs() < 1e-3 * want.abs().max(1.0),
                    "{isa:?} {spec}: {got} {want}"
                );
            });
        }
    }

    #[test]
    fn wide_codes_are_exact() {
        let integer = Integer::new(32, 20);
        let x = [1.0, -2047.999, 1e9, -1e9, 0.333_333_34, 1e-7, f32::NAN];
        let mut codes = [9; 7];
        quantize_codes_i32(integer, &x, &mut codes);
        let want = x.map(|x| (f64::from(x) * 1_048_576.0).round_ties_even() as i32);
        assert_eq!(codes, want);
    }
}
