//! The order of the nodes within each layer: few crossings, and none between two chains.
//!
//! Sweeps down and up sort every layer by the medians or means of its neighbours in the layer before, then move single nodes
//! to better places. The best order of all sweeps is kept.

use super::crossings::count;
use super::proper::Proper;
use super::sift::sift;

/// Sweeps from each start at most, and sweeps in a row that may bring nothing.
const MAX_SWEEPS: usize = 24;
const MAX_IDLE_SWEEPS: usize = 6;

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

/// An order with few crossings, in which no two chains cross.
pub fn arrange(graph: &Proper) -> Order {
    let mut best = uncrossed(graph, &depth_first(graph, false));
    let mut min_crossings = count(graph, &best);
    for is_mirrored in [false, true] {
        let mut order = depth_first(graph, is_mirrored);
        let mut n_idle = 0;
        for step in 0..MAX_SWEEPS {
            if min_crossings == 0 || n_idle == MAX_IDLE_SWEEPS {
                break;
            }
            Sweep::of_step(step).run(graph, &mut order);
            let crossings = count(graph, &order);
            n_idle += 1;
            if crossings < min_crossings {
                (best, min_crossings, n_idle) = (order.clone(), crossings, 0);
            }
        }
    }
    best
}

/// The order in which a depth-first walk from the sources meets the nodes, with the neighbours of a node as the edges name
/// them or the other way round.
fn depth_first(graph: &Proper, is_mirrored: bool) -> Order {
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
            let below = graph.down.of(node).iter();
            if is_mirrored {
                open.extend(below);
            } else {
                open.extend(below.rev());
            }
        }
    }
    Order::new(rows, graph.n_nodes())
}

/// A pass over all layers.
struct Sweep {
    is_upwards: bool,
    /// Sorts by medians, else by means.
    by_median: bool,
    /// Turns the order of nodes with equal medians around, to get away from orders that no sweep changes.
    turns_ties: bool,
}

impl Sweep {
    fn of_step(step: usize) -> Self {
        Self {
            is_upwards: step % 2 == 1,
            by_median: step % 8 < 4,
            turns_ties: step % 4 >= 2,
        }
    }

    /// Sorts layer after layer. No chain crosses another one afterwards: each layer keeps the order of the chains in the
    /// layer before it.
    fn run(&self, graph: &Proper, order: &mut Order) {
        for step in 0..graph.depth {
            let layer = if self.is_upwards {
                graph.depth - 1 - step
            } else {
                step
            };
            if order.rows[layer].len() < 2 {
                continue;
            }
            self.sort(graph, order, layer);
            order.number(layer);
            let chained = |node: usize| {
                if self.is_upwards {
                    graph.chained_below(node)
                } else {
                    graph.chained_above(node)
                }
            };
            follow(order, layer, chained);
            let is_fixed =
                |left: usize, right: usize| chained(left).is_some() && chained(right).is_some();
            sift(graph, &order.position, &mut order.rows[layer], is_fixed);
            order.number(layer);
        }
    }

    /// Sorts a layer by the layer before it. Nodes without neighbours there stay where they are.
    fn sort(&self, graph: &Proper, order: &mut Order, layer: usize) {
        let neighbours = if self.is_upwards {
            &graph.down
        } else {
            &graph.up
        };
        let mut ends = Vec::new();
        let mut keys = Vec::new();
        for &node in &order.rows[layer] {
            ends.clear();
            ends.extend(neighbours.of(node).iter().map(|&end| order.position[end]));
            if !ends.is_empty() {
                keys.push((self.middle(&mut ends), node));
            }
        }
        if self.turns_ties {
            keys.reverse();
        }
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sorted = keys.into_iter().map(|(_, node)| node);
        refill(&mut order.rows[layer], sorted, |node| {
            neighbours.degree(node) > 0
        });
    }

    /// The median of positions, between both if there are two, or their mean.
    fn middle(&self, positions: &mut [usize]) -> f64 {
        let n = positions.len();
        if self.by_median {
            positions.sort_unstable();
            return (positions[(n - 1) / 2] + positions[n / 2]) as f64 / 2.0;
        }
        positions.iter().sum::<usize>() as f64 / n as f64
    }
}

/// Puts nodes into the places of those that are chosen.
fn refill(
    row: &mut [usize],
    mut nodes: impl Iterator<Item = usize>,
    is_chosen: impl Fn(usize) -> bool,
) {
    for slot in row {
        if is_chosen(*slot) {
            *slot = nodes.next().unwrap_or(*slot);
        }
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
    let links = links.into_iter().map(|(_, node)| node);
    refill(&mut order.rows[layer], links, |node| before(node).is_some());
    order.number(layer);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest number of crossings of three layers of four nodes, over all orders.
    fn min_crossings(graph: &Proper) -> u64 {
        let mut orders = vec![vec![]];
        for node in 0..4 {
            let longer = orders.iter().flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, node);
                    order
                })
            });
            orders = longer.collect();
        }
        let row =
            |order: &Vec<usize>, layer: usize| order.iter().map(|node| node + 4 * layer).collect();
        let all = orders
            .iter()
            .flat_map(|a| orders.iter().map(move |b| (a, b)));
        let all = all.flat_map(|(a, b)| {
            orders
                .iter()
                .map(move |c| [row(a, 0), row(b, 1), row(c, 2)])
        });
        let orders = all.map(|rows| Order::new(rows.to_vec(), graph.n_nodes()));
        let orders = orders.filter(|order| uncrossed(graph, order).rows == order.rows);
        orders.map(|order| count(graph, &order)).min().unwrap()
    }

    #[test]
    fn small_graphs_have_hardly_more_crossings_than_they_must() {
        let layers: Vec<usize> = (0..12).map(|node| node / 4).collect();
        let (mut n_crossings, mut n_min) = (0, 0);
        let mut state = 1_u32;
        for _ in 0..40 {
            let mut edges: Vec<(usize, usize)> = (0..14)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let source = (state >> 8) as usize % 8;
                    (source, source / 4 * 4 + 4 + (state >> 16) as usize % 4)
                })
                .collect();
            edges.sort_unstable();
            edges.dedup();
            let graph = Proper::new(&layers, &edges);
            n_crossings += count(&graph, &arrange(&graph));
            n_min += min_crossings(&graph);
        }
        assert!(
            n_min > 40 && n_crossings <= n_min + n_min / 6,
            "{n_crossings} {n_min}"
        );
    }

    #[test]
    fn eight_sweeps_differ_in_direction_key_and_ties() {
        let sweeps = (0..9).map(Sweep::of_step);
        let found: Vec<_> = sweeps
            .map(|s| [s.is_upwards, s.by_median, s.turns_ties])
            .collect();
        let (yes, no) = (true, false);
        let wanted = [
            [no, yes, no],
            [yes, yes, no],
            [no, yes, yes],
            [yes, yes, yes],
            [no, no, no],
            [yes, no, no],
            [no, no, yes],
            [yes, no, yes],
            [no, yes, no],
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_layer_is_sorted_by_medians_or_means() {
        let [median, mean] = [0, 4].map(Sweep::of_step);
        for (positions, by_median, by_mean) in [
            (&[5, 0, 1][..], 1.0, 2.0),
            (&[9, 0, 4, 1], 2.5, 3.5),
            (&[3], 3.0, 3.0),
        ] {
            assert_eq!(median.middle(&mut positions.to_vec()), by_median);
            assert_eq!(mean.middle(&mut positions.to_vec()), by_mean);
        }
    }

    #[test]
    fn a_sweep_sorts_layers_of_two_nodes_too() {
        // Two fans that cross: the upper nodes change places.
        let graph = Proper::new(&[0, 0, 1, 1, 1, 1], &[(0, 4), (0, 5), (1, 2), (1, 3)]);
        let mut order = Order::new(vec![vec![0, 1], vec![2, 3, 4, 5]], 6);
        Sweep::of_step(0).run(&graph, &mut order);
        assert_eq!(order.rows, [vec![1, 0], vec![2, 3, 4, 5]]);
        assert_eq!(order.position, [1, 0, 0, 1, 2, 3]);
    }
}
