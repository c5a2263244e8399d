//! From sums or floats to narrow codes in one pass: `clamp(x·scale + offset, lo, hi)`, rounded to nearest with ties to
//! even, once or twice over.
//!
//! The arithmetic is f32 and exact as long as `x·scale + offset`, before it is rounded, has at most 24 significant bits
//! and the bounds are within ±2^22; the caller proves that. All levels give the same bits.

#[cfg(target_arch = "x86_64")]
mod vnni;

use crate::int_gemm::LeftRows;
#[cfg(target_arch = "x86_64")]
use crate::int_gemm::left::RowPointers;
use crate::isa::{has_vnni, versions};

/// Adding this to a magnitude up to 2^22 rounds it to a whole number, whose two's complement is then in the low bits.
const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23

/// One affine map and rounding. Element `i` has the scale and offset of place `i mod len`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescale {
    scale: Vec<f32>,
    offset: Vec<f32>,
    lo: f32,
    hi: f32,
    /// The factor, when it is the same everywhere and nothing is added.
    shift: Option<f32>,
}

impl Rescale {
    /// The map `x·scale + offset`, clamped to `lo..=hi` and rounded.
    ///
    /// # Panics
    /// When there are not as many scales as offsets, or none.
    pub fn new(scale: Vec<f32>, offset: Vec<f32>, (lo, hi): (f32, f32)) -> Self {
        let (scales, offsets) = (scale.len(), offset.len());
        assert!(
            scales == offsets && scales > 0,
            "requantize: {scales} scales, {offsets} offsets"
        );
        let is_shift = offset.iter().all(|&o| o == 0.0) && scale.iter().all(|&s| s == scale[0]);
        let shift = is_shift.then_some(scale[0]);
        Self {
            scale,
            offset,
            lo,
            hi,
            shift,
        }
    }

    /// The smallest and the largest result.
    pub fn bounds(&self) -> (f32, f32) {
        (self.lo, self.hi)
    }

    /// The same map within narrower bounds.
    #[must_use]
    pub fn clamped(self, lo: f32, hi: f32) -> Self {
        let clamp = |bound: f32| bound.max(lo).min(hi);
        Self {
            lo: clamp(self.lo),
            hi: clamp(self.hi),
            ..self
        }
    }

    #[inline(always)]
    fn apply(&self, x: f32, scale: f32, offset: f32) -> f32 {
        let x = x * scale + offset;
        let x = if x < self.hi { x } else { self.hi };
        let x = if x > self.lo { x } else { self.lo };
        x + MAGIC
    }
}

/// An operand of a rescaling.
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
    /// The sign of a byte: true when it is signed; `None` for wider codes.
    const BYTE: Option<bool>;

    /// The code in the low bits.
    fn from_low_bits(bits: u32) -> Self;
}

/// A byte of the left operand of a layer.
pub trait LeftByte: Copy {
    /// True when it is signed.
    const SIGNED: bool;
}

impl LeftByte for u8 {
    const SIGNED: bool = false;
}

impl LeftByte for i8 {
    const SIGNED: bool = true;
}

macro_rules! narrow_codes {
    ($($ty:ty = $byte:expr),*) => {$(
        impl NarrowCode for $ty {
            const BYTE: Option<bool> = $byte;

            #[inline(always)]
            fn from_low_bits(bits: u32) -> Self {
                bits as Self
            }
        }
    )*};
}

narrow_codes!(u8 = Some(false), i8 = Some(true), i16 = None);

/// `y = maps(start + A·B)` in one pass with sums in registers, where the CPU has the instructions for it and the result is
/// bytes; otherwise nothing is done and the answer is `false`. B is packed by [`pack_b`](crate::int_gemm::pack_b), with a part of
/// its own for every run of a row of A; there are one or two maps with at least `n` places each.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn fused_layer<A: LeftByte, Y: NarrowCode>(
    rows: &LeftRows<A>,
    n: usize,
    b_packed: &[i8],
    start: &[i32],
    maps: &[Rescale],
    y: &mut [Y],
) -> bool {
    if Y::BYTE.is_none() || !has_vnni() {
        return false;
    }
    let m = rows.starts.len();
    let depth = rows.runs.len() * rows.run.next_multiple_of(4);
    let places = maps.iter().map(|map| map.scale.len()).min().unwrap_or(0);
    for (what, bytes, need) in [
        ("B", b_packed.len(), depth * n),
        ("the result", y.len(), m * n),
    ] {
        assert!(
            bytes >= need,
            "requantize: {what} has {bytes} bytes, needs {need}"
        );
    }
    assert!(
        start.len() >= n && places >= n,
        "requantize: {} starts, {places} places, n = {n}",
        start.len()
    );
    #[cfg(target_arch = "x86_64")]
    {
        let (before, map) = match maps {
            [map] => (None, map),
            [first, map] if first.shift.is_some() => (first.shift, map),
            _ => return false,
        };
        let task = vnni::LayerTask {
            m,
            n,
            a: RowPointers::new(rows),
            b: b_packed.as_ptr().cast(),
            start: start.as_ptr(),
            before: before.map_or_else(Default::default, |factor| vnni::Shift {
                factor,
                lo: maps[0].lo.round_ties_even(),
                hi: maps[0].hi.round_ties_even(),
            }),
            map: map.into(),
            y: y.as_mut_ptr().cast(),
        };
        let y_signed = Y::BYTE == Some(true);
        // SAFETY: lengths were checked above; `has_vnni` vouches for the features; Y is a byte.
        unsafe {
            match before {
                None => run::<false>(A::SIGNED, y_signed, task),
                Some(_) => run::<true>(A::SIGNED, y_signed, task),
            }
        }
    }
    true
}

/// Picks the tiles for the signs of both sides.
///
/// # Safety
/// The CPU must have VNNI, and the pointers of the task the lengths that its sizes need.
#[cfg(target_arch = "x86_64")]
unsafe fn run<const BEFORE: bool>(a_signed: bool, y_signed: bool, task: vnni::LayerTask) {
    // SAFETY: the caller's promise.
    unsafe {
        match (a_signed, y_signed) {
            (false, false) => vnni::run::<false, false, BEFORE>(task),
            (false, true) => vnni::run::<false, true, BEFORE>(task),
            (true, false) => vnni::run::<true, false, BEFORE>(task),
            (true, true) => vnni::run::<true, true, BEFORE>(task),
        }
    }
}

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
        assert_eq!(check(x.len(), y.len(), second), period, "requantize: the rescalings' places differ");
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
    assert_eq!(from, to, "requantize: {from} elements in, {to} out");
    rescale.scale.len()
}

#[cfg(test)]
mod tests;
