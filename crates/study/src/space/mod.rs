//! Search spaces: parameters with their distributions, some of them active only under a condition.
//!
//! A condition names an earlier categorical parameter and some of its choices, so the parameters form a forest; all
//! counting and numbering of points follows it. Ties rule out combinations that cannot be made: such points are not
//! counted, numbered or built.

mod distribution;
mod draw;
mod enumerate;
mod point;
mod problem;
mod tie;

use serde_json::{Map, Value};

pub use distribution::{Coordinate, Distribution};
pub use point::Point;
pub use problem::SpaceProblem;
pub use tie::{Row, Tie};

use crate::StudyError;

/// One thing to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, unique in the space.
    pub name: String,
    /// The values it may take.
    pub distribution: Distribution,
    /// The condition under which it is active; always, if there is none.
    pub condition: Option<Condition>,
    /// The name of the parameters that are chosen together with it, for example those of one node of a network.
    pub group: String,
    /// The cost of each choice as far as it is known before any trial, for formats in bits: samplers that go from
    /// expensive to cheap options order them by it. Without it a number costs what it is, and a word nothing.
    pub cost: Option<Vec<f64>>,
}

impl Parameter {
    /// A parameter that is always active, in a group of its own.
    pub fn new(name: impl Into<String>, distribution: Distribution) -> Self {
        let name = name.into();
        Self {
            group: name.clone(),
            name,
            distribution,
            condition: None,
            cost: None,
        }
    }

    /// The parameter under a condition.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// The parameter as one of a group.
    #[must_use]
    pub fn in_group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// The cost of a value; see [`Parameter::cost`].
    pub(crate) fn cost_of(&self, coordinate: Coordinate) -> f64 {
        let choice = match coordinate {
            Coordinate::Int(value) => return value as f64,
            Coordinate::Float(value) => return value,
            Coordinate::Choice(choice) => choice,
        };
        match (&self.cost, &self.distribution) {
            (Some(costs), _) => costs[choice],
            (None, Distribution::Categorical { choices }) => {
                choices[choice].as_f64().unwrap_or(0.0)
            }
            (None, _) => 0.0,
        }
    }
}

/// Active when an earlier categorical parameter is active and has one of these choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The name of the earlier parameter.
    pub parameter: String,
    /// The choices of it that activate.
    pub choices: Vec<Value>,
}

/// A checked list of parameters.
#[derive(Clone, Debug)]
pub struct Space {
    parameters: Vec<Parameter>,
    gates: Vec<Option<Gate>>,
    ties: Vec<Tie>,
    /// For each parameter its tie and its place there, if it has one.
    tied: Vec<Option<(usize, usize)>>,
    /// Parts that depend on nothing.
    roots: Vec<Part>,
    /// For each parameter, what hangs on it.
    children: Vec<Vec<Part>>,
    /// For each parameter, the number of combinations of it and all that hangs on it.
    sizes: Vec<Option<u128>>,
    total: Option<u128>,
}

/// A part that is chosen independently of its neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A parameter with all that hangs on it, by index.
    Parameter(usize),
    /// The parameters of a tie, by the tie's index.
    Tie(usize),
}

/// A condition with its names looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Index of the parameter that decides.
    pub(crate) parent: usize,
    /// For each of its choices, whether it activates.
    pub(crate) open: Vec<bool>,
}

impl Space {
    /// Checks the parameters; the error lists everything that is wrong with them.
    pub fn new(parameters: Vec<Parameter>) -> Result<Self, StudyError> {
        Self::with_ties(parameters, Vec::new())
    }

    /// As [`Space::new`], with combinations ruled out.
    pub fn with_ties(parameters: Vec<Parameter>, ties: Vec<Tie>) -> Result<Self, StudyError> {
        let problems = problem::find(&parameters);
        if !problems.is_empty() {
            return Err(StudyError::Space { problems });
        }
        let gates: Vec<Option<Gate>> = parameters
            .iter()
            .map(|parameter| parameter.condition.as_ref().map(|c| gate(&parameters, c)))
            .collect();
        let mut space = Self {
            sizes: vec![None; parameters.len()],
            total: None,
            roots: Vec::new(),
            children: vec![Vec::new(); parameters.len()],
            tied: vec![None; parameters.len()],
            parameters,
            gates,
            ties,
        };
        space.arrange();
        space.count_points();
        Ok(space)
    }

    /// Fills `tied`, and `roots` and `children` in the order of the parameters.
    fn arrange(&mut self) {
        for (at, tie) in self.ties.iter().enumerate() {
            for (column, &index) in tie.parameters.iter().enumerate() {
                self.tied[index] = Some((at, column));
            }
        }
        for index in 0..self.len() {
            let (parent, part) = match self.tied[index] {
                Some((tie, 0)) => (self.ties[tie].decider, Part::Tie(tie)),
                Some(_) => continue,
                None => {
                    let gate = self.gates[index].as_ref();
                    (gate.map(|gate| gate.parent), Part::Parameter(index))
                }
            };
            match parent {
                Some(parent) => self.children[parent].push(part),
                None => self.roots.push(part),
            }
        }
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        self.parameters.len()
    }

    /// True when there is nothing to choose.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The first parameter for which `is_wanted` holds.
    pub(crate) fn find(&self, is_wanted: impl Fn(&Parameter) -> bool) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| is_wanted(parameter))
    }

    /// The gate that decides whether the parameter at `index` is active.
    pub(crate) fn gate(&self, index: usize) -> Option<&Gate> {
        self.gates[index].as_ref()
    }

    /// True when the parameter at `index` decides whether others are active.
    pub(crate) fn decides(&self, index: usize) -> bool {
        !self.children[index].is_empty()
    }

    /// True when the parameter at `index` is active, given the coordinates of those before it.
    pub fn is_active(&self, index: usize, earlier: &[Option<Coordinate>]) -> bool {
        self.gates[index].as_ref().is_none_or(
            |gate| matches!(earlier[gate.parent], Some(Coordinate::Choice(c)) if gate.open[c]),
        )
    }

    /// The point that `choose` makes, asked in order for each parameter that is active, or the nearest possible one.
    pub fn build(&self, mut choose: impl FnMut(usize, &Distribution) -> Coordinate) -> Point {
        let mut coordinates = Vec::with_capacity(self.len());
        for (index, parameter) in self.parameters.iter().enumerate() {
            let active = self.is_active(index, &coordinates);
            coordinates.push(active.then(|| choose(index, &parameter.distribution)));
        }
        self.possible(Point::new(coordinates))
    }

    /// The value that `coordinate` stands for, as users wrote it.
    pub fn value(&self, index: usize, coordinate: Coordinate) -> Value {
        match (coordinate, &self.parameters[index].distribution) {
            (Coordinate::Choice(choice), Distribution::Categorical { choices }) => {
                choices[choice].clone()
            }
            (Coordinate::Choice(choice), _) => Value::from(choice),
            (Coordinate::Int(value), _) => Value::from(value),
            (Coordinate::Float(value), _) => Value::from(value),
        }
    }

    /// The active parameters of a point with their values.
    pub fn named(&self, point: &Point) -> Map<String, Value> {
        let pairs = self.parameters.iter().enumerate();
        pairs
            .filter_map(|(index, parameter)| {
                let value = self.value(index, point.get(index)?);
                Some((parameter.name.clone(), value))
            })
            .collect()
    }

    /// The point with these values, the way back from [`Space::named`].
    ///
    /// Every active parameter must be there with a value of its distribution; what names no active parameter is
    /// refused.
    pub fn point(&self, named: &Map<String, Value>) -> Result<Point, StudyError> {
        let mut coordinates = Vec::with_capacity(self.len());
        for (index, parameter) in self.parameters.iter().enumerate() {
            let active = self.is_active(index, &coordinates);
            let coordinate = if active {
                Some(coordinate(parameter, named)?)
            } else {
                None
            };
            coordinates.push(coordinate);
        }
        let point = Point::new(coordinates);
        let known = self.named(&point);
        match named.keys().find(|name| !known.contains_key(*name)) {
            Some(name) => Err(StudyError::UnknownParameter { name: name.clone() }),
            None => Ok(point),
        }
    }

    /// The point with these of its values fixed. A parameter that becomes active and is not fixed has its middle; a fixed
    /// one that is not active has no effect.
    pub fn with_fixed(
        &self,
        point: &Point,
        named: &Map<String, Value>,
    ) -> Result<Point, StudyError> {
        let is_known = |name: &String| self.parameters.iter().any(|own| own.name == *name);
        if let Some(name) = named.keys().find(|name| !is_known(name)) {
            return Err(StudyError::UnknownParameter { name: name.clone() });
        }
        let mut wrong = None;
        let fixed = self.build(|index, distribution| {
            let parameter = &self.parameters[index];
            if named.contains_key(&parameter.name) {
                match coordinate(parameter, named) {
                    Ok(coordinate) => return coordinate,
                    Err(error) => wrong = Some(error),
                }
            }
            point.get(index).unwrap_or_else(|| distribution.at(0.5))
        });
        wrong.map_or(Ok(fixed), Err)
    }

    /// A point with those of the values that fit, and the middle where nothing is known: what stands for a trial that
    /// failed before it had chosen everything.
    pub fn nearest(&self, named: &Map<String, Value>) -> Point {
        self.build(|index, distribution| {
            coordinate(&self.parameters[index], named).unwrap_or_else(|_| distribution.at(0.5))
        })
    }
}

fn gate(parameters: &[Parameter], condition: &Condition) -> Gate {
    let parent = parameters
        .iter()
        .position(|parameter| parameter.name == condition.parameter)
        .expect("conditions were checked");
    let Distribution::Categorical { choices } = &parameters[parent].distribution else {
        unreachable!("conditions were checked");
    };
    Gate {
        parent,
        open: choices
            .iter()
            .map(|choice| condition.choices.contains(choice))
            .collect(),
    }
}

fn coordinate(parameter: &Parameter, named: &Map<String, Value>) -> Result<Coordinate, StudyError> {
    let name = &parameter.name;
    let value = named
        .get(name)
        .ok_or_else(|| StudyError::MissingParameter { name: name.clone() })?;
    let coordinate = match &parameter.distribution {
        Distribution::Categorical { choices } => choices
            .iter()
            .position(|c| c == value)
            .map(Coordinate::Choice),
        Distribution::Int { .. } => value.as_i64().map(Coordinate::Int),
        Distribution::Float { .. } => value.as_f64().map(Coordinate::Float),
    };
    coordinate
        .filter(|coordinate| parameter.distribution.contains(*coordinate))
        .ok_or_else(|| StudyError::ForeignValue {
            name: name.clone(),
            value: value.clone(),
        })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// `format` is a, b or c; `width` 2, 4, 6, 8 goes with a and b; `block` x, y with b; `free` is on its own.
    pub(crate) fn conditional() -> Space {
        Space::new(vec![
            categorical("format", &["a", "b", "c"], None),
            Parameter::new(
                "width",
                Distribution::Int {
                    low: 2,
                    high: 8,
                    step: 2,
                    log: false,
                },
            )
            .when(under("format", &["a", "b"])),
            categorical("block", &["x", "y"], Some(under("format", &["b"]))),
            categorical("free", &["0", "1", "2"], None),
        ])
        .unwrap()
    }

    /// Active when `parameter` has one of these choices.
    pub(crate) fn under(parameter: &str, choices: &[&str]) -> Condition {
        Condition {
            parameter: parameter.into(),
            choices: choices.iter().map(|&c| Value::from(c)).collect(),
        }
    }

    pub(crate) fn categorical(
        name: &str,
        choices: &[&str],
        condition: Option<Condition>,
    ) -> Parameter {
        let choices = choices.iter().map(|&c| Value::from(c)).collect();
        Parameter {
            condition,
            ..Parameter::new(name, Distribution::Categorical { choices })
        }
    }

    #[test]
    fn a_point_is_known_by_its_names() {
        let space = conditional();
        for index in 0..space.size().unwrap() {
            let point = space.nth(index).unwrap();
            assert_eq!(space.point(&space.named(&point)).unwrap(), point);
        }
        let nearest = |value: Value| space.named(&space.nearest(value.as_object().unwrap()));
        let middle = json!({"format": "b", "width": 6, "block": "y", "free": "1"});
        assert_eq!(Value::Object(nearest(json!({}))), middle);
        let partly = json!({"format": "a", "width": 2, "free": "1"});
        assert_eq!(
            Value::Object(nearest(json!({"format": "a", "width": 2, "free": 7}))),
            partly
        );
        let refused = |value: Value| {
            space
                .point(value.as_object().unwrap())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(json!({"format": "a", "free": "0"})),
            "parameter `width` has no value"
        );
        assert_eq!(
            refused(json!({"format": "a", "width": 3, "free": "0"})),
            "parameter `width` cannot be 3"
        );
        assert_eq!(
            refused(json!({"format": "c", "width": 4, "free": "0"})),
            "parameter `width` is not active in this space"
        );
    }
}
