//! The goals of a search: scaled objectives, their sum, and the budgets that configurations must keep.

use crate::evaluate::Bounds;
use crate::objectives::{OBJECTIVES, Objective, Scores};
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
