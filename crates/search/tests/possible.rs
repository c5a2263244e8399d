//! Points whose formats cannot be made are no points: no sampler proposes one, and none is counted.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::{Reader, Table};
use ir::Graph;
use passes::Rules;
use search::{Choices, FormatSpace};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use study::{
    Coordinate, Direction, Next, Outcome, Point, SAMPLERS, Sampler, SamplerContext, SamplerEntry,
    Study,
};

/// An exponent must be smaller than its width: of four bits it can have two or three.
const MIXED: &str = "name = [\"integer\", \"minifloat_ieee\", \"NA\"]\n\
    data_in_width = [4, 8]\ndata_in_frac_width = [2, 6]\ndata_in_exponent_width = [2, 3, 5, 6]\n\
    weight_width = [4, 8]\nweight_frac_width = [2, 6]\nweight_exponent_width = [2, 3, 5, 6]\n";

/// As above, with a name for the weight alone.
const OWN_NAME: &str = "name = [\"integer\"]\nweight_name = [\"integer\", \"minifloat_ieee\"]\n\
    weight_width = [2, 4, 8]\nweight_exponent_width = [2, 3, 5]\nbias_width = [4, 8]\n";

/// As above, with nothing to choose about the weight's name.
const ONE_NAME: &str = "name = [\"integer\"]\nweight_name = [\"minifloat_ieee\"]\n\
    weight_width = [2, 4, 8]\nweight_exponent_width = [2, 3, 5]\nbias_width = [4, 8]\n";

/// Numbers alone, in rising order: two exponents go with four bits, three with eight.
const NUMBERS: &str =
    "name = [\"minifloat_ieee\"]\nweight_width = [4, 8]\nweight_exponent_width = [2, 3, 5]\n";

fn network() -> Graph {
    let mut graph = models::build("jsc-toy", &models::ModelInfo::default()).unwrap();
    graph.initialize(1);
    graph
}

fn formats(keys: &str) -> FormatSpace {
    let table = Table::parse(&format!("by = \"type\"\n[linear.config]\n{keys}")).unwrap();
    let mut reader = Reader::new(&table, 0..0);
    let rules = Rules::read(&mut reader, Choices::read);
    assert!(reader.finish().is_empty());
    FormatSpace::new(&network(), &rules).unwrap()
}

/// Every combination of choices for the first node, possible or not, with all other nodes as in `rest`.
fn of_first_node(formats: &FormatSpace, rest: &Point) -> Vec<Point> {
    let own = format!("{}/", formats.nodes[0].name);
    let parameters = formats.space.parameters();
    let mut points: Vec<Vec<Option<Coordinate>>> = vec![Vec::new()];
    for (index, parameter) in parameters.iter().enumerate() {
        let longer = |point: Vec<Option<Coordinate>>| -> Vec<Vec<Option<Coordinate>>> {
            let values: Vec<Option<Coordinate>> = if !parameter.name.starts_with(&own) {
                vec![rest.get(index)]
            } else if formats.space.is_active(index, &point) {
                let count = parameter.distribution.count().unwrap();
                (0..count)
                    .map(|k| Some(parameter.distribution.nth(k)))
                    .collect()
            } else {
                vec![None]
            };
            let with = |value| point.iter().copied().chain([value]).collect();
            values.into_iter().map(with).collect()
        };
        points = points.into_iter().flat_map(longer).collect();
    }
    points.into_iter().map(Point::new).collect()
}

/// The sampler, if it takes the space.
fn sampler(entry: &SamplerEntry, formats: &FormatSpace) -> Option<Box<dyn Sampler>> {
    let context = SamplerContext {
        space: Arc::clone(&formats.space),
        objectives: 1,
        seed: 3,
    };
    (entry.defaults)().build(context).ok()
}

fn study(entry: &SamplerEntry, formats: &FormatSpace, n_trials: u64) -> Option<Study> {
    let directions = vec![Direction::Minimize];
    let space = Arc::clone(&formats.space);
    let study = Study::new(space, sampler(entry, formats)?, directions, n_trials);
    Some(study.unwrap())
}

fn value(formats: &FormatSpace, point: &Point) -> f64 {
    let named = formats.space.named(point);
    named
        .values()
        .map(|value| value.as_f64().unwrap_or(0.5))
        .sum()
}

/// What is possible is what can be made; the possible points are those that have numbers.
#[test]
fn the_points_of_a_space_are_those_whose_formats_can_be_made() {
    let graph = network();
    for keys in [MIXED, OWN_NAME, ONE_NAME] {
        let formats = formats(keys);
        let space = &formats.space;
        let first = space.nth(0).unwrap();
        let mut possible = 0;
        for point in of_first_node(&formats, &first) {
            let is_made = formats.graph(&graph, &point).is_ok();
            assert_eq!(
                space.is_possible(&point),
                is_made,
                "{:?}",
                space.named(&point)
            );
            possible += u128::from(is_made);
            let mended = space.possible(point.clone());
            assert!(space.is_possible(&mended));
            assert_eq!(mended == point, is_made);
            assert_eq!(space.possible(mended.clone()), mended);
        }
        // All nodes have the same rule.
        let nodes = formats.nodes.len() as u32;
        assert!(nodes > 1);
        assert_eq!(space.size(), Some(possible.pow(nodes)));
        let numbered: Vec<Point> = (0..200.min(possible.pow(nodes)))
            .map(|index| {
                space
                    .nth(index * (possible.pow(nodes) / 200).max(1))
                    .unwrap()
            })
            .collect();
        let different: HashSet<&Point> = numbered.iter().collect();
        assert_eq!(different.len(), numbered.len());
        assert!(numbered.iter().all(|point| space.is_possible(point)));
    }
}

/// A step along a list of numbers is nearer than another word, and the first of the nearest is taken.
#[test]
fn an_impossible_point_becomes_the_nearest() {
    let formats = formats(OWN_NAME);
    let space = &formats.space;
    let near = |name: &str, width: u64, exponent: u64| {
        let mut named = space.named(&space.nth(0).unwrap());
        let node = formats.nodes[0].name.clone();
        named.insert(format!("{node}/config/weight_name"), name.into());
        named.insert(format!("{node}/config/weight_width"), width.into());
        named.insert(
            format!("{node}/config/weight_exponent_width"),
            exponent.into(),
        );
        let mended = space.named(&space.possible(space.point(&named).unwrap()));
        let get = |key: &str| mended.get(&format!("{node}/config/weight_{key}")).cloned();
        [get("name"), get("width"), get("exponent_width")].map(Option::unwrap)
    };
    let minifloat =
        |width: u64, exponent: u64| [json!("minifloat_ieee"), json!(width), json!(exponent)];
    assert_eq!(near("minifloat_ieee", 8, 5), minifloat(8, 5));
    assert_eq!(near("minifloat_ieee", 4, 5), minifloat(4, 3));
    assert_eq!(near("minifloat_ieee", 2, 3), minifloat(4, 3));
}

#[test]
fn no_sampler_proposes_what_cannot_be_made() {
    let graph = network();
    let mut used = HashSet::new();
    for keys in [MIXED, OWN_NAME, NUMBERS] {
        let formats = formats(keys);
        for entry in SAMPLERS {
            let Some(mut study) = study(entry, &formats, 150) else {
                continue;
            };
            used.insert(entry.name);
            while let Next::Trial { number, point } = study.ask() {
                let made = formats.graph(&graph, &point);
                let named = formats.space.named(&point);
                assert!(made.is_ok(), "{}: {named:?}", entry.name);
                let outcome = Outcome::complete(vec![value(&formats, &point)]);
                study.tell(number, outcome).unwrap();
            }
            let trials = study.history().trials();
            assert!(trials.len() >= 125, "{}", entry.name);
            // The sampler itself says so, whenever it is asked: what is tried follows from the trials before.
            let again = sampler(entry, &formats).unwrap();
            for trial in trials.iter().rev() {
                let point = again.sample(study.history(), trial.number);
                assert_eq!(point, trial.point, "{}", entry.name);
            }
        }
    }
    assert_eq!(used.len(), SAMPLERS.len(), "{used:?}");
}

/// Small enough to list: each possible point once.
#[test]
fn brute_force_tries_the_possible_points_alone() {
    let formats = formats(NUMBERS);
    let size = formats.space.size().unwrap();
    assert_eq!(size, 5_u128.pow(formats.nodes.len() as u32));
    for name in ["brute_force", "random", "tpe", "nsgaii"] {
        let entry = study::find_sampler(name).unwrap();
        let mut study = study(entry, &formats, 100_000).unwrap();
        let mut points = HashSet::new();
        let mut asked = 0;
        while let Next::Trial { number, point } = study.ask() {
            asked += 1;
            let outcome = Outcome::complete(vec![value(&formats, &point)]);
            points.insert(point);
            study.tell(number, outcome).unwrap();
        }
        assert_eq!((asked, points.len() as u128), (size, size), "{name}");
    }
}
