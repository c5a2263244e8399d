//! From sums or floats to narrow codes in one pass: `clamp(x·scale + offset, lo, hi)`, rounded to nearest with ties to
//! even, once or twice over.
//!
//! The arithmetic is f32 and exact as long as `x·scale + offset`, before it is rounded, has at most 24 significant bits
//! and the bounds are within ±2^22; the caller proves that. All levels give the same bits.

use crate::isa::versions;

/// Adding this to a magnitude up to 2^22 rounds it to a whole number, whose two's complement is then in the low bits.
const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23

/// One affine map and rounding. Element `i` has the scale and offset of place `i mod len`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescale {
    /// Factors, as many as there are offsets.
    pub scale: Vec<f32>,
    /// What is added after.
    pub offset: Vec<f32>,
    /// The smallest result.
    pub lo: f32,
    /// The largest result.
    pub hi: f32,
}

impl Rescale {
    #[inline(always)]
    fn apply(&self, x: f32, scale: f32, offset: f32) -> f32 {
        let x = x * scale + offset;
        let x = if x < self.hi { x } else { self.hi };
        let x = if x > self.lo { x } else { self.lo };
        x + MAGIC
    }
}

/// What is rescaled.
pub trait Rescalable: Copy {
    /// The value as a float; a float that is not a number is 0.
    fn value(self) -> f32;
}

macro_rules! rescalable {
    ($($ty:ty),*) => {$(
        impl Rescalable for $ty {
            #[inline(always)]
            fn value(self) -> f32 {
                self as f32
            }
        }
    )*};
}

rescalable!(u8, i8, i16, i32);

impl Rescalable for f32 {
    #[inline(always)]
    fn value(self) -> f32 {
        if self.is_nan() { 0.0 } else { self }
    }
}

/// A narrow code.
pub trait NarrowCode: Copy {
    /// The code in the low bits.
    fn from_low_bits(bits: u32) -> Self;
}

macro_rules! narrow_codes {
    ($($ty:ty),*) => {$(
        impl NarrowCode for $ty {
            #[inline(always)]
            fn from_low_bits(bits: u32) -> Self {
                bits as Self
            }
        }
    )*};
}

narrow_codes!(u8, i8, i16);

versions! {
    /// `y = rescale(x)`, as codes.
    ///
    /// # Panics
    /// When lengths do not fit: an error of the caller.
    pub fn rescale_once(x: &[impl Rescalable], rescale: &Rescale, y: &mut [impl NarrowCode]) {
        let period = check(x.len(), y.len(), rescale);
        for (x, y) in x.chunks(period).zip(y.chunks_mut(period)) {
            let coefficients = rescale.scale.iter().zip(&rescale.offset);
            for ((y, &x), (&scale, &offset)) in y.iter_mut().zip(x).zip(coefficients) {
                *y = NarrowCode::from_low_bits(rescale.apply(x.value(), scale, offset).to_bits());
            }
        }
    }

    /// `y = second(first(x))`, as codes; both have the same number of places.
    ///
    /// # Panics
    /// When lengths do not fit: an error of the caller.
    pub fn rescale_twice(
        x: &[impl Rescalable],
        first: &Rescale,
        second: &Rescale,
        y: &mut [impl NarrowCode],
    ) {
        let period = check(x.len(), y.len(), first);
        assert_eq!(check(x.len(), y.len(), second), period, "int_layer: the rescalings' places differ");
        for (x, y) in x.chunks(period).zip(y.chunks_mut(period)) {
            let firsts = first.scale.iter().zip(&first.offset);
            let coefficients = firsts.zip(second.scale.iter().zip(&second.offset));
            for ((y, &x), ((&scale, &offset), (&scale_2, &offset_2))) in y.iter_mut().zip(x).zip(coefficients) {
                let between = first.apply(x.value(), scale, offset) - MAGIC;
                *y = NarrowCode::from_low_bits(second.apply(between, scale_2, offset_2).to_bits());
            }
        }
    }
}

/// The number of places.
#[inline(always)]
fn check(from: usize, to: usize, rescale: &Rescale) -> usize {
    let (scales, offsets) = (rescale.scale.len(), rescale.offset.len());
    assert_eq!(from, to, "int_layer: {from} elements in, {to} out");
    assert_eq!(scales, offsets, "int_layer: {scales} scales, {offsets} offsets");
    scales.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;

    fn uniform(scale: f32, lo: f32, hi: f32, places: usize) -> Rescale {
        Rescale { scale: vec![scale; places], offset: vec![0.0; places], lo, hi }
    }

    #[test]
    fn rounds_to_even_and_saturates() {
        let sums: Vec<i32> = (-3000..3000).collect();
        on_every_isa(|isa| {
            for places in [1, 7, 64] {
                let rescale = uniform(0.0625, -128.0, 127.0, places);
                let mut codes = vec![0_i8; sums.len()];
                rescale_once(&sums, &rescale, &mut codes);
                for (&sum, &code) in sums.iter().zip(&codes) {
                    let want = (f64::from(sum) / 16.0).round_ties_even().clamp(-128.0, 127.0);
                    assert_eq!(f64::from(code), want, "{isa:?} {sum}");
                }
            }
        });
    }

    #[test]
    fn the_second_map_sees_what_the_first_rounded() {
        let sums: Vec<i32> = (-5000..5000).map(|i| i * 3).collect();
        let places = 40;
        let mut second = uniform(0.0, 0.0, 255.0, places);
        for c in 0..places {
            second.scale[c] = (c as f32 - 15.0) / 16.0;
            second.offset[c] = (7.0 - c as f32) / 32.0;
        }
        let first = uniform(0.0625, -128.0, 127.0, places);
        on_every_isa(|isa| {
            let mut codes = vec![0_u8; sums.len()];
            rescale_twice(&sums, &first, &second, &mut codes);
            for (at, (&sum, &code)) in sums.iter().zip(&codes).enumerate() {
                let between = (f64::from(sum) / 16.0).round_ties_even().clamp(-128.0, 127.0);
                let c = at % places;
                let exact = between * f64::from(second.scale[c]) + f64::from(second.offset[c]);
                assert_eq!(f64::from(code), exact.round_ties_even().clamp(0.0, 255.0), "{isa:?} {sum}");
            }
        });
    }

    #[test]
    fn floats_are_encoded_and_what_is_no_number_is_zero() {
        let x = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.5, 1.5, 2.5, 1e-40, 3e38];
        on_every_isa(|isa| {
            let mut codes = [7_i16; 9];
            rescale_once(&x, &uniform(1.0, -300.0, 300.0, 1), &mut codes);
            assert_eq!(codes, [0, 300, -300, 0, 0, 2, 2, 0, 300], "{isa:?}");
        });
    }
}
