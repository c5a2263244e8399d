//! Parameters that are chosen together, and the options that are measured.

use crate::draws::Draws;
use crate::{Coordinate, Distribution, Space};
use ir::Random;
use std::collections::BTreeMap;

/// Parameters that are chosen together.
pub(super) struct Unit {
    pub parameters: Vec<usize>,
    /// For each option the coordinates of the parameters.
    pub options: Vec<Vec<Option<Coordinate>>>,
    /// The widest option.
    pub base: usize,
}

/// Units in the order of their first parameters.
pub(super) fn units(space: &Space, max_options: usize, stream: Random) -> Vec<Unit> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in 0..space.len() {
        groups
            .entry(unit_name(space, index))
            .or_default()
            .push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_unstable();
    groups
        .into_iter()
        .map(|parameters| unit(space, parameters, max_options, stream))
        .collect()
}

/// What stands before the first `/` of the name; of a parameter with a condition, that of the one that decides.
fn unit_name(space: &Space, index: usize) -> &str {
    if let Some(gate) = space.gate(index) {
        return unit_name(space, gate.parent);
    }
    let name = &space.parameters()[index].name;
    name.split('/').next().unwrap_or(name)
}

fn unit(space: &Space, parameters: Vec<usize>, max_options: usize, stream: Random) -> Unit {
    let mut options = Vec::new();
    let mut coordinates = vec![None; space.len()];
    list(
        space,
        &parameters,
        &mut coordinates,
        &mut options,
        64 * max_options,
    );
    let base = (0..options.len()).max_by(|&a, &b| {
        richness(space, &parameters, &options[a]).total_cmp(&richness(
            space,
            &parameters,
            &options[b],
        ))
    });
    let mut base = base.unwrap_or(0);
    if options.len() > max_options {
        let widest = options.swap_remove(base);
        let mut draws = Draws::new(stream.at(parameters[0] as u64));
        while options.len() >= max_options {
            options.swap_remove(draws.below(options.len()));
        }
        options.insert(0, widest);
        base = 0;
    }
    Unit {
        parameters,
        options,
        base,
    }
}

/// All possible combinations of the parameters that are active together, up to a number.
fn list(
    space: &Space,
    parameters: &[usize],
    coordinates: &mut Vec<Option<Coordinate>>,
    options: &mut Vec<Vec<Option<Coordinate>>>,
    most: usize,
) {
    fn below(
        space: &Space,
        parameters: &[usize],
        depth: usize,
        coordinates: &mut Vec<Option<Coordinate>>,
        options: &mut Vec<Vec<Option<Coordinate>>>,
        most: usize,
    ) {
        let Some(&parameter) = parameters.get(depth) else {
            if space.is_possible_for(parameters, coordinates) {
                options.push(parameters.iter().map(|&p| coordinates[p]).collect());
            }
            return;
        };
        let distribution = &space.parameters()[parameter].distribution;
        let count = if space.is_active(parameter, coordinates) {
            distribution.count().unwrap_or(0)
        } else {
            0
        };
        if count == 0 {
            coordinates[parameter] = None;
            below(space, parameters, depth + 1, coordinates, options, most);
        }
        for index in (0..count)
            .take_while(|_| options.len() < most)
            .collect::<Vec<_>>()
        {
            if options.len() >= most {
                break;
            }
            coordinates[parameter] = Some(distribution.nth(index));
            below(space, parameters, depth + 1, coordinates, options, most);
        }
        coordinates[parameter] = None;
    }
    below(space, parameters, 0, coordinates, options, most);
}

/// How wide an option is: the sum of its numbers. Words count nothing.
fn richness(space: &Space, parameters: &[usize], option: &[Option<Coordinate>]) -> f64 {
    let number = |(&parameter, coordinate): (&usize, &Option<Coordinate>)| match (
        coordinate,
        &space.parameters()[parameter].distribution,
    ) {
        (Some(Coordinate::Choice(index)), Distribution::Categorical { choices }) => {
            choices[*index].as_f64().unwrap_or(0.0)
        }
        (Some(Coordinate::Int(value)), _) => *value as f64,
        _ => 0.0,
    };
    parameters.iter().zip(option).map(number).sum()
}
