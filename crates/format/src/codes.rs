//! Encoded arrays: one code of fixed width per element in a packed stream, and one scale per block.

/// The scale that the elements of one block share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Nothing: each element stands alone.
    One,
    /// A power of two, by its exponent.
    Exponent(i32),
    /// A real factor.
    Factor(f64),
    /// The largest magnitude over its code: a real factor, kept as a quotient so that it is not rounded.
    Ratio {
        /// The largest magnitude.
        max: f32,
        /// The code of the largest magnitude.
        codes: u32,
    },
    /// A real factor for what lies beyond a threshold; decoding needs the factor only.
    Level {
        /// Magnitudes up to here are 0.
        threshold: f64,
        /// The magnitude of all others.
        factor: f64,
    },
}

impl Scale {
    /// The exponent of a power of two, 0 for any other scale.
    #[inline(always)]
    pub(crate) fn exponent(self) -> i32 {
        match self {
            Self::Exponent(exponent) => exponent,
            _ => 0,
        }
    }

    /// The real factor, 1 for any other scale.
    #[inline(always)]
    pub fn factor(self) -> f64 {
        match self {
            Self::Factor(factor) | Self::Level { factor, .. } => factor,
            Self::Ratio { max, codes } => f64::from(max) / f64::from(codes),
            Self::One | Self::Exponent(_) => 1.0,
        }
    }
}

/// An array in the codes of a format, made by [`Format::encode`](crate::Format::encode).
#[derive(Clone, Debug, PartialEq)]
pub struct Codes {
    /// Bits of one code.
    pub width: u32,
    /// Number of elements.
    pub len: usize,
    /// The codes in element order, `width` bits each, lowest bit first, without gaps.
    pub bits: Vec<u64>,
    /// The scale of each block in row-major order of the blocks; empty when each element stands alone.
    pub shared: Vec<Scale>,
}

impl Codes {
    /// `len` codes of `width` bits, all 0.
    pub(crate) fn zeroed(width: u32, len: usize) -> Self {
        let n_words = (len * width as usize).div_ceil(64);
        Self {
            width,
            len,
            bits: vec![0; n_words],
            shared: Vec::new(),
        }
    }

    /// The code of one element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn get(&self, index: usize) -> u64 {
        assert!(index < self.len, "element {index} of {}", self.len);
        let (word, shift) = self.place(index);
        let mut code = self.bits[word] >> shift;
        if shift + self.width > 64 {
            code |= self.bits[word + 1] << (64 - shift);
        }
        code & mask(self.width)
    }

    /// Writes the code of an element that is still 0.
    pub(crate) fn set(&mut self, index: usize, code: u64) {
        let (word, shift) = self.place(index);
        self.bits[word] |= code << shift;
        if shift + self.width > 64 {
            self.bits[word + 1] |= code >> (64 - shift);
        }
    }

    fn place(&self, index: usize) -> (usize, u32) {
        let bit = index * self.width as usize;
        (bit / 64, (bit % 64) as u32)
    }
}

/// A magnitude with the sign that the code's bit `sign` gives it.
pub(crate) fn with_sign(magnitude: f32, code: u64, sign: u64) -> f32 {
    if code & sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The lowest `width` bits, for a width of 1 to 64.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_scales_have_a_factor_and_only_powers_an_exponent() {
        let level = Scale::Level {
            threshold: 9.0,
            factor: 0.5,
        };
        for (scale, factor, exponent) in [
            (Scale::One, 1.0, 0),
            (Scale::Exponent(-3), 1.0, -3),
            (Scale::Factor(2.5), 2.5, 0),
            (Scale::Ratio { max: 6.0, codes: 4 }, 1.5, 0),
            (level, 0.5, 0),
        ] {
            assert_eq!(
                (scale.factor(), scale.exponent()),
                (factor, exponent),
                "{scale:?}"
            );
        }
    }

    #[test]
    fn codes_of_every_width_are_kept_apart() {
        for width in 1..=64 {
            let code = |index: u64| (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask(width);
            let mut codes = Codes::zeroed(width, 100);
            (0..100).for_each(|index| codes.set(index as usize, code(index)));
            for index in 0..100 {
                assert_eq!(codes.get(index as usize), code(index), "width {width}");
            }
        }
    }
}
