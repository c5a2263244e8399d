//! Groups of parameters that are modeled together.

use crate::{Point, Space};

/// Parameters that are always active together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Their indices, ascending and not empty.
    pub(super) parameters: Vec<usize>,
}

impl Group {
    /// True when the parameters have values in `point`.
    pub(super) fn is_active(&self, point: &Point) -> bool {
        point.get(self.parameters[0]).is_some()
    }
}

/// All parameters in groups, a group after those that decide whether it is active.
///
/// Joint groups are the parameters under the same condition; otherwise each parameter is a group of its own. Where several
/// of a joint group decide over others, as the formats of several layers decide over widths, each of them is on its own
/// too: what they decide over is modeled apart, and a joint model of the decisions alone finds less.
pub(super) fn groups(space: &Space, joint: bool) -> Vec<Group> {
    let decides = |parameter: &usize| space.decides(*parameter);
    let is_alone = |parameter: usize| {
        let mates = (0..space.len()).filter(|&mate| space.gate(mate) == space.gate(parameter));
        !joint || (decides(&parameter) && mates.filter(decides).count() > 1)
    };
    let mut groups: Vec<Group> = Vec::new();
    for parameter in 0..space.len() {
        let is_mate = |group: &&mut Group| {
            let first = group.parameters[0];
            space.gate(first) == space.gate(parameter) && !is_alone(first)
        };
        match groups.iter_mut().find(is_mate) {
            Some(group) if !is_alone(parameter) => group.parameters.push(parameter),
            _ => groups.push(Group {
                parameters: vec![parameter],
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Condition;
    use crate::space::tests::{categorical, conditional};

    #[test]
    fn conditions_make_the_groups() {
        let indices = |joint| -> Vec<Vec<usize>> {
            let groups = groups(&conditional(), joint);
            groups.into_iter().map(|group| group.parameters).collect()
        };
        assert_eq!(indices(true), [vec![0, 3], vec![1], vec![2]]);
        assert_eq!(indices(false), [[0], [1], [2], [3]]);
    }

    #[test]
    fn several_that_decide_are_apart() {
        let under = |parent: &str| {
            Some(Condition {
                parameter: parent.into(),
                choices: vec!["x".into()],
            })
        };
        let space = Space::new(vec![
            categorical("free", &["x", "y"], None),
            categorical("a", &["x", "y"], None),
            categorical("of a", &["x", "y"], under("a")),
            categorical("b", &["x", "y"], None),
            categorical("of b", &["x", "y"], under("b")),
            categorical("of b too", &["x", "y"], under("b")),
            categorical("free too", &["x", "y"], None),
        ])
        .unwrap();
        let groups: Vec<Vec<usize>> = groups(&space, true)
            .into_iter()
            .map(|group| group.parameters)
            .collect();
        assert_eq!(groups, [vec![0, 6], vec![1], vec![2], vec![3], vec![4, 5]]);
    }
}
