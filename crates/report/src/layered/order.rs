//! The order of the nodes within each layer: few crossings, and none between two chains.
//!
//! Sweeps down and up sort every layer by the medians or means of its neighbours in the layer before, then exchange
//! neighbours where that removes crossings. The best order of all sweeps is kept.

use super::crossings::{count, count_pair};
use super::proper::Proper;

/// Sweeps at most, and sweeps in a row that may bring nothing.
const MAX_SWEEPS: usize = 24;
const MAX_IDLE_SWEEPS: usize = 4;
/// Passes over a layer that exchange neighbours, at most.
const MAX_EXCHANGES: usize = 8;

/// The layers from left to right.
#[derive(Clone)]
pub struct Order {
    /// The nodes of every layer.
    pub rows: Vec<Vec<usize>>,
    /// The position of every node in its layer.
    pub position: Vec<usize>,
}

impl Order {
    /// An order with the positions that follow from it.
    pub fn new(rows: Vec<Vec<usize>>, n_nodes: usize) -> Self {
        let mut order = Self {
            rows,
            position: vec![0; n_nodes],
        };
        for layer in 0..order.rows.len() {
            order.number(layer);
        }
        order
    }

    fn number(&mut self, layer: usize) {
        for (position, &node) in self.rows[layer].iter().enumerate() {
            self.position[node] = position;
        }
    }
}

/// The direction of a sweep.
#[derive(Clone, Copy, PartialEq)]
enum Sweep {
    Down,
    Up,
}

/// An order with few crossings, in which no two chains cross.
pub fn arrange(graph: &Proper) -> Order {
    let mut order = depth_first(graph);
    let mut best = uncrossed(graph, &order);
    let mut min_crossings = count(graph, &best);
    let mut n_idle = 0;
    for step in 0..MAX_SWEEPS {
        if min_crossings == 0 || n_idle == MAX_IDLE_SWEEPS {
            break;
        }
        let direction = [Sweep::Down, Sweep::Up][step % 2];
        sweep(graph, &mut order, direction, step % 4 < 2);
        let candidate = uncrossed(graph, &order);
        let crossings = count(graph, &candidate);
        n_idle += 1;
        if crossings < min_crossings {
            (best, min_crossings, n_idle) = (candidate, crossings, 0);
        }
    }
    best
}

/// The order in which a depth-first walk from the sources meets the nodes.
fn depth_first(graph: &Proper) -> Order {
    let mut rows = vec![Vec::new(); graph.depth];
    let mut is_met = vec![false; graph.n_nodes()];
    let mut open = Vec::new();
    let sources = (0..graph.n_real).filter(|&node| graph.up.degree(node) == 0);
    for source in sources {
        open.push(source);
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut is_met[node], true) {
                continue;
            }
            rows[graph.layer[node]].push(node);
            open.extend(graph.down.of(node).iter().rev());
        }
    }
    Order::new(rows, graph.n_nodes())
}

fn sweep(graph: &Proper, order: &mut Order, direction: Sweep, by_median: bool) {
    let mut keys = Vec::new();
    let mut scratch = Vec::new();
    for step in 0..graph.depth {
        let layer = match direction {
            Sweep::Down => step,
            Sweep::Up => graph.depth - 1 - step,
        };
        if order.rows[layer].len() < 2 {
            continue;
        }
        let neighbours = match direction {
            Sweep::Down => &graph.up,
            Sweep::Up => &graph.down,
        };
        keys.clear();
        for &node in &order.rows[layer] {
            scratch.clear();
            scratch.extend(neighbours.of(node).iter().map(|&end| order.position[end]));
            if !scratch.is_empty() {
                keys.push((middle(&mut scratch, by_median), node));
            }
        }
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Nodes without neighbours on that side stay where they are.
        let mut sorted = keys.iter().map(|&(_, node)| node);
        for slot in &mut order.rows[layer] {
            if neighbours.degree(*slot) > 0 {
                *slot = sorted.next().unwrap_or(*slot);
            }
        }
        exchange(graph, order, layer);
        order.number(layer);
    }
}

/// The median of positions, between both if there are two, or their mean.
fn middle(positions: &mut [usize], by_median: bool) -> f64 {
    let n = positions.len();
    if by_median {
        positions.sort_unstable();
        return (positions[(n - 1) / 2] + positions[n / 2]) as f64 / 2.0;
    }
    positions.iter().sum::<usize>() as f64 / n as f64
}

/// Exchanges neighbours in a layer while that removes crossings with the layers above and below.
fn exchange(graph: &Proper, order: &mut Order, layer: usize) {
    let row = &mut order.rows[layer];
    let position = &order.position;
    let mut ends = Vec::new();
    let mut sorted_ends = |neighbours: &[usize]| {
        let start = ends.len();
        ends.extend(neighbours.iter().map(|&end| position[end]));
        ends[start..].sort_unstable();
        start..ends.len()
    };
    let mut nodes: Vec<_> = row
        .iter()
        .map(|&node| {
            let above = sorted_ends(graph.up.of(node));
            (node, above, sorted_ends(graph.down.of(node)))
        })
        .collect();
    for _ in 0..MAX_EXCHANGES {
        let mut is_changed = false;
        for right in 1..nodes.len() {
            let (_, left_above, left_below) = &nodes[right - 1];
            let (_, right_above, right_below) = &nodes[right];
            let above = count_pair(&ends[left_above.clone()], &ends[right_above.clone()]);
            let below = count_pair(&ends[left_below.clone()], &ends[right_below.clone()]);
            if above.1 + below.1 < above.0 + below.0 {
                nodes.swap(right - 1, right);
                is_changed = true;
            }
        }
        if !is_changed {
            break;
        }
    }
    for (slot, (node, ..)) in row.iter_mut().zip(nodes) {
        *slot = node;
    }
}

/// The same order but for chains that cross: they keep the order of their first common layer, or of their last one,
/// whichever has fewer crossings.
fn uncrossed(graph: &Proper, order: &Order) -> Order {
    let mut down = order.clone();
    let mut is_changed = false;
    for layer in 1..graph.depth {
        is_changed |= follow(&mut down, layer, |node| graph.chained_above(node));
    }
    if !is_changed {
        return down;
    }
    let mut up = order.clone();
    for layer in (0..graph.depth - 1).rev() {
        follow(&mut up, layer, |node| graph.chained_below(node));
    }
    if count(graph, &up) < count(graph, &down) {
        up
    } else {
        down
    }
}

/// Puts the links of chains in a layer into the order of the links before them, in the places that they have.
fn follow(order: &mut Order, layer: usize, before: impl Fn(usize) -> Option<usize>) -> bool {
    let links = order.rows[layer].iter();
    let mut links: Vec<(usize, usize)> = links
        .filter_map(|&node| Some((order.position[before(node)?], node)))
        .collect();
    if links.is_sorted() {
        return false;
    }
    links.sort_unstable();
    let mut links = links.into_iter().map(|(_, node)| node);
    for slot in &mut order.rows[layer] {
        if before(*slot).is_some() {
            *slot = links.next().unwrap_or(*slot);
        }
    }
    order.number(layer);
    true
}
