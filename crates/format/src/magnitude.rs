//! Reductions over the magnitudes of a contiguous run, in an order that no instruction set changes.
//!
//! NaN counts as 0 and infinity as the largest float, so that one bad element does not spoil its neighbours.

const MAGNITUDE: u32 = 0x7fff_ffff;
const INFINITY: u32 = 0x7f80_0000;
const LANES: usize = 8;

/// The bits of the magnitude of `x`.
#[inline(always)]
fn bits(x: f32) -> u32 {
    let bits = x.to_bits() & MAGNITUDE;
    let bits = if bits > INFINITY { 0 } else { bits };
    bits.min(INFINITY - 1)
}

/// The larger of `start` and the bits of every magnitude: for non-negative floats the order of the bits is theirs.
#[inline(always)]
pub fn max_bits(start: u32, x: &[f32]) -> u32 {
    let mut max = start;
    for &x in x {
        max = max.max(bits(x));
    }
    max
}

/// Sum and number of the magnitudes above `threshold`: eight interleaved sums, then their sum in order.
#[inline(always)]
pub fn sum_above(threshold: f64, x: &[f32]) -> (f64, usize) {
    let (mut sums, mut counts) = ([0.0f64; LANES], [0u64; LANES]);
    let mut chunks = x.chunks_exact(LANES);
    for chunk in &mut chunks {
        for lane in 0..LANES {
            let a = f64::from(f32::from_bits(bits(chunk[lane])));
            sums[lane] += if a > threshold { a } else { 0.0 };
            counts[lane] += u64::from(a > threshold);
        }
    }
    for (lane, &x) in chunks.remainder().iter().enumerate() {
        let a = f64::from(f32::from_bits(bits(x)));
        sums[lane] += if a > threshold { a } else { 0.0 };
        counts[lane] += u64::from(a > threshold);
    }
    (sums.iter().sum(), counts.iter().sum::<u64>() as usize)
}
