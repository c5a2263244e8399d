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
