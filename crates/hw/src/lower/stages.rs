//! The stages of an element as cells.

use super::Lowering;
use crate::elements::{Map, maps};
use crate::net::{Bounds, Interval, Origin, Term};
use engine::integer::{RoundMap, Rounding};

/// Half a step of a rounding to the nearest.
pub fn half(map: &RoundMap) -> i64 {
    match map.rounding {
        Rounding::NearestEven if map.shift > 0 => {
            1_i64.checked_shl(map.shift as u32 - 1).unwrap_or(0)
        }
        Rounding::Floor | Rounding::NearestEven => 0,
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
    ) -> Term {
        let (mut term, mut added) = (term, added);
        let mut bounds: Option<Interval> = None;
        for map in maps(self.program, step, i) {
            match map {
                Map::Clamp { lo, hi } => {
                    let own = Interval { lo, hi };
                    bounds = Some(bounds.map_or(own, |before| before.map(|x| x.clamp(lo, hi))));
                }
                Map::Affine { scale, offset } => {
                    let value = self.bounded(term, added, bounds.take(), origin);
                    term = self.scaled(&[value], &[scale], offset, origin);
                    added = 0;
                }
                Map::Round(map) => {
                    let half = half(&map);
                    if half != added {
                        let more = self.net.constant(half - added, origin);
                        term = self.net.add(term, more, false, None, origin);
                    }
                    term = self.round(term, &map, bounds.take(), origin);
                    added = 0;
                }
            }
        }
        self.bounded(term, added, bounds, origin)
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

    /// The rounding of a term that holds half a step more than its value, and of bounds before it.
    fn round(
        &mut self,
        term: Term,
        map: &RoundMap,
        before: Option<Interval>,
        origin: Origin,
    ) -> Term {
        let tie_to_even = map.rounding == Rounding::NearestEven && map.shift > 0;
        let own = Interval {
            lo: map.lo,
            hi: map.hi,
        };
        let own = before.map_or(own, |before| {
            let before = before.plus(Interval::point(half(map)));
            before
                .requantized(map.shift, tie_to_even)
                .map(|x| x.clamp(map.lo, map.hi))
        });
        let bounds = Bounds::Saturate {
            lo: own.lo,
            hi: own.hi,
        };
        let rounded = self
            .net
            .requant(term, map.shift, tie_to_even, bounds, origin);
        Term {
            shift: rounded.shift + map.lift,
            ..rounded
        }
    }
}
