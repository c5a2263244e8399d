//! The goals of a search: scaled objectives, their sum, and the budgets that configurations must keep.

use crate::evaluate::Bounds;
use crate::objectives::{OBJECTIVES, Objective, ObjectiveEntry, Scores, Source};
use serde_json::{Map, Value as Json, json};
use study::{Direction, Outcome, State};

/// Everything a trial is judged by.
#[derive(Clone, Debug)]
pub struct Goals {
    /// The objectives, in the order of the file.
    pub objectives: Vec<Goal>,
    /// The direction of the sum, when the objectives are summed.
    pub sum: Option<Direction>,
    /// Limits that a configuration must keep.
    pub budgets: Vec<Budget>,
}

/// One objective with its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The objective.
    pub objective: Objective,
    /// The factor of its value.
    pub scale: f64,
    /// The better side of the scaled value.
    pub direction: Direction,
}

impl Goal {
    /// The better side of the objective itself: a negative scale turns the direction around.
    pub fn unscaled_direction(&self) -> Direction {
        if (self.direction == Direction::Maximize) == (self.scale > 0.0) {
            Direction::Maximize
        } else {
            Direction::Minimize
        }
    }
}

/// A limit on an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The objective.
    pub objective: Objective,
    /// The side on which values must stay.
    pub side: Side,
    /// The limit.
    pub limit: f64,
}

/// The values that a budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At most the limit.
    AtMost,
    /// At least the limit.
    AtLeast,
}

impl Budget {
    /// Distance of a value on the wrong side, as a share of the limit, of which 0 has none; 0 on the right side.
    pub fn excess(&self, value: f64) -> f64 {
        let over = match self.side {
            Side::AtMost => value - self.limit,
            Side::AtLeast => self.limit - value,
        };
        if over.is_nan() {
            return f64::INFINITY;
        }
        let scale = if self.limit == 0.0 {
            1.0
        } else {
            self.limit.abs()
        };
        over.max(0.0) / scale
    }
}

impl Goals {
    /// True when an objective or a budget needs the netlist of a trial.
    pub fn ask_for_netlist(&self) -> bool {
        let goals = self.objectives.iter().map(|goal| goal.objective);
        let mut all = goals.chain(self.budgets.iter().map(|budget| budget.objective));
        all.any(|objective| objective.entry().source == Source::Netlist)
    }

    /// The objectives that trials have values of.
    pub fn measured(&self) -> impl Iterator<Item = &'static ObjectiveEntry> {
        let has_netlist = self.ask_for_netlist();
        let entries = OBJECTIVES.iter();
        entries.filter(move |entry| has_netlist || entry.source != Source::Netlist)
    }

    /// The directions of the objectives, one when they are summed.
    pub fn directions(&self) -> Vec<Direction> {
        match self.sum {
            Some(direction) => vec![direction],
            None => self.objectives.iter().map(|goal| goal.direction).collect(),
        }
    }

    /// The names of the objectives, one when they are summed.
    pub fn names(&self) -> Vec<String> {
        if self.sum.is_some() {
            return vec!["sum_scaled_metrics".to_owned()];
        }
        let names = self.objectives.iter().map(|goal| goal.objective.name());
        names.map(str::to_owned).collect()
    }

    /// The values of the objectives.
    pub fn values(&self, scores: &Scores) -> Vec<f64> {
        let scaled = |goal: &Goal| goal.scale * scores[goal.objective];
        match self.sum {
            None => self.objectives.iter().map(scaled).collect(),
            // Differs from MASE: what is to be small counts against a sum that is to be large.
            Some(direction) => {
                let signed = |goal: &Goal| {
                    if goal.direction == direction {
                        scaled(goal)
                    } else {
                        -scaled(goal)
                    }
                };
                vec![self.objectives.iter().map(signed).sum()]
            }
        }
    }

    /// The scaled objectives by name.
    pub fn scaled(&self, scores: &Scores) -> Map<String, Json> {
        let one = |goal: &Goal| {
            let value = goal.scale * scores[goal.objective];
            (goal.objective.name().to_owned(), json!(value))
        };
        self.objectives.iter().map(one).collect()
    }

    fn violation(&self, scores: &Scores) -> Option<f64> {
        let excess = |budget: &Budget| budget.excess(scores[budget.objective]);
        (!self.budgets.is_empty()).then(|| self.budgets.iter().map(excess).sum())
    }

    /// The outcome of scores; the reason of a failure when the objectives or the violation are not finite numbers.
    pub fn outcome(&self, scores: &Scores, state: State) -> Result<Outcome, String> {
        let (values, violation) = (self.values(scores), self.violation(scores));
        let names = self.names();
        let named = names.iter().map(String::as_str).zip(values.iter().copied());
        let mut all = named.chain(violation.map(|violation| ("the budget's violation", violation)));
        if let Some((name, value)) = all.find(|(_, value)| !value.is_finite()) {
            return Err(format!("{name} is {value}, not a finite number"));
        }
        Ok(Outcome {
            values,
            violation,
            state,
        })
    }

    /// The better side of an objective itself: as a goal asks for it, or as the table says.
    pub fn direction_of(&self, objective: Objective) -> Direction {
        let goal = self
            .objectives
            .iter()
            .find(|goal| goal.objective == objective);
        goal.map_or(objective.entry().direction, Goal::unscaled_direction)
    }

    /// The best scores that a point can still have: of every objective the end that the goals like better.
    pub fn best_within(&self, bounds: &Bounds) -> Scores {
        let mut best = bounds.min;
        for entry in OBJECTIVES {
            if self.direction_of(entry.objective) == Direction::Maximize {
                best[entry.objective] = bounds.max[entry.objective];
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::{Point, Trial};

    fn budget(side: Side, limit: f64) -> Budget {
        Budget {
            objective: Objective::Loss,
            side,
            limit,
        }
    }

    fn goal(objective: Objective, scale: f64, direction: Direction) -> Goal {
        Goal {
            objective,
            scale,
            direction,
        }
    }

    /// Scores 1, 2, 3 and so on, in the order of the table, times a factor.
    fn scores(factor: f64) -> Scores {
        let point = Point::new(Vec::new());
        let mut trial = Trial::new(0, point, Outcome::complete(Vec::new()));
        trial.metrics = (1..=OBJECTIVES.len()).map(|k| factor * k as f64).collect();
        Scores::of(&trial).unwrap()
    }

    #[test]
    fn an_excess_is_a_share_of_the_limit() {
        for (side, limit, value, expected) in [
            (Side::AtMost, 4.0, 3.0, 0.0),
            (Side::AtMost, 4.0, 4.0, 0.0),
            (Side::AtMost, 4.0, 6.0, 0.5),
            (Side::AtMost, 4.0, 13.0, 2.25),
            (Side::AtMost, -4.0, -3.0, 0.25),
            (Side::AtMost, 0.0, 3.0, 3.0),
            (Side::AtMost, 0.0, -3.0, 0.0),
            (Side::AtLeast, 4.0, 3.0, 0.25),
            (Side::AtLeast, 4.0, 5.0, 0.0),
            (Side::AtLeast, 0.0, -2.0, 2.0),
            (Side::AtLeast, 4.0, f64::NAN, f64::INFINITY),
        ] {
            let found = budget(side, limit).excess(value);
            assert_eq!(found, expected, "{side:?} {limit}: {value}");
        }
    }

    #[test]
    fn a_sum_counts_what_is_to_go_the_other_way_against_it() {
        let objectives = vec![
            goal(Objective::Accuracy, 10.0, Direction::Maximize),
            goal(Objective::Loss, 0.5, Direction::Minimize),
        ];
        let of = |sum| Goals {
            objectives: objectives.clone(),
            sum,
            budgets: vec![budget(Side::AtMost, 1.0), budget(Side::AtLeast, 4.0)],
        };
        for (sum, values, names) in [
            (None, vec![10.0, 1.0], vec!["accuracy", "loss"]),
            (
                Some(Direction::Maximize),
                vec![9.0],
                vec!["sum_scaled_metrics"],
            ),
            (
                Some(Direction::Minimize),
                vec![-9.0],
                vec!["sum_scaled_metrics"],
            ),
        ] {
            let goals = of(sum);
            let outcome = goals.outcome(&scores(1.0), State::Complete).unwrap();
            assert_eq!(goals.names(), names);
            assert_eq!(goals.directions().len(), values.len());
            assert_eq!((outcome.values, outcome.violation), (values, Some(1.5)));
            let scaled = json!({ "accuracy": 10.0, "loss": 1.0 });
            assert_eq!(Json::Object(goals.scaled(&scores(1.0))), scaled);
        }
        let failed = of(None).outcome(&scores(f64::NAN), State::Complete);
        assert_eq!(failed.unwrap_err(), "accuracy is NaN, not a finite number");
        let infinite = scores(f64::INFINITY).without_answers();
        let alone = Goals {
            objectives: vec![goal(Objective::Bitops, 0.0, Direction::Minimize)],
            ..of(None)
        };
        assert!(alone.outcome(&infinite, State::Complete).is_err());
    }

    #[test]
    fn the_best_within_bounds_is_the_end_that_the_goals_like_better() {
        let bounds = Bounds {
            min: scores(1.0),
            max: scores(10.0),
        };
        for (scale, direction, better) in [
            (1.0, Direction::Maximize, 10.0),
            (-1.0, Direction::Maximize, 1.0),
            (1.0, Direction::Minimize, 1.0),
            (-1.0, Direction::Minimize, 10.0),
        ] {
            let goals = Goals {
                objectives: vec![goal(Objective::Flops, scale, direction)],
                sum: None,
                budgets: Vec::new(),
            };
            let best = goals.best_within(&bounds);
            for entry in OBJECTIVES {
                let likes_more = entry.direction == Direction::Maximize;
                let factor = match entry.objective {
                    Objective::Flops => better,
                    _ if likes_more => 10.0,
                    _ => 1.0,
                };
                let expected = scores(factor)[entry.objective];
                assert_eq!(best[entry.objective], expected, "{}", entry.name);
            }
        }
    }
}
