//! Pairs of terms that several sums have in common, computed once.
//!
//! Greedy: the pair that saves most goes first, where a saving is the number of additions less one, weighted by the bits in which
//! both terms overlap. A pair is not used in a sum whose tree would become deeper than the budget of the matrix.

use super::form::Forms;
use crate::net::{Builder, Origin};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Levels that sums may be deeper than without sharing.
const EXTRA_LEVELS: f32 = 2.0;

/// `±form·2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The partial sum.
    pub form: u32,
    /// Bits to the left.
    pub shift: u32,
    /// True where it is subtracted.
    pub negative: bool,
}

/// The terms of one sum.
#[derive(Clone, Debug)]
pub struct Column {
    digits: Vec<Digit>,
    has_bias: bool,
    /// The sum of 2^depth over the terms, whose logarithm is the depth of the best tree.
    weight: f32,
}

impl Column {
    /// A sum without terms.
    pub fn new(has_bias: bool) -> Self {
        Self {
            digits: Vec::new(),
            has_bias,
            weight: 0.0,
        }
    }

    /// One more term.
    pub fn push(&mut self, digit: Digit) {
        self.digits.push(digit);
    }

    /// All terms.
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    fn levels(&self, more: f32) -> f32 {
        let bias = if self.has_bias { 1.0 } else { 0.0 };
        ((self.weight + bias + more).max(1.0).log2() - 1e-4).ceil()
    }

    fn find(&self, form: u32, shift: i64) -> Option<Digit> {
        let is_it = |digit: &&Digit| digit.form == form && i64::from(digit.shift) == shift;
        self.digits.iter().find(is_it).copied()
    }
}

/// Two terms up to a common shift and sign: `first ± second·2^distance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    first: u32,
    second: u32,
    distance: i8,
    differs: bool,
}

impl Pair {
    fn of(x: Digit, y: Digit) -> Self {
        let (x, y) = if (x.form, x.shift) <= (y.form, y.shift) {
            (x, y)
        } else {
            (y, x)
        };
        Self {
            first: x.form,
            second: y.form,
            distance: (i64::from(y.shift) - i64::from(x.shift)) as i8,
            differs: x.negative != y.negative,
        }
    }

    /// The pair in one word, in the order of its fields.
    fn key(self) -> u64 {
        let distance = (self.distance as u8) ^ 0x80;
        u64::from(self.first) << 36
            | u64::from(self.second) << 9
            | u64::from(distance) << 1
            | u64::from(self.differs)
    }

    fn from_key(key: u64) -> Self {
        Self {
            first: (key >> 36) as u32,
            second: (key >> 9) as u32 & ((1 << 27) - 1),
            distance: ((key >> 1) as u8 ^ 0x80) as i8,
            differs: key & 1 == 1,
        }
    }

    /// Bits in which both overlap.
    fn overlap(self, forms: &Forms) -> i64 {
        let distance = i64::from(self.distance);
        let (first, second) = (
            i64::from(forms.bits(self.first)),
            i64::from(forms.bits(self.second)),
        );
        (first.min(second + distance) - distance.max(0)).max(1)
    }
}

/// A pair's number of places, and the sums that had it. Most pairs have one place, which needs no list.
#[derive(Clone, Debug, Default)]
struct Places {
    count: u32,
    first: u32,
    others: Vec<u32>,
}

impl Places {
    /// The sums, each once, in order.
    fn columns(&self) -> Vec<u32> {
        let mut columns = self.others.clone();
        columns.push(self.first);
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// The order in which pairs are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The pair that saves most goes first.
    Saving,
    /// Another measure of savings, and chance among them: a greedy choice that looks best need not end best.
    Varied {
        /// The measure: of bits, and of places.
        measure: u64,
        /// The seed of the chance; none for none.
        seed: Option<u64>,
    },
}

impl Order {
    /// Measures of [`Order::Varied`].
    pub const MEASURES: u64 = 6;

    /// The weight of a pair that so many places have and whose terms overlap in so many bits.
    fn weight(self, key: u64, count: u32, overlap: i64) -> i64 {
        let saved = i64::from(count - 1);
        let Self::Varied { measure, seed } = self else {
            return saved * overlap;
        };
        // Roots in whole numbers, so that all machines choose alike.
        let bits = match measure % 3 {
            0 => overlap << 6,
            1 => overlap * (overlap << 12).isqrt(),
            _ => (overlap * overlap) << 6,
        };
        let places = match measure / 3 % 2 {
            0 => saved << 6,
            _ => (saved << 12).isqrt(),
        };
        let weight = bits.saturating_mul(places);
        let Some(seed) = seed else {
            return weight;
        };
        let mut hasher = KeyHasher(seed);
        hasher.write_u64(key);
        hasher.write_u64(seed);
        weight.saturating_add(weight / 128 * (hasher.finish() >> 32 & 31) as i64)
    }
}

struct Pairs {
    order: Order,
    places: HashMap<u64, Places, BuildHasherDefault<KeyHasher>>,
    /// Pairs by saving; entries whose count has changed are stale.
    queue: BinaryHeap<(i64, u64, u32)>,
}

impl Pairs {
    fn add(&mut self, pair: Pair, column: usize) {
        let column = column as u32;
        let places = self.places.entry(pair.key()).or_default();
        match places.count {
            0 => places.first = column,
            _ if places.others.last().copied().unwrap_or(places.first) != column => {
                places.others.push(column);
            }
            _ => {}
        }
        places.count += 1;
    }

    fn remove(&mut self, pair: Pair) {
        if let Some(places) = self.places.get_mut(&pair.key()) {
            // Places that the budget forbade were given up with their pair.
            places.count = places.count.saturating_sub(1);
        }
    }

    fn queue(&mut self, key: u64, forms: &Forms) {
        let count = self.places.get(&key).map_or(0, |places| places.count);
        if count >= 2 {
            let overlap = Pair::from_key(key).overlap(forms);
            let weight = self.order.weight(key, count, overlap);
            self.queue.push((weight, key, count));
        }
    }
}

/// Replaces pairs that sums have in common by partial sums.
pub fn share(
    net: &mut Builder,
    forms: &mut Forms,
    columns: &mut [Column],
    order: Order,
    origin: Origin,
) {
    for column in columns.iter_mut() {
        column.weight = column
            .digits
            .iter()
            .map(|digit| forms.depth(digit.form).exp2())
            .sum();
    }
    let budget = columns
        .iter()
        .map(|column| column.levels(0.0))
        .fold(0.0, f32::max)
        + EXTRA_LEVELS;
    let mut pairs = Pairs {
        order,
        places: HashMap::default(),
        queue: BinaryHeap::new(),
    };
    for (j, column) in columns.iter().enumerate() {
        for (p, &x) in column.digits.iter().enumerate() {
            column.digits[..p]
                .iter()
                .for_each(|&y| pairs.add(Pair::of(x, y), j));
        }
    }
    let mut keys: Vec<u64> = pairs.places.keys().copied().collect();
    keys.sort_unstable();
    for key in keys {
        pairs.queue(key, forms);
    }
    while let Some((_, key, count)) = pairs.queue.pop() {
        let current = pairs.places.get(&key).map_or(0, |places| places.count);
        if current != count {
            if current < count {
                pairs.queue(key, forms);
            }
            continue;
        }
        let pair = Pair::from_key(key);
        let among = pairs.places[&key].columns();
        let uses = uses(pair, &among, columns, forms, budget);
        if uses.len() < 2 {
            // The budget forbids the others; the places come back with the terms that they have.
            pairs.places.remove(&key);
            continue;
        }
        replace(net, forms, columns, &mut pairs, pair, &uses, origin);
    }
}

/// A place of a pair: the sum and its first term.
type Use = (usize, Digit);

/// The places of a pair that do not overlap and leave the sums within the budget.
fn uses(pair: Pair, among: &[u32], columns: &[Column], forms: &Forms, budget: f32) -> Vec<Use> {
    let mut uses: Vec<Use> = Vec::new();
    let more = deepening(pair, forms);
    for &j in among {
        let column = &columns[j as usize];
        let mut taken: Vec<(u32, u32)> = Vec::new();
        let before = uses.len();
        for &first in &column.digits {
            if first.form != pair.first || taken.contains(&(first.form, first.shift)) {
                continue;
            }
            let shift = i64::from(first.shift) + i64::from(pair.distance);
            let Some(second) = column.find(pair.second, shift) else {
                continue;
            };
            let is_pair = (second.negative != first.negative) == pair.differs && second != first;
            let n = (uses.len() - before + 1) as f32;
            if is_pair
                && !taken.contains(&(second.form, second.shift))
                && column.levels(more * n) <= budget
            {
                uses.push((j as usize, first));
                taken.extend([(first.form, first.shift), (second.form, second.shift)]);
            }
        }
    }
    uses
}

/// The weight that a sum gains when a pair becomes one term.
fn deepening(pair: Pair, forms: &Forms) -> f32 {
    let (first, second) = (forms.depth(pair.first), forms.depth(pair.second));
    (first.max(second) + 1.0).exp2() - first.exp2() - second.exp2()
}

fn replace(
    net: &mut Builder,
    forms: &mut Forms,
    columns: &mut [Column],
    pairs: &mut Pairs,
    pair: Pair,
    uses: &[Use],
    origin: Origin,
) {
    let more = deepening(pair, forms);
    let distance = i32::from(pair.distance);
    let (sa, sb) = ((-distance).max(0) as u32, distance.max(0) as u32);
    let form = forms.add(
        net,
        (pair.first, sa),
        (pair.second, sb),
        pair.differs,
        origin,
    );
    let mut touched: Vec<u64> = Vec::new();
    for &(j, first) in uses {
        let column = &mut columns[j];
        let second_shift = i64::from(first.shift) + i64::from(distance);
        let Some(second) = column.find(pair.second, second_shift) else {
            continue;
        };
        for digit in [first, second] {
            column.digits.retain(|own| *own != digit);
            for &other in &column.digits {
                let left = Pair::of(digit, other);
                pairs.remove(left);
                touched.push(left.key());
            }
        }
        let sum = Digit {
            form,
            shift: first.shift - sa,
            negative: first.negative,
        };
        for &other in &column.digits {
            let new = Pair::of(sum, other);
            pairs.add(new, j);
            touched.push(new.key());
        }
        column.digits.push(sum);
        column.weight += more;
    }
    touched.sort_unstable();
    touched.dedup();
    for key in touched {
        pairs.queue(key, forms);
    }
}

/// One multiplication: keys are words that differ in many bits.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        // The map takes the low bits, and the product's high bits are those that depend on the whole key.
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_comes_back_from_its_key_and_keys_have_the_order_of_their_fields() {
        let mut keys = Vec::new();
        for first in [0, 1, 77, (1 << 27) - 1] {
            for second in [0, 1, 78, (1 << 27) - 1] {
                for distance in [i8::MIN, -1, 0, 1, i8::MAX] {
                    for differs in [false, true] {
                        let pair = Pair {
                            first,
                            second,
                            distance,
                            differs,
                        };
                        let back = Pair::from_key(pair.key());
                        let fields = (back.first, back.second, back.distance, back.differs);
                        assert_eq!(fields, (first, second, distance, differs));
                        keys.push(pair.key());
                    }
                }
            }
        }
        assert!(keys.is_sorted_by(|a, b| a < b));
    }
}
