//! Random search.

use std::sync::{Mutex, PoisonError};

use config::Reader;
use random::Random;

use super::fresh::Tried;
use super::{Sampler, SamplerContext, SamplerSpec};
use crate::{Distribution, History, Point, Space, StudyError};
use random::Draws;
use random::Permutation;

/// Random points, without repetition where they can be counted.
pub struct RandomSearch {
    context: SamplerContext,
    stream: Random,
    order: Option<Permutation>,
    /// The first points of a discrete space that is not even.
    first: Mutex<Sequence>,
}

/// Points that differ, each drawn after those before it.
#[derive(Default)]
struct Sequence {
    points: Vec<Point>,
    tried: Tried,
}

impl SamplerSpec for RandomSearch {
    const NAME: &'static str = "random";
    const ABOUT: &'static str =
        "every parameter uniform, without repetition where the space is discrete";
    const DOC: &'static str = "\
Draws every active parameter uniformly (uniformly in the logarithm where the parameter says so), whatever there is to choose
below it: each of three formats is tried as often as the others, however many widths it has. Points of a discrete space
come without repetition, as long as there are new ones. Looks at no result, so all trials may run at once.";
    type Config = ();

    fn read(_reader: &mut Reader) {}

    fn new((): (), context: SamplerContext) -> Result<Self, StudyError> {
        let stream = Random::new(context.seed, Self::NAME);
        let order = equally_likely(&context.space).map(|size| Permutation::new(stream, size));
        Ok(Self {
            context,
            stream,
            order,
            first: Mutex::default(),
        })
    }
}

impl Sampler for RandomSearch {
    fn horizon(&self, _number: u64) -> u64 {
        0
    }

    fn sample(&self, _history: &History, number: u64) -> Point {
        self.point(number)
    }
}

impl RandomSearch {
    /// The point of trial `number`.
    pub(super) fn point(&self, number: u64) -> Point {
        let space = &self.context.space;
        if let Some(order) = self.order.filter(|order| number < order.size()) {
            let point = space.nth(u128::from(order.at(number)));
            return point.expect("the index is below the size");
        }
        match space.size() {
            Some(size) if self.order.is_none() && u128::from(number) < size => {
                self.different(number)
            }
            _ => space.draw(&mut Draws::new(self.stream.at(number))),
        }
    }

    /// Point `number` of those that differ.
    fn different(&self, number: u64) -> Point {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        while first.points.len() as u64 <= number {
            let mut draws = Draws::new(self.stream.at(first.points.len() as u64));
            let space = &self.context.space;
            let point = space.draw(&mut draws);
            let point = if first.tried.contains(&[], &point) {
                first.tried.fresh(space, &[], &mut draws, point)
            } else {
                point
            };
            first.tried.insert(point.clone());
            first.points.push(point);
        }
        first.points[number as usize].clone()
    }
}

/// The number of points, where no choice has more below it than another and they can be numbered.
fn equally_likely(space: &Space) -> Option<u64> {
    let uneven = space.find(|parameter| {
        let log = matches!(parameter.distribution, Distribution::Int { log: true, .. });
        log || parameter.condition.is_some()
    });
    let size = space.size().filter(|size| *size <= 1 << 62)?;
    uneven.is_none().then_some(size as u64)
}
