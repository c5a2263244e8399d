//! Sifting: single nodes of a layer move to where they cross less.

use super::crossings::count_pair;
use super::proper::Proper;
use std::ops::Range;

/// Passes over a layer, at most.
const MAX_PASSES: usize = 2;
/// Places by which a node moves at once, at most.
const MAX_DISTANCE: usize = 6;

/// A node with the positions of its neighbours above and below, sorted, as ranges of one array.
struct Candidate {
    node: usize,
    above: Range<usize>,
    below: Range<usize>,
}

/// Moves every node of a layer to the place near it where its edges cross fewer others, above and below. Nodes do not pass those
/// that `is_fixed` holds in their order.
pub fn sift(
    graph: &Proper,
    position: &[usize],
    row: &mut [usize],
    is_fixed: impl Fn(usize, usize) -> bool,
) {
    let mut ends = Vec::new();
    let mut sorted_ends = |neighbours: &[usize]| {
        let start = ends.len();
        ends.extend(neighbours.iter().map(|&end| position[end]));
        ends[start..].sort_unstable();
        start..ends.len()
    };
    let candidate = |&node: &usize| Candidate {
        node,
        above: sorted_ends(graph.up.of(node)),
        below: sorted_ends(graph.down.of(node)),
    };
    let mut candidates: Vec<Candidate> = row.iter().map(candidate).collect();
    // The crossings that go when two nodes change places.
    let gain = |left: &Candidate, right: &Candidate| {
        if is_fixed(left.node, right.node) {
            return None;
        }
        let above = count_pair(&ends[left.above.clone()], &ends[right.above.clone()]);
        let below = count_pair(&ends[left.below.clone()], &ends[right.below.clone()]);
        Some((above.0 + below.0) as i64 - (above.1 + below.1) as i64)
    };
    for _ in 0..MAX_PASSES {
        let mut is_changed = false;
        for start in 0..candidates.len() {
            let own = &candidates[start];
            let to_left = candidates[..start].iter().rev().map(|left| gain(left, own));
            let to_right = candidates[start + 1..].iter().map(|right| gain(own, right));
            let (left_gain, left) = best_distance(to_left);
            let (right_gain, right) = best_distance(to_right);
            if left_gain > 0 && left_gain >= right_gain {
                candidates[start - left..=start].rotate_right(1);
            } else if right_gain > 0 {
                candidates[start..=start + right].rotate_left(1);
            }
            is_changed |= left_gain.max(right_gain) > 0;
        }
        if !is_changed {
            break;
        }
    }
    for (slot, candidate) in row.iter_mut().zip(candidates) {
        *slot = candidate.node;
    }
}

/// The largest sum of gains over the first places, and their number, up to a place that cannot be passed.
fn best_distance(gains: impl Iterator<Item = Option<i64>>) -> (i64, usize) {
    let mut best = (0, 0);
    let mut sum = 0;
    for (distance, gain) in gains.take(MAX_DISTANCE).enumerate() {
        let Some(gain) = gain else { break };
        sum += gain;
        if sum > best.0 {
            best = (sum, distance + 1);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_goes_as_far_as_the_sum_of_its_gains_grows() {
        for (gains, wanted) in [
            (&[][..], (0, 0)),
            (&[Some(2)], (2, 1)),
            (&[Some(-1)], (0, 0)),
            (&[Some(0), Some(0)], (0, 0)),
            (&[Some(1), Some(-3), Some(5)], (3, 3)),
            (&[Some(1), Some(-1), Some(1)], (1, 1)),
            (&[Some(2), None, Some(9)], (2, 1)),
            (
                &[Some(-1), Some(-1), Some(0), Some(0), Some(0), Some(3)],
                (1, 6),
            ),
            (
                &[
                    Some(0),
                    Some(0),
                    Some(0),
                    Some(0),
                    Some(0),
                    Some(0),
                    Some(3),
                ],
                (0, 0),
            ),
        ] {
            assert_eq!(best_distance(gains.iter().copied()), wanted, "{gains:?}");
        }
    }

    /// Three nodes over three, each with its edge to the one opposite.
    fn sifted(row: [usize; 3], is_fixed: impl Fn(usize, usize) -> bool) -> [usize; 3] {
        let graph = Proper::new(&[0, 0, 0, 1, 1, 1], &[(0, 5), (1, 4), (2, 3)]);
        let mut row = row;
        sift(&graph, &[0, 1, 2, 0, 0, 0], &mut row, is_fixed);
        row
    }

    #[test]
    fn nodes_move_to_where_they_cross_nothing() {
        for row in [
            [3, 4, 5],
            [3, 5, 4],
            [4, 3, 5],
            [4, 5, 3],
            [5, 3, 4],
            [5, 4, 3],
        ] {
            assert_eq!(sifted(row, |_, _| false), [5, 4, 3], "{row:?}");
            assert_eq!(sifted(row, |_, _| true), row);
        }
        // The last may not pass the first: it stays behind it, and the other goes in front.
        let is_fixed = |left: usize, right: usize| (left, right) == (3, 5);
        assert_eq!(sifted([3, 4, 5], is_fixed), [4, 3, 5]);
    }
}
