//! Which parameters are modeled together.

use crate::{Point, Space};

/// Parameters that are always active together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Their indices, ascending and not empty.
    pub(super) parameters: Vec<usize>,
}

impl Group {
    /// Whether the parameters have values in `point`.
    pub(super) fn is_active(&self, point: &Point) -> bool {
        point.get(self.parameters[0]).is_some()
    }
}

/// All parameters in groups, a group after those that decide whether it is active.
///
/// Joint groups are the parameters under the same condition; otherwise each parameter is a group of its own.
pub(super) fn groups(space: &Space, joint: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for parameter in 0..space.len() {
        let same =
            |group: &&mut Group| joint && space.gate(group.parameters[0]) == space.gate(parameter);
        match groups.iter_mut().find(same) {
            Some(group) => group.parameters.push(parameter),
            None => groups.push(Group {
                parameters: vec![parameter],
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::tests::conditional;

    #[test]
    fn conditions_make_the_groups() {
        let indices = |joint| -> Vec<Vec<usize>> {
            let groups = groups(&conditional(), joint);
            groups.into_iter().map(|group| group.parameters).collect()
        };
        assert_eq!(indices(true), [vec![0, 3], vec![1], vec![2]]);
        assert_eq!(indices(false), [[0], [1], [2], [3]]);
    }
}
