//! Choosing exactly as many as asked for.

/// The units of one tensor: elements or channels.
pub struct Group {
    /// Their order: the smallest goes first, and of equals the one that stands first.
    pub order: Vec<u64>,
    /// True for those that are pruned already; they go before all others.
    pub pruned: Vec<bool>,
}

impl Group {
    /// All units but `kept` of every `inputs` in a row, the least first.
    pub fn all_but(&self, kept: usize, inputs: usize) -> Vec<bool> {
        let share = 1.0 - kept.min(inputs) as f64 / inputs as f64;
        let rows = self.order.chunks(inputs).zip(self.pruned.chunks(inputs));
        let chosen = rows.flat_map(|(order, pruned)| {
            let row = Self {
                order: order.to_vec(),
                pruned: pruned.to_vec(),
            };
            smallest(&[row], share)
        });
        chosen.flatten().collect()
    }
}

/// A share of the units of all groups together, the least first; true for each that is chosen. What is pruned already is
/// always chosen.
pub fn smallest(groups: &[Group], share: f64) -> Vec<Vec<bool>> {
    let total: usize = groups.iter().map(|group| group.order.len()).sum();
    let mut chosen: Vec<Vec<bool>> = groups.iter().map(|group| group.pruned.clone()).collect();
    let done = chosen.iter().flatten().filter(|pruned| **pruned).count();
    // Ties to even, as Python's and thus PyTorch's.
    let wanted = (share * total as f64).round_ties_even() as usize;
    let more = wanted.saturating_sub(done);
    if more == 0 {
        return chosen;
    }
    let mut left: Vec<(u64, u32, u32)> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let units = group.order.iter().zip(&group.pruned).enumerate();
        let free = units.filter(|(_, (_, pruned))| !**pruned);
        left.extend(free.map(|(unit, (order, _))| (*order, at as u32, unit as u32)));
    }
    left.select_nth_unstable(more - 1);
    for &(_, at, unit) in &left[..more] {
        chosen[at as usize][unit as usize] = true;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(order: &[u64], pruned: &[usize]) -> Group {
        Group {
            order: order.to_vec(),
            pruned: (0..order.len()).map(|i| pruned.contains(&i)).collect(),
        }
    }

    fn places(chosen: &[Vec<bool>]) -> Vec<(usize, usize)> {
        let of_group = |(at, units): (usize, &Vec<bool>)| {
            let chosen = units.iter().enumerate().filter(|(_, chosen)| **chosen);
            chosen.map(|(unit, _)| (at, unit)).collect::<Vec<_>>()
        };
        chosen.iter().enumerate().flat_map(of_group).collect()
    }

    #[test]
    fn the_least_go_first_and_equals_by_position() {
        let groups = [group(&[5, 1, 3, 1], &[]), group(&[1, 9], &[])];
        for (share, expected) in [
            (0.0, vec![]),
            (1.0 / 6.0, vec![(0, 1)]),
            (2.0 / 6.0, vec![(0, 1), (0, 3)]),
            (0.5, vec![(0, 1), (0, 3), (1, 0)]),
            (0.99, vec![(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]),
        ] {
            assert_eq!(places(&smallest(&groups, share)), expected, "{share}");
        }
    }

    #[test]
    fn what_is_pruned_counts_and_stays() {
        let groups = [group(&[1, 2, 3, 4], &[3])];
        assert_eq!(places(&smallest(&groups, 0.0)), [(0, 3)]);
        assert_eq!(places(&smallest(&groups, 0.25)), [(0, 3)]);
        assert_eq!(places(&smallest(&groups, 0.5)), [(0, 0), (0, 3)]);
    }

    #[test]
    fn halves_go_to_the_even_number() {
        let five = [group(&[1, 2, 3, 4, 5], &[])];
        assert_eq!(places(&smallest(&five, 0.5)).len(), 2);
        let three = [group(&[1, 2, 3], &[])];
        assert_eq!(places(&smallest(&three, 0.5)).len(), 2);
    }
}
