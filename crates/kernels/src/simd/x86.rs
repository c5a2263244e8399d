//! The source that both widths of x86 registers share; the callers name the intrinsics.

/// The methods of [`super::Vector`] that are one intrinsic each, for a type whose first field is the register.
macro_rules! one_intrinsic_each {
    (
        $splat:ident, $load:ident, $store:ident,
        $add:ident, $sub:ident, $mul:ident, $fma:ident, $max:ident, $min:ident, $zero:ident
    ) => {
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            Self::from($splat(x))
        }
        #[inline(always)]
        unsafe fn load(p: *const f32) -> Self {
            Self::from($load(p))
        }
        #[inline(always)]
        unsafe fn store(self, p: *mut f32) {
            $store(p, self.0);
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            Self::from($add(self.0, other.0))
        }
        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            Self::from($sub(self.0, other.0))
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            Self::from($mul(self.0, other.0))
        }
        #[inline(always)]
        unsafe fn fma(self, b: Self, c: Self) -> Self {
            Self::from($fma(self.0, b.0, c.0))
        }
        #[inline(always)]
        unsafe fn relu(self) -> Self {
            Self::from($max($zero(), self.0))
        }
        #[inline(always)]
        unsafe fn clamp(self, low: Self, high: Self) -> Self {
            Self::from($min(high.0, $max(low.0, self.0)))
        }
    };
}

/// The first two rounds of a transpose, within groups of four rows: pairs, then pairs of pairs.
macro_rules! transposed_quads {
    (
        $rows:expr, $groups:expr,
        $low:ident, $high:ident, $low_pairs:ident, $high_pairs:ident, $to_pairs:ident, $from_pairs:ident
    ) => {{
        let r = $rows;
        let mut quads = r;
        for g in $groups {
            let pairs = [
                $to_pairs($low(r[g], r[g + 1])),
                $to_pairs($high(r[g], r[g + 1])),
                $to_pairs($low(r[g + 2], r[g + 3])),
                $to_pairs($high(r[g + 2], r[g + 3])),
            ];
            quads[g] = $from_pairs($low_pairs(pairs[0], pairs[2]));
            quads[g + 1] = $from_pairs($high_pairs(pairs[0], pairs[2]));
            quads[g + 2] = $from_pairs($low_pairs(pairs[1], pairs[3]));
            quads[g + 3] = $from_pairs($high_pairs(pairs[1], pairs[3]));
        }
        quads
    }};
}

pub(super) use {one_intrinsic_each, transposed_quads};
