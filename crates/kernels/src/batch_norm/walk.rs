//! The two walks over a channel layout: sums per channel, and elementwise maps with constants per channel.

use super::ChannelLayout;
use crate::simd::Vector;

/// Vectors added into one `f32` lane before it is folded into `f64`.
const BLOCK: usize = 128;
/// Independent partial sums, which hide the latency of the additions.
const CHAINS: usize = 4;
/// No vector has more lanes.
const MAX_LANES: usize = 16;

/// Two running sums, as vectors.
#[derive(Clone, Copy)]
struct Sums<V>([V; 2]);

impl<V: Vector> Sums<V> {
    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller runs where the level's features are.
        unsafe { Self([V::splat(0.0); 2]) }
    }

    #[inline(always)]
    unsafe fn add(self, terms: (V, V)) -> Self {
        // SAFETY: as above.
        unsafe { Self([self.0[0].add(terms.0), self.0[1].add(terms.1)]) }
    }

    #[inline(always)]
    unsafe fn fold(chains: [Self; CHAINS]) -> [V; 2] {
        let [a, b, c, d] = chains.map(|s| s.0);
        // SAFETY: as above.
        unsafe {
            [
                a[0].add(b[0]).add(c[0].add(d[0])),
                a[1].add(b[1]).add(c[1].add(d[1])),
            ]
        }
    }
}

/// Sums two terms over every element of each channel and stores `finish(channel, first, second)` in the two outputs.
///
/// `terms(constants, offset, mask)` gives the terms of the elements at `offset`; where the mask is off, constants and
/// masked loads are zero and the terms must be.
#[inline(always)]
pub(super) unsafe fn reduce<V: Vector, const K: usize>(
    l: &ChannelLayout,
    constants: [*const f32; K],
    out: [*mut f32; 2],
    terms: impl Fn([V; K], usize, V::Mask) -> (V, V),
    finish: impl Fn(usize, f64, f64) -> (f32, f32),
) {
    let store = |channel: usize, first: f64, second: f64| {
        let (first, second) = finish(channel, first, second);
        // SAFETY: outputs have an element per channel.
        unsafe {
            *out[0].add(channel) = first;
            *out[1].add(channel) = second;
        }
    };
    // SAFETY: the caller's layout, and outputs of one element per channel.
    unsafe {
        if l.inner == 1 {
            let mut c = 0;
            while c < l.channels {
                let width = (l.channels - c).min(V::LANES);
                let mask = V::mask(width);
                let k = constants.map(|p| V::load_masked(p.add(c), mask));
                let totals = column_sums::<V>(
                    l.batch,
                    #[inline(always)]
                    |row| terms(k, row * l.channels + c, mask),
                );
                for (lane, (&first, &second)) in
                    totals[0].iter().zip(&totals[1]).take(width).enumerate()
                {
                    store(c + lane, first, second);
                }
                c += width;
            }
            return;
        }
        let tail = V::mask(l.inner % V::LANES);
        for c in 0..l.channels {
            let whole = constants.map(|p| V::splat(*p.add(c)));
            let part = constants.map(|p| V::load_masked([*p.add(c); MAX_LANES].as_ptr(), tail));
            let mut totals = [0.0; 2];
            for b in 0..l.batch {
                let start = (b * l.channels + c) * l.inner;
                run_sums::<V>(
                    l.inner / V::LANES,
                    &mut totals,
                    #[inline(always)]
                    |i| terms(whole, start + i * V::LANES, V::mask(V::LANES)),
                );
                if !l.inner.is_multiple_of(V::LANES) {
                    let last = terms(part, start + l.inner / V::LANES * V::LANES, tail);
                    totals[0] += f64::from(last.0.sum());
                    totals[1] += f64::from(last.1.sum());
                }
            }
            store(c, totals[0], totals[1]);
        }
    }
}

/// Lane-wise sums of the terms of `rows` rows.
#[inline(always)]
unsafe fn column_sums<V: Vector>(
    rows: usize,
    term: impl Fn(usize) -> (V, V),
) -> [[f64; MAX_LANES]; 2] {
    let mut totals = [[0.0; MAX_LANES]; 2];
    let mut row = 0;
    // SAFETY: the caller runs where the level's features are.
    unsafe {
        while row < rows {
            let sums = chains(row, rows.min(row + BLOCK * CHAINS), &term);
            for (totals, sums) in totals.iter_mut().zip(sums) {
                let mut lanes = [0.0f32; MAX_LANES];
                sums.store(lanes.as_mut_ptr());
                for (total, lane) in totals.iter_mut().zip(lanes) {
                    *total += f64::from(lane);
                }
            }
            row += BLOCK * CHAINS;
        }
    }
    totals
}

/// Adds the sums over all lanes of `n` vectors of terms to the totals.
#[inline(always)]
unsafe fn run_sums<V: Vector>(n: usize, totals: &mut [f64; 2], term: impl Fn(usize) -> (V, V)) {
    let mut i = 0;
    // SAFETY: the caller runs where the level's features are.
    unsafe {
        while i < n {
            let sums = chains(i, n.min(i + BLOCK * CHAINS), &term);
            totals[0] += f64::from(sums[0].sum());
            totals[1] += f64::from(sums[1].sum());
            i += BLOCK * CHAINS;
        }
    }
}

#[inline(always)]
unsafe fn chains<V: Vector>(from: usize, to: usize, term: &impl Fn(usize) -> (V, V)) -> [V; 2] {
    // SAFETY: the caller runs where the level's features are.
    unsafe {
        let mut chains = [Sums::<V>::zero(); CHAINS];
        let mut i = from;
        while i + CHAINS <= to {
            for (j, chain) in chains.iter_mut().enumerate() {
                *chain = chain.add(term(i + j));
            }
            i += CHAINS;
        }
        while i < to {
            chains[0] = chains[0].add(term(i));
            i += 1;
        }
        Sums::fold(chains)
    }
}

/// Calls `map(constants, offset, mask)` for every vector of elements.
#[inline(always)]
pub(super) unsafe fn apply<V: Vector, const K: usize>(
    l: &ChannelLayout,
    constants: [*const f32; K],
    map: impl Fn([V; K], usize, V::Mask),
) {
    // SAFETY: the caller's layout.
    unsafe {
        if l.inner == 1 {
            let mut c = 0;
            while c < l.channels {
                let mask = V::mask((l.channels - c).min(V::LANES));
                let k = constants.map(|p| V::load_masked(p.add(c), mask));
                for row in 0..l.batch {
                    map(k, row * l.channels + c, mask);
                }
                c += V::LANES;
            }
            return;
        }
        let (full, tail) = (V::mask(V::LANES), V::mask(l.inner % V::LANES));
        for plane in 0..l.batch * l.channels {
            let k = constants.map(|p| V::splat(*p.add(plane % l.channels)));
            let start = plane * l.inner;
            for i in 0..l.inner / V::LANES {
                map(k, start + i * V::LANES, full);
            }
            if !l.inner.is_multiple_of(V::LANES) {
                map(k, start + l.inner / V::LANES * V::LANES, tail);
            }
        }
    }
}
