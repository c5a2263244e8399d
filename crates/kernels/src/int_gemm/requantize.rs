//! From 32-bit sums back to narrow codes: a rounding shift, a clamp, a narrowing.

use crate::isa::versions;

/// Writes `x / 2^shift` of each sum, rounded to nearest, ties to even, and clamped; a negative shift multiplies.
#[inline(always)]
fn each<T>(acc: &[i32], shift: i32, lo: i32, hi: i32, out: &mut [T], narrow: impl Fn(i32) -> T) {
    assert_eq!(
        acc.len(),
        out.len(),
        "requantize: {} sums, {} outputs",
        acc.len(),
        out.len()
    );
    // The shift is the same for all: its kind is decided outside the loops.
    let sums = out.iter_mut().zip(acc);
    match shift {
        1..=31 => {
            let (mask, half) = ((1u32 << shift) - 1, 1u32 << (shift - 1));
            for (out, &x) in sums {
                let quotient = x >> shift;
                // Up when the rest is above a half, or a half under an odd quotient.
                let up = ((x as u32 & mask) + (quotient as u32 & 1) > half) as i32;
                *out = narrow((quotient + up).clamp(lo, hi));
            }
        }
        // At most a half of the last place.
        32.. => sums.for_each(|(out, _)| *out = narrow(0.clamp(lo, hi))),
        ..=0 => {
            let up = shift.unsigned_abs().min(31);
            for (out, &x) in sums {
                *out = narrow((i64::from(x) << up).clamp(lo.into(), hi.into()) as i32);
            }
        }
    }
}

versions! {
    /// `clamp(round(acc / 2^shift), lo, hi)` as `u8`, ties to even; a negative shift multiplies. `lo ≤ hi` must fit `u8`.
    pub fn requantize_i32_to_u8(acc: &[i32], shift: i32, lo: i32, hi: i32, out: &mut [u8]) {
        each(acc, shift, lo, hi, out, #[inline(always)] |x| x as u8);
    }

    /// As [`requantize_i32_to_u8`], to `i8`.
    pub fn requantize_i32_to_i8(acc: &[i32], shift: i32, lo: i32, hi: i32, out: &mut [i8]) {
        each(acc, shift, lo, hi, out, #[inline(always)] |x| x as i8);
    }

    /// As [`requantize_i32_to_u8`], to `i16`.
    pub fn requantize_i32_to_i16(acc: &[i32], shift: i32, lo: i32, hi: i32, out: &mut [i16]) {
        each(acc, shift, lo, hi, out, #[inline(always)] |x| x as i16);
    }
}
