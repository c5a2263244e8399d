//! The stages of an element as cells.

use super::Lowering;
use crate::elements::{Map, maps};
use crate::net::{Bounds, Interval, Origin, Term};
use crate::width::Width;
use engine::integer::{Overflow, RoundMap, Rounding};

/// Half a step of a rounding to the nearest.
pub fn half(map: &RoundMap) -> i64 {
    match map.rounding {
        Rounding::NearestEven | Rounding::NearestUp if map.shift > 0 => {
            1_i64.checked_shl(map.shift as u32 - 1).unwrap_or(0)
        }
        Rounding::Floor | Rounding::NearestEven | Rounding::NearestUp => 0,
    }
}

/// The first rounding of some stages, if nothing but bounds lies before it.
pub fn first_round(maps: &[Map]) -> Option<&RoundMap> {
    let first = maps.iter().find(|map| !matches!(map, Map::Clamp { .. }));
    match first {
        Some(Map::Round(map)) => Some(map),
        _ => None,
    }
}

/// Low bits of a value that are always the same and that its rounding would drop: they are not computed.
#[derive(Clone, Copy, Debug, Default)]
struct Dropped {
    /// Their number.
    bits: u32,
    /// True when one of them is set: then nothing is a tie.
    is_set: bool,
}

impl Dropped {
    /// The low bits of `scale·x + offset` that a rounding drops. Where all are 0 its last one stays, to tell ties by.
    fn of(scale: i64, offset: i64, map: &RoundMap) -> Self {
        // What wraps may have bounds before it, which need not end in the same bits.
        if map.shift <= 0 || map.overflow == Overflow::Wrap {
            return Self::default();
        }
        let shift = map.shift.min(62) as u32;
        let bits = scale.trailing_zeros().min(shift);
        let is_set = offset & ((1 << bits) - 1) != 0;
        let bits = if is_set { bits } else { bits.min(shift - 1) };
        Self { bits, is_set }
    }
}

/// An element behind its stages.
pub struct Staged {
    /// Its argument: the source, or where all that follows are bounds, the value that they bound.
    pub source: Term,
    /// The element.
    pub result: Term,
}

/// True for a stage that is more than a bound.
fn bends(map: &Map) -> bool {
    match map {
        Map::Round(map) => (map.shift, map.lift, map.overflow) != (0, 0, Overflow::Saturate),
        Map::Clamp { .. } => false,
        Map::Affine { .. } | Map::Table { .. } => true,
    }
}

impl Lowering<'_> {
    /// The element behind its stages. The term holds `added` more than the value.
    pub fn stages(
        &mut self,
        step: usize,
        i: usize,
        term: Term,
        added: i64,
        origin: Origin,
    ) -> Staged {
        let (mut source, mut term, mut added) = (term, term, added);
        let mut dropped = Dropped::default();
        let mut bounds: Option<Interval> = None;
        let maps = maps(self.program, step, i);
        // Nothing before a factor of 0 matters, and what is not read was not computed.
        let is_zero = |map: &Map| matches!(map, Map::Affine { scale: 0, .. });
        let first = maps.iter().rposition(is_zero);
        let maps = &maps[first.unwrap_or(0)..];
        if first.is_some() {
            (term, added) = (self.net.constant(0, origin), 0);
        }
        for (at, map) in maps.iter().enumerate() {
            match map {
                Map::Clamp { lo, hi } => {
                    let (lo, hi) = (*lo, *hi);
                    let own = Interval { lo, hi };
                    bounds = Some(bounds.map_or(own, |before| before.map(|x| x.clamp(lo, hi))));
                }
                Map::Affine { scale, offset } => {
                    let value = self.bounded(term, added, bounds.take(), origin);
                    let next = first_round(&maps[at + 1..]);
                    added = next.map_or(0, half);
                    let offset = offset + added;
                    dropped =
                        next.map_or(Dropped::default(), |next| Dropped::of(*scale, offset, next));
                    let (scale, offset) = (scale >> dropped.bits, offset >> dropped.bits);
                    term = self.scaled(&[value], &[scale], offset, origin);
                    if at == 0 && !maps[1..].iter().any(bends) {
                        source = term;
                    }
                }
                Map::Table { first, values } => {
                    let value = self.bounded(term, added, bounds.take(), origin);
                    term = self.table(value, *first, values, origin);
                    added = 0;
                }
                Map::Round(map) => {
                    let half = half(map);
                    if half != added {
                        let more = self.net.constant(half - added, origin);
                        term = self.net.add(term, more, false, None, origin);
                    }
                    term = self.round(
                        term,
                        map,
                        std::mem::take(&mut dropped),
                        bounds.take(),
                        origin,
                    );
                    added = 0;
                }
            }
        }
        let result = self.bounded(term, added, bounds, origin);
        Staged { source, result }
    }

    /// The value of a term that holds `added` more, within bounds.
    fn bounded(
        &mut self,
        term: Term,
        added: i64,
        bounds: Option<Interval>,
        origin: Origin,
    ) -> Term {
        let less = self.net.constant(added, origin);
        let value = self.net.add(term, less, true, None, origin);
        match bounds {
            Some(Interval { lo, hi }) => self.net.clamp(value, lo, hi, origin),
            None => value,
        }
    }

    /// The entries of a table that a term can reach.
    fn table(&mut self, term: Term, first: i64, values: &[i64], origin: Origin) -> Term {
        let Interval { lo, hi } = self.net.interval(term);
        let own = &values[(lo - first) as usize..=(hi - first) as usize];
        self.net.table(term, own.to_vec(), origin)
    }

    /// The rounding of a term that holds half a step more than its value, without low bits, and of bounds before it.
    fn round(
        &mut self,
        term: Term,
        map: &RoundMap,
        dropped: Dropped,
        before: Option<Interval>,
        origin: Origin,
    ) -> Term {
        let tie_to_even = map.rounding == Rounding::NearestEven && map.shift > 0;
        let shift = map.shift - dropped.bits as i32;
        let own = Interval {
            lo: map.lo,
            hi: map.hi,
        };
        let lifted = before.map(|before| before.plus(Interval::point(half(map))));
        let (term, bounds) = match map.overflow {
            Overflow::Saturate => {
                let bounds = lifted.map_or(own, |before| {
                    before
                        .requantized(map.shift, tie_to_even)
                        .map(|x| x.clamp(own.lo, own.hi))
                });
                (
                    term,
                    Bounds::Saturate {
                        lo: bounds.lo,
                        hi: bounds.hi,
                    },
                )
            }
            Overflow::Wrap => {
                let clamped = lifted.map_or(term, |before| {
                    self.net.clamp(term, before.lo, before.hi, origin)
                });
                let Width { bits, signed } = Width::of(map.lo, map.hi);
                let bits = if own == Interval::point(0) { 0 } else { bits };
                (clamped, Bounds::Wrap { bits, signed })
            }
        };
        let has_ties = tie_to_even && !dropped.is_set;
        let rounded = self.net.requant(term, shift, has_ties, bounds, origin);
        Term {
            shift: rounded.shift + map.lift,
            ..rounded
        }
    }
}
