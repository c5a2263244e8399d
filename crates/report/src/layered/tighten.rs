//! Shorter edges after the positions are known: what is straight moves as a whole, within the room that it has.

use super::adjacency::Adjacency;
use super::coordinates::{Extent, distance};
use super::order::Order;
use super::proper::Proper;

/// Rounds at most; each goes over all lines from left to right and back.
const MAX_ROUNDS: usize = 12;

/// Moves every straight line of nodes towards the median of its neighbours, as far as the nodes beside it let it. Edges get
/// shorter from move to move, and those that are straight stay so.
pub fn tighten(graph: &Proper, order: &Order, extents: &[Extent], centres: &mut [f64]) {
    let mut ends = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let (line_of, lines) = straight_lines(graph, order, centres);
        let n_lines = lines.n_nodes();
        let mut sequence: Vec<usize> = (0..n_lines).collect();
        let first = |line: &usize| centres[lines.of(*line)[0]];
        sequence.sort_by(|a, b| first(a).total_cmp(&first(b)));
        let mut is_changed = false;
        for step in 0..2 * n_lines {
            let line = sequence[step.min(2 * n_lines - 1 - step)];
            let nodes = lines.of(line);
            ends.clear();
            for &node in nodes {
                let around = graph.up.of(node).iter().chain(graph.down.of(node));
                let others = around.filter(|&&end| line_of[end] != line);
                ends.extend(others.map(|&end| centres[end]));
            }
            if ends.is_empty() {
                continue;
            }
            let x = centres[nodes[0]];
            let (min, max) = room(order, graph, extents, centres, nodes);
            let wanted = nearest_median(&mut ends, x).max(min).min(max);
            if wanted != x {
                is_changed = true;
                for &node in nodes {
                    centres[node] = wanted;
                }
            }
        }
        if !is_changed {
            break;
        }
    }
}

/// The line of every node, and the nodes of every line: neighbours in neighbouring layers with the same position.
fn straight_lines(graph: &Proper, order: &Order, centres: &[f64]) -> (Vec<usize>, Adjacency) {
    let mut line_of = vec![0; graph.n_nodes()];
    let mut n_lines = 0;
    for &node in order.rows.iter().flatten() {
        let above = graph.up.of(node).iter();
        let above = above.copied().find(|&end| centres[end] == centres[node]);
        line_of[node] = above.map_or(n_lines, |end| line_of[end]);
        n_lines += usize::from(above.is_none());
    }
    let members = line_of.iter().copied().zip(0..);
    let lines = Adjacency::new(n_lines, members);
    (line_of, lines)
}

/// The positions between which a line of nodes can move.
fn room(
    order: &Order,
    graph: &Proper,
    extents: &[Extent],
    centres: &[f64],
    nodes: &[usize],
) -> (f64, f64) {
    let (mut min, mut max) = (f64::NEG_INFINITY, f64::INFINITY);
    for &node in nodes {
        let row = &order.rows[graph.layer[node]];
        let position = order.position[node];
        if position > 0 {
            let left = row[position - 1];
            min = min.max(centres[left] + distance(extents[left], extents[node]));
        }
        if let Some(&right) = row.get(position + 1) {
            max = max.min(centres[right] - distance(extents[node], extents[right]));
        }
    }
    (min, max)
}

/// The point nearest to `x` at which the sum of the distances to all ends is smallest.
fn nearest_median(ends: &mut [f64], x: f64) -> f64 {
    ends.sort_by(f64::total_cmp);
    let (left, right) = (ends[(ends.len() - 1) / 2], ends[ends.len() / 2]);
    x.max(left).min(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layered::coordinates::place;
    use crate::layered::order::arrange;

    #[test]
    fn the_median_nearest_to_a_point_is_that_point_where_it_may_be() {
        for (ends, x, wanted) in [
            (&[4.0][..], 9.0, 4.0),
            (&[9.0, 1.0, 5.0], 0.0, 5.0),
            (&[9.0, 1.0], 3.0, 3.0),
            (&[9.0, 7.0, 1.0, 3.0], 5.0, 5.0),
            (&[9.0, 7.0, 1.0, 3.0], 0.0, 3.0),
            (&[9.0, 7.0, 1.0, 3.0], 8.0, 7.0),
        ] {
            assert_eq!(
                nearest_median(&mut ends.to_vec(), x),
                wanted,
                "{ends:?}, {x}"
            );
        }
    }

    /// Boxes 10 wide, 2 apart.
    const EXTENT: Extent = Extent {
        half: 5.0,
        margin: 1.0,
    };

    fn tightened(layers: &[usize], edges: &[(usize, usize)], centres: &[f64]) -> Vec<f64> {
        let graph = Proper::new(layers, edges);
        let mut rows = vec![Vec::new(); graph.depth];
        for (node, &layer) in layers.iter().enumerate() {
            rows[layer].push(node);
        }
        let order = Order::new(rows, graph.n_nodes());
        let mut centres = centres.to_vec();
        tighten(&graph, &order, &vec![EXTENT; centres.len()], &mut centres);
        centres
    }

    #[test]
    fn nodes_move_to_their_neighbours_within_the_room_beside_others() {
        let edge = &[(0, 1)][..];
        assert_eq!(tightened(&[0, 1], edge, &[0.0, 10.0]), [10.0, 10.0]);
        // The node below cannot move, as another is beside it; the one above does.
        assert_eq!(
            tightened(&[0, 1, 1], edge, &[12.0, 0.0, 12.0]),
            [0.0, 0.0, 12.0]
        );
        // Neither can reach the other: they come as near as the nodes beside them let them.
        let two_rows = &[0, 0, 1, 1][..];
        let far = tightened(two_rows, &[(0, 3)], &[0.0, 20.0, 30.0, 60.0]);
        assert_eq!(far, [8.0, 20.0, 30.0, 42.0]);
        // A straight line of two moves as one.
        let chain = &[(0, 1), (1, 2)];
        assert_eq!(
            tightened(&[0, 1, 2], chain, &[4.0, 4.0, 9.0]),
            [9.0, 9.0, 9.0]
        );
    }

    #[test]
    fn edges_get_no_longer_and_a_second_time_changes_nothing() {
        let layers: Vec<usize> = (0..12).map(|node| node / 3).collect();
        for seed in 0..60_usize {
            let edge = |k: usize| {
                let source = (k * 5 + seed * 7) % 9;
                (source, source / 3 * 3 + 3 + (k * k + seed) % 3)
            };
            let mut edges: Vec<_> = (0..10).map(edge).collect();
            edges.sort_unstable();
            edges.dedup();
            let graph = Proper::new(&layers, &edges);
            let order = arrange(&graph);
            let extents = vec![EXTENT; graph.n_nodes()];
            let length = |centres: &[f64]| {
                let spans = edges.iter().map(|&(a, b)| (centres[a] - centres[b]).abs());
                spans.sum::<f64>()
            };
            let mut centres = place(&graph, &order, &extents);
            let placed = length(&centres);
            tighten(&graph, &order, &extents, &mut centres);
            assert!(length(&centres) <= placed + 1e-9);
            for row in &order.rows {
                for pair in row.windows(2) {
                    assert!(centres[pair[1]] - centres[pair[0]] >= 12.0 - 1e-9);
                }
            }
            let once = centres.clone();
            tighten(&graph, &order, &extents, &mut centres);
            assert_eq!(centres, once, "{seed}");
        }
    }
}
