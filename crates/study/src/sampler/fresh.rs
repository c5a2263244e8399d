//! Points that were not tried before, in a discrete space.

use std::collections::HashSet;

use crate::{History, Point, Space};
use random::Draws;

/// Random points that are tried before the space is searched in order.
const RANDOM_TRIES: usize = 32;
/// The largest space that is searched in order for a point that was not tried.
const LISTED: u128 = 1 << 16;

/// The points of the trials before a horizon; nothing is kept of a continuous space, where no two are equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Tried {
    horizon: u64,
    points: HashSet<Point>,
}

impl Tried {
    /// Makes this the points of the trials before `horizon`.
    pub(super) fn advance(&mut self, space: &Space, history: &History, horizon: u64) {
        if horizon < self.horizon {
            *self = Self::default();
        }
        if space.size().is_some() {
            let new = &history.before(horizon)[self.horizon as usize..];
            self.points
                .extend(new.iter().map(|trial| trial.point.clone()));
        }
        self.horizon = horizon;
    }

    /// Adds a point.
    pub(super) fn insert(&mut self, point: Point) {
        self.points.insert(point);
    }

    /// True when `point` was tried before the horizon, or is among `mates`, the trials since.
    pub(super) fn contains(&self, mates: &[Point], point: &Point) -> bool {
        !self.points.is_empty() && (self.points.contains(point) || mates.contains(point))
    }

    /// A random point that was not tried, or `fallback` when none is found.
    pub(super) fn fresh(
        &self,
        space: &Space,
        mates: &[Point],
        draws: &mut Draws,
        fallback: Point,
    ) -> Point {
        let is_new = |point: &Point| !self.contains(mates, point);
        for _ in 0..RANDOM_TRIES {
            let point = space.draw(draws);
            if is_new(&point) {
                return point;
            }
        }
        let size = space.size().filter(|size| *size <= LISTED).unwrap_or(0);
        let start = draws.below(size.max(1) as usize) as u128;
        (0..size)
            .filter_map(|offset| space.nth((start + offset) % size))
            .find(is_new)
            .unwrap_or(fallback)
    }
}
