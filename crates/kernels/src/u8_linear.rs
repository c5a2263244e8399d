//! Layers on bytes with results in floats: codes times packed weights, exact in integers, scaled by a power of two.
//!
//! Codes, weights and starts lie in memory of floats, four bytes or one 32-bit number to a word, so that they fit
//! wherever a caller keeps its floats.

use crate::int_gemm::{gemm_int, pack_b, padded_k_i8};
use crate::isa::versions;
use crate::quantize::{quantize_codes_i8, quantize_codes_u8};
use format::Integer;

/// Words of a row of `k` bytes.
pub const fn words(k: usize) -> usize {
    padded_k_i8(k) / 4
}

/// The codes of rows of `k` floats, each padded to whole words. NaN becomes 0, and then the answer is `true`.
///
/// # Panics
/// When `codes` has not [`words`] for every row, or the format over 8 bits: an error of the caller.
pub fn encode_rows(format: Integer, k: usize, x: &[f32], codes: &mut [f32]) -> bool {
    let (rows, pitch) = (x.len() / k.max(1), padded_k_i8(k));
    assert_eq!(
        codes.len(),
        rows * words(k),
        "u8_linear: {} words for {rows} rows of {k} bytes",
        codes.len()
    );
    let bytes = bytes_mut(codes);
    if pitch == k {
        encode(format, x, bytes);
    } else {
        bytes.fill(0);
        for (x, row) in x.chunks_exact(k).zip(bytes.chunks_exact_mut(pitch)) {
            encode(format, x, &mut row[..k]);
        }
    }
    has_nan(x)
}

fn encode(format: Integer, x: &[f32], bytes: &mut [i8]) {
    if format.signed {
        quantize_codes_i8(format, x, bytes);
    } else {
        quantize_codes_u8(format, x, unsigned_mut(bytes));
    }
}

/// Packs weights `[n][k]`, values of a signed format of at most 8 bits, into `n · words(k)` words.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn pack_weights(format: Integer, k: usize, n: usize, weights: &[f32], packed: &mut [f32]) {
    let mut codes = vec![0; k * n];
    quantize_codes_i8(format, weights, &mut codes);
    pack_b(k, n, &codes, 1, k, bytes_mut(packed));
}

/// `y = (start + codes·weights) · scale` for `m` rows, with negative results 0 under `relu`. The sums are exact as long as
/// they fit 32 bits, and the results as long as the sums fit 24.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn multiply(
    [m, k, n]: [usize; 3],
    is_signed: bool,
    codes: &[f32],
    packed: &[f32],
    start: &[f32],
    (scale, relu): (f32, bool),
    y: &mut [f32],
) {
    let (codes, packed, start) = (bytes(codes), bytes(packed), Some(numbers(start)));
    let sums = numbers_mut(&mut y[..m * n]);
    if is_signed {
        gemm_int::<i8>(m, k, n, codes, packed, start, sums, n);
    } else {
        gemm_int::<u8>(m, k, n, unsigned(codes), packed, start, sums, n);
    }
    if relu {
        scale_positive(scale, &mut y[..m * n]);
    } else {
        scale_all(scale, &mut y[..m * n]);
    }
}

versions! {
    /// Floats from the 32-bit numbers in their place.
    fn scale_all(scale: f32, y: &mut [f32]) {
        for y in y {
            *y = (y.to_bits() as i32) as f32 * scale;
        }
    }

    /// The same, with 0 for what is negative.
    fn scale_positive(scale: f32, y: &mut [f32]) {
        for y in y {
            *y = (y.to_bits() as i32).max(0) as f32 * scale;
        }
    }

    fn has_nan(x: &[f32]) -> bool {
        x.iter().fold(false, |found, x| found | x.is_nan())
    }
}

/// A 32-bit number in a word.
pub fn number(value: i32) -> f32 {
    f32::from_bits(value as u32)
}

fn bytes(words: &[f32]) -> &[i8] {
    // SAFETY: four bytes to a word; every pattern of bits is a byte, and the alignment only falls.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 4 * words.len()) }
}

fn bytes_mut(words: &mut [f32]) -> &mut [i8] {
    // SAFETY: as above, and every pattern of bits is a float too.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 4 * words.len()) }
}

fn unsigned(bytes: &[i8]) -> &[u8] {
    // SAFETY: the same size, alignment and patterns of bits.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

fn unsigned_mut(bytes: &mut [i8]) -> &mut [u8] {
    // SAFETY: the same size, alignment and patterns of bits.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

fn numbers(words: &[f32]) -> &[i32] {
    // SAFETY: the same size and alignment; every pattern of bits is a number.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

fn numbers_mut(words: &mut [f32]) -> &mut [i32] {
    // SAFETY: as above, and every pattern of bits is a float too.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;
    use format::Rounding;

    fn fixed(width: u32, frac_width: i32, signed: bool) -> Integer {
        Integer {
            width,
            frac_width,
            signed,
            rounding: Rounding::NearestEven,
        }
    }

    /// The value of a code of a format, by definition.
    fn value(format: Integer, x: f32) -> f64 {
        let span = 2_f64.powi(format.width as i32 - i32::from(format.signed));
        let lowest = if format.signed { -span } else { 0.0 };
        let scale = 2_f64.powi(format.frac_width);
        (f64::from(x) * scale)
            .round_ties_even()
            .clamp(lowest, span - 1.0)
            / scale
    }

    #[test]
    fn layers_of_any_size_are_exact_sums() {
        let weight = fixed(8, 5, true);
        for data in [fixed(8, 3, true), fixed(4, 2, true), fixed(8, 4, false)] {
            for [m, k, n] in [
                [1, 1, 1],
                [3, 5, 7],
                [13, 16, 5],
                [25, 18, 33],
                [64, 64, 70],
            ] {
                let x: Vec<f32> = noise(m * k, 1).iter().map(|x| 9.0 * x).collect();
                let w: Vec<f32> = noise(n * k, 2).iter().map(|x| 3.0 * x).collect();
                let sum_frac = data.frac_width + weight.frac_width;
                let starts: Vec<i32> = noise(n, 3).iter().map(|x| (900.0 * x) as i32).collect();
                let want = |i: usize, j: usize| {
                    let product =
                        |p: usize| value(data, x[i * k + p]) * value(weight, w[j * k + p]);
                    (0..k).map(product).sum::<f64>() + f64::from(starts[j]) * 2_f64.powi(-sum_frac)
                };
                on_every_isa(|isa| {
                    let (mut codes, mut packed) =
                        (vec![f32::NAN; m * words(k)], vec![0.0; n * words(k)]);
                    assert!(!encode_rows(data, k, &x, &mut codes));
                    pack_weights(weight, k, n, &w, &mut packed);
                    let start: Vec<f32> = starts.iter().map(|&start| number(start)).collect();
                    for relu in [false, true] {
                        let mut y = vec![f32::NAN; m * n];
                        let scale = 2_f32.powi(-sum_frac);
                        multiply(
                            [m, k, n],
                            data.signed,
                            &codes,
                            &packed,
                            &start,
                            (scale, relu),
                            &mut y,
                        );
                        for (at, &y) in y.iter().enumerate() {
                            let want = want(at / n, at % n);
                            let want = if relu { want.max(0.0) } else { want };
                            assert_eq!(f64::from(y), want, "{isa:?} {m}×{k}×{n} at {at}, {data:?}");
                        }
                    }
                });
            }
        }
    }

    #[test]
    fn what_is_no_number_is_told() {
        on_every_isa(|isa| {
            for at in 0..70 {
                let mut x = noise(70, 4);
                x[at] = f32::NAN;
                let mut codes = vec![0.0; 10 * words(7)];
                assert!(
                    encode_rows(fixed(8, 4, true), 7, &x, &mut codes),
                    "{isa:?} {at}"
                );
            }
        });
    }
}
