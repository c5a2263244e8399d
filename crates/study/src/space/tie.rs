//! Combinations of choices that cannot be made, and the way from one to the nearest that can.

use std::sync::Arc;

use super::{Coordinate, Point, Space};

/// Categorical parameters of which only some combinations are possible.
///
/// No parameter is in two ties, and on a parameter of a tie hang only parameters of the same tie.
#[derive(Clone, Debug)]
pub struct Tie {
    /// A parameter before all of them, always active, on whose choice it depends what is possible; none if nothing does.
    pub decider: Option<usize>,
    /// The parameters in order.
    pub parameters: Vec<usize>,
    /// For every choice of the decider the possible combinations in rising order; one list when there is no decider.
    pub rows: Arc<Vec<Vec<Row>>>,
}

/// One choice for each parameter of a tie; nothing where it is inactive.
pub type Row = Vec<Option<usize>>;

impl Tie {
    /// The possible rows, given the coordinates of the earlier parameters.
    pub(super) fn possible(&self, earlier: &[Option<Coordinate>]) -> &[Row] {
        let choice = self.decider.map_or(0, |decider| match earlier[decider] {
            Some(Coordinate::Choice(choice)) => choice,
            _ => 0,
        });
        &self.rows[choice]
    }

    fn is_kept(&self, coordinates: &[Option<Coordinate>]) -> bool {
        let row = row(&self.parameters, coordinates);
        self.possible(coordinates).binary_search(&row).is_ok()
    }

    /// Writes a row into the coordinates.
    pub(super) fn write(&self, row: &Row, coordinates: &mut [Option<Coordinate>]) {
        for (&index, choice) in self.parameters.iter().zip(row) {
            coordinates[index] = choice.map(Coordinate::Choice);
        }
    }
}

impl Space {
    /// True when all that the point chooses can be chosen together.
    pub fn is_possible(&self, point: &Point) -> bool {
        let mut ties = self.ties.iter();
        ties.all(|tie| tie.is_kept(point.coordinates()))
    }

    /// As [`Space::is_possible`], for the ties of some parameters; of the others, only those that decide are looked at.
    pub fn is_possible_for(
        &self,
        parameters: &[usize],
        coordinates: &[Option<Coordinate>],
    ) -> bool {
        let is_among = |tie: &&Tie| parameters.contains(&tie.parameters[0]);
        let mut ties = self.ties.iter().filter(is_among);
        ties.all(|tie| tie.is_kept(coordinates))
    }

    /// The point itself if it is possible, else the nearest that is: the one with the fewest words changed and the fewest
    /// steps along the lists of numbers, the first of several.
    pub fn possible(&self, point: Point) -> Point {
        if self.is_possible(&point) {
            return point;
        }
        let mut coordinates = point.coordinates().to_vec();
        for tie in self
            .ties
            .iter()
            .filter(|tie| !tie.is_kept(point.coordinates()))
        {
            let own = row(&tie.parameters, &coordinates);
            let steps: Vec<f64> = tie.parameters.iter().map(|&p| self.step(p)).collect();
            let distance = |row: &&Row| distance(&steps, &own, row);
            let possible = tie.possible(&coordinates).iter();
            let nearest = possible.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            if let Some(row) = nearest {
                tie.write(row, &mut coordinates);
            }
        }
        Point::new(coordinates)
    }

    /// The distance of two neighboring choices of a parameter.
    fn step(&self, index: usize) -> f64 {
        let distribution = &self.parameters[index].distribution;
        match distribution.count() {
            Some(count) if distribution.is_ordered() => 1.0 / count as f64,
            _ => 1.0,
        }
    }
}

/// The distance of two rows: 1 for a word, less for a step from one number to another.
fn distance(steps: &[f64], from: &Row, to: &Row) -> f64 {
    let pairs = steps.iter().zip(from.iter().zip(to));
    pairs
        .map(|(step, choices)| match choices {
            (Some(from), Some(to)) => (from.abs_diff(*to) as f64 * step).min(1.0),
            (None, None) => 0.0,
            _ => 1.0,
        })
        .sum()
}

/// The choices of some parameters.
pub(super) fn row(parameters: &[usize], coordinates: &[Option<Coordinate>]) -> Row {
    let choice = |coordinate: Option<Coordinate>| match coordinate {
        Some(Coordinate::Choice(choice)) => Some(choice),
        _ => None,
    };
    let own = parameters.iter();
    own.map(|&index| choice(coordinates[index])).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::tests::{categorical, under};
    use super::super::{Distribution, Parameter};
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    fn numbers(name: &str, values: &[i64]) -> Parameter {
        Parameter::new(name, Distribution::categorical(values.iter().copied()))
    }

    fn tie(decider: Option<usize>, parameters: &[usize], rows: &[&[Row]]) -> Tie {
        Tie {
            decider,
            parameters: parameters.to_vec(),
            rows: Arc::new(rows.iter().map(|rows| rows.to_vec()).collect()),
        }
    }

    fn row_of(choices: &[usize]) -> Row {
        choices.iter().copied().map(Some).collect()
    }

    /// A float's exponent must be smaller than its width; an integer has none. `free` is on its own.
    pub(crate) fn formats() -> Space {
        let parameters = vec![
            categorical("name", &["float", "integer"], None),
            numbers("width", &[2, 4, 8]),
            numbers("exponent", &[2, 3, 5]).when(under("name", &["float"])),
            categorical("free", &["x", "y"], None),
        ];
        let floats = [[1, 0], [1, 1], [2, 0], [2, 1], [2, 2]].map(|row| row_of(&row));
        let integers = [0, 1, 2].map(|width| vec![Some(width), None]);
        let tie = tie(Some(0), &[1, 2], &[&floats, &integers]);
        Space::with_ties(parameters, vec![tie]).unwrap()
    }

    fn can_be_made(space: &Space, point: &Point) -> bool {
        let named = space.named(point);
        let exponent = named.get("exponent").and_then(serde_json::Value::as_i64);
        exponent.is_none_or(|exponent| named["width"].as_i64().is_some_and(|w| exponent < w))
    }

    /// Every point that the conditions allow, possible or not.
    fn all_points(space: &Space) -> Vec<Point> {
        let untied = Space::new(space.parameters().to_vec()).unwrap();
        let size = untied.size().unwrap();
        (0..size).map(|index| untied.nth(index).unwrap()).collect()
    }

    #[test]
    fn the_possible_points_are_those_that_can_be_made() {
        let space = formats();
        let all = all_points(&space);
        assert_eq!(all.len(), (9 + 3) * 2);
        let mut possible = Vec::new();
        for point in all {
            let is_possible = can_be_made(&space, &point);
            assert_eq!(space.is_possible(&point), is_possible, "{point:?}");
            let mended = space.possible(point.clone());
            assert!(can_be_made(&space, &mended), "{mended:?}");
            assert_eq!(mended == point, is_possible, "{point:?}");
            // What another tie or no tie decides stays.
            assert_eq!((mended.get(0), mended.get(3)), (point.get(0), point.get(3)));
            if is_possible {
                possible.push(point);
            }
        }
        possible.sort_by_key(|point| row(&[0, 1, 2, 3], point.coordinates()));
        assert_eq!(space.size(), Some(possible.len() as u128));
        let numbered: Vec<Point> = (0..16).map(|k| space.nth(k).unwrap()).collect();
        assert_eq!(numbered, possible, "in lexicographic order");
        assert_eq!(space.nth(16), None);
    }

    /// The point nearest to one with these choices, by its named values.
    fn nearest(space: &Space, named: &serde_json::Value) -> serde_json::Value {
        let point = space.point(named.as_object().unwrap()).unwrap();
        serde_json::Value::Object(space.named(&space.possible(point)))
    }

    #[test]
    fn the_nearest_is_the_one_with_the_fewest_steps() {
        let space = formats();
        let near = |width: i64, exponent: i64| {
            let float = json!({"name": "float", "width": width, "exponent": exponent, "free": "y"});
            let near = nearest(&space, &float);
            (
                near["width"].as_i64().unwrap(),
                near["exponent"].as_i64().unwrap(),
            )
        };
        assert_eq!(near(8, 5), (8, 5));
        assert_eq!(near(2, 2), (4, 2));
        assert_eq!(near(2, 3), (4, 3));
        // (4, 3) and (8, 5) are as near: the first.
        assert_eq!(near(4, 5), (4, 3));
    }

    /// All four steps along a list of five numbers are less than another word.
    #[test]
    fn words_are_farther_apart_than_numbers() {
        let parameters = vec![
            categorical("rounding", &["up", "down", "even"], None),
            numbers("width", &[2, 4, 8, 16, 32]),
        ];
        let rows = [row_of(&[0, 4]), row_of(&[1, 0])];
        let space = Space::with_ties(parameters, vec![tie(None, &[0, 1], &[&rows])]).unwrap();
        let near = |rounding: &str, width: i64| {
            let near = nearest(&space, &json!({"rounding": rounding, "width": width}));
            near["rounding"].as_str().unwrap().to_owned()
        };
        assert_eq!(near("up", 2), "up");
        assert_eq!(near("even", 4), "down");
        assert_eq!(near("even", 16), "up");
        assert_eq!(near("down", 32), "down");
    }

    /// A word and with it a key that becomes active are two changes; a key that stays inactive is none.
    #[test]
    fn what_stays_inactive_is_no_change() {
        let widths = [2, 4, 8, 16, 32];
        let parameters = vec![
            categorical("name", &["integer", "float"], None),
            numbers("exponent", &[2]).when(under("name", &["float"])),
            numbers("width", &widths),
            numbers("frac_width", &widths),
        ];
        let rows = [vec![Some(0), None, Some(4), Some(4)], row_of(&[1, 0, 0, 0])];
        let tie = tie(None, &[0, 1, 2, 3], &[&rows]);
        let space = Space::with_ties(parameters, vec![tie]).unwrap();
        let near = nearest(
            &space,
            &json!({"name": "integer", "width": 2, "frac_width": 2}),
        );
        assert_eq!(
            near,
            json!({"name": "integer", "width": 32, "frac_width": 32})
        );
        let float = json!({"name": "float", "exponent": 2, "width": 16, "frac_width": 16});
        assert_eq!(nearest(&space, &float)["name"], "float");
    }

    #[test]
    fn ties_are_kept_one_by_one() {
        let parameters = (0..4).map(|k| categorical(&k.to_string(), &["a", "b"], None));
        let rows = [row_of(&[0, 1]), row_of(&[1, 0])];
        let ties = vec![tie(None, &[0, 1], &[&rows]), tie(None, &[2, 3], &[&rows])];
        let space = Space::with_ties(parameters.collect(), ties).unwrap();
        let point =
            |choices: [usize; 4]| Point::new(choices.map(|c| Some(Coordinate::Choice(c))).to_vec());
        let half = point([0, 1, 1, 1]);
        assert!(space.is_possible_for(&[0, 1], half.coordinates()));
        assert!(!space.is_possible_for(&[2, 3], half.coordinates()));
        assert!(!space.is_possible_for(&[0, 1, 2, 3], half.coordinates()));
        assert!(!space.is_possible(&half));
        assert_eq!(space.possible(half), point([0, 1, 0, 1]));
        let different: BTreeSet<String> = (0..space.size().unwrap())
            .map(|k| format!("{:?}", space.nth(k).unwrap()))
            .collect();
        assert_eq!(different.len(), 4);
    }
}
