//! Sobol's sequence in any number of dimensions, with Owen's scrambling.
//!
//! A dimension is a primitive polynomial over GF(2) and some initial direction numbers (Sobol, 1967; Bratley and Fox,
//! 1988). The polynomials are found here in order of degree. Any odd initial numbers make a sequence whose single axes
//! are perfectly even; they decide how even several axes are together. Published tables (Joe and Kuo, 2008) come from a
//! long search over thousands of dimensions. A search space has tens, so ours are searched when the sequence is made: some
//! random candidates for each dimension, of which the one is kept that fills squares and cubes with the dimensions before
//! it best. That takes milliseconds for 20 dimensions, needs no table, and leaves fewer pairs uneven.

use crate::Random;

/// Bits of an element.
const BITS: usize = 32;
/// Candidates for the initial numbers of one dimension.
const CANDIDATES: u64 = 64;
/// Number of earlier dimensions that a candidate is paired with.
const PAIRED: usize = 40;
/// Pairs are judged by how the first 2^p points fill squares of side 2^-k, for these (p, k).
const SQUARES: [(usize, usize); 4] = [(4, 2), (6, 2), (6, 3), (8, 3)];
/// Threes are judged by how the first 2^p points fill cubes of side 2^-k, for these (p, k).
const CUBES: [(usize, usize); 3] = [(3, 1), (6, 2), (8, 2)];
/// Number of earlier dimensions that threes are made of.
const NEAREST: usize = 6;
/// Weight of the cubes in all dimensions.
const WHOLE: u32 = 8;

/// Direction numbers of one dimension; number `k` belongs to bit `k` of the index, its most significant bit to one half.
type Directions = [u32; BITS];

/// A scrambled sequence.
#[derive(Clone, Debug)]
pub struct Sobol {
    dimensions: Vec<Directions>,
    scrambles: Vec<u32>,
}

impl Sobol {
    /// A sequence of so many dimensions; `random` scrambles it.
    pub fn new(n_dimensions: usize, random: Random) -> Self {
        Self {
            dimensions: dimensions(n_dimensions),
            scrambles: (0..n_dimensions as u64)
                .map(|axis| random.bits(axis) as u32)
                .collect(),
        }
    }

    /// Element `index` on one axis, in [0, 1).
    pub fn at(&self, index: u32, axis: usize) -> f64 {
        let bits = scramble(element(&self.dimensions[axis], index), self.scrambles[axis]);
        (f64::from(bits) + 0.5) / 4_294_967_296.0
    }
}

fn element(directions: &Directions, index: u32) -> u32 {
    let used = (0..BITS).filter(|bit| index >> bit & 1 == 1);
    used.fold(0, |sum, bit| sum ^ directions[bit])
}

/// Nested uniform scrambling by hashing: each bit is flipped depending on the bits above it (Laine and Karras, 2011, with
/// the constants of Burley, 2020).
fn scramble(value: u32, seed: u32) -> u32 {
    let mut bits = value.reverse_bits();
    bits = bits.wrapping_add(seed);
    bits ^= bits.wrapping_mul(0x6c50_b47c);
    bits ^= bits.wrapping_mul(0xb82f_1e52);
    bits ^= bits.wrapping_mul(0xc7af_e638);
    bits ^= bits.wrapping_mul(0x8d22_f6e6);
    bits.reverse_bits()
}

/// The direction numbers of the first dimensions. They do not depend on the seed.
fn dimensions(count: usize) -> Vec<Directions> {
    let van_der_corput = std::array::from_fn(|bit| 1 << (BITS - 1 - bit));
    let mut dimensions = Vec::with_capacity(count);
    let mut leads: Vec<Lead> = Vec::with_capacity(count);
    let mut polynomials = primitive_polynomials();
    for axis in 0..count {
        let best = if axis == 0 {
            van_der_corput
        } else {
            let polynomial = polynomials.next().expect("there is no last polynomial");
            let earlier = &leads[axis.saturating_sub(PAIRED)..];
            let random = Random::new(axis as u64, "sobol");
            let candidates = (0..CANDIDATES).map(|k| directions(polynomial, random.at(k)));
            let best = candidates.min_by_key(|candidate| unevenness(&lead(candidate), earlier));
            best.expect("there are candidates")
        };
        leads.push(lead(&best));
        dimensions.push(best);
    }
    dimensions
}

/// Direction numbers from a polynomial (its bits, highest power first) and random initial numbers.
fn directions(polynomial: u32, random: Random) -> Directions {
    let degree = polynomial.ilog2() as usize;
    let mut numbers = [0_u32; BITS];
    for bit in 0..BITS {
        numbers[bit] = if bit < degree {
            let odd = (random.bits(bit as u64) as u32 & ((1 << (bit + 1)) - 1)) | 1;
            odd << (BITS - 1 - bit)
        } else {
            let start = numbers[bit - degree] ^ (numbers[bit - degree] >> degree);
            (1..degree)
                .filter(|power| polynomial >> (degree - power) & 1 == 1)
                .fold(start, |sum, power| sum ^ numbers[bit - power])
        };
    }
    numbers
}

/// The leading bits of an element as functions of the bits of the index: a row for each, the most significant first.
type Lead = [u32; 3];

fn lead(directions: &Directions) -> Lead {
    let column = |bit: usize, column: usize| (directions[column] >> (BITS - 1 - bit) & 1) << column;
    std::array::from_fn(|bit| (0..BITS).map(|at| column(bit, at)).sum())
}

/// Number of boxes that a candidate leaves empty together with earlier dimensions, as powers of two: in squares with each of
/// them, in cubes with each two of the nearest, and in the two largest cubes with all of them (Sobol's properties A and
/// A', 1976), which weigh more.
fn unevenness(candidate: &Lead, earlier: &[Lead]) -> u32 {
    let squares = earlier.iter().flat_map(|other| {
        SQUARES.map(|(points, side)| missing([candidate, other].into_iter(), side, points))
    });
    let nearest = &earlier[earlier.len().saturating_sub(NEAREST)..];
    let pairs = (0..nearest.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let cubes = pairs.flat_map(|(a, b)| {
        CUBES.map(|(points, side)| {
            missing(
                [candidate, &nearest[a], &nearest[b]].into_iter(),
                side,
                points,
            )
        })
    });
    let whole = [1, 2].map(|side| {
        let all = &earlier[earlier.len().saturating_sub(BITS / side - 1)..];
        missing(all.iter().chain([candidate]), side, side * (all.len() + 1))
    });
    squares.chain(cubes).sum::<u32>() + WHOLE * whole.iter().sum::<u32>()
}

/// 2^points elements fill all boxes of side 2^-side exactly when the leading bits of all axes are independent functions of
/// the bits of the index; each rank that is missing halves the boxes that are filled.
fn missing<'a>(axes: impl Iterator<Item = &'a Lead> + Clone, side: usize, points: usize) -> u32 {
    let mask = u32::MAX >> (BITS - points);
    let full = points.min(side * axes.clone().count()) as u32;
    full - rank(axes.flat_map(|axis| &axis[..side]).map(|row| row & mask))
}

/// Rank over GF(2).
fn rank(rows: impl Iterator<Item = u32>) -> u32 {
    let mut basis = [0_u32; BITS];
    let mut rank = 0;
    for mut row in rows {
        while row != 0 {
            let lead = row.ilog2() as usize;
            if basis[lead] == 0 {
                basis[lead] = row;
                rank += 1;
                break;
            }
            row ^= basis[lead];
        }
    }
    rank
}

/// Primitive polynomials over GF(2) by degree, as bits with the highest power first, from x + 1 on.
fn primitive_polynomials() -> impl Iterator<Item = u32> {
    (3_u32..)
        .step_by(2)
        .filter(|&polynomial| is_primitive(polynomial))
}

/// True when x generates all 2^degree - 1 non-zero residues.
fn is_primitive(polynomial: u32) -> bool {
    let degree = polynomial.ilog2();
    let order = (1_u32 << degree) - 1;
    let mut residue = 1_u32;
    for power in 1..=order {
        residue <<= 1;
        if residue >> degree & 1 == 1 {
            residue ^= polynomial;
        }
        if residue == 1 {
            return power == order;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_the_known_ones() {
        let first: Vec<u32> = primitive_polynomials().take(8).collect();
        // x+1, x²+x+1, x³+x+1, x³+x²+1, x⁴+x+1, x⁴+x³+1, x⁵+x²+1, x⁵+x³+1
        assert_eq!(
            first,
            [
                0b11, 0b111, 0b1011, 0b1101, 0b10011, 0b11001, 0b100101, 0b101001
            ]
        );
    }

    /// Without a scramble the first axis is van der Corput's sequence, each number in the middle of its step.
    #[test]
    fn numbers_lie_in_the_middle_of_steps_of_32_bits() {
        let sequence = Sobol {
            dimensions: dimensions(1),
            scrambles: vec![0],
        };
        let plain = element(&sequence.dimensions[0], 6);
        assert_eq!(plain, 0b011 << 29);
        assert_eq!(sequence.at(0, 0), 0.5f64.powi(33));
        let step = sequence.at(6, 0) * 2f64.powi(32) - 0.5;
        assert_eq!(step, f64::from(scramble(plain, 0)));
    }

    #[test]
    fn every_axis_is_even() {
        let sequence = Sobol::new(40, Random::new(5, "sobol"));
        for axis in 0..40 {
            let mut hit = [false; 256];
            for index in 0..256 {
                hit[(sequence.at(index, axis) * 256.0) as usize] = true;
            }
            assert!(hit.iter().all(|hit| *hit), "axis {axis}");
        }
    }

    /// Pairs of axes that leave one of `side`² boxes empty.
    fn uneven_pairs(n_axes: usize, points: u32, side: usize) -> usize {
        let sequence = Sobol::new(n_axes, Random::new(1, "sobol"));
        let is_uneven = |a: usize, b: usize| {
            let mut hit = vec![false; side * side];
            for index in 0..points {
                let cell = |axis| (sequence.at(index, axis) * side as f64) as usize;
                hit[cell(a) * side + cell(b)] = true;
            }
            hit.contains(&false)
        };
        let pairs = (0..n_axes).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.filter(|(a, b)| is_uneven(*a, *b)).count()
    }

    /// The bounds are what the direction numbers of Joe and Kuo (2008) give.
    #[test]
    fn pairs_of_axes_are_as_even_as_those_of_the_published_table() {
        assert!(uneven_pairs(16, 64, 4) <= 10);
        assert!(uneven_pairs(16, 256, 8) <= 12);
        assert!(uneven_pairs(40, 64, 4) <= 118);
        assert!(uneven_pairs(40, 256, 8) <= 114);
    }
}
