//! From 32-bit sums back to narrow codes: a rounding shift, a clamp, a narrowing.

use crate::isa::versions;

/// `x / 2^shift` rounded to nearest, ties to even; a negative shift multiplies. Saturates at 32 bits.
#[inline(always)]
fn shifted(x: i32, shift: i32) -> i32 {
    match shift {
        0 => x,
        1..=31 => {
            let (quotient, rest) = (x >> shift, x as u32 & ((1u32 << shift) - 1));
            // Up when the rest is above a half, or a half under an odd quotient.
            quotient + i32::from(rest + (quotient as u32 & 1) > 1u32 << (shift - 1))
        }
        32.. => 0,
        _ => (i64::from(x) << shift.unsigned_abs().min(31))
            .clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
    }
}

#[inline(always)]
fn each<T>(acc: &[i32], shift: i32, lo: i32, hi: i32, out: &mut [T], narrow: impl Fn(i32) -> T) {
    assert_eq!(
        acc.len(),
        out.len(),
        "requantize: {} sums, {} outputs",
        acc.len(),
        out.len()
    );
    // The shift is the same for all: its kind is decided outside the loop.
    if (1..32).contains(&shift) {
        let (mask, half) = ((1u32 << shift) - 1, 1u32 << (shift - 1));
        for (out, &x) in out.iter_mut().zip(acc) {
            let quotient = x >> shift;
            let up = ((x as u32 & mask) + (quotient as u32 & 1) > half) as i32;
            *out = narrow((quotient + up).clamp(lo, hi));
        }
        return;
    }
    for (out, &x) in out.iter_mut().zip(acc) {
        *out = narrow(shifted(x, shift).clamp(lo, hi));
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
