//! The neighbours that a node may be drawn straight above or below.

use super::adjacency::Adjacency;
use super::order::Order;
use super::proper::Proper;

/// Up to two neighbours, from left to right.
pub type Pair = [Option<usize>; 2];

/// The neighbours that every node may be aligned with. Each is a median of those from which the longest paths come, and
/// the node is the same for it: so the longest path through a graph becomes straight, and what goes around it leaves it. No
/// partners are joined by an edge that crosses a chain, which is what keeps chains and long edges straight.
pub struct Partners {
    /// The partners in the layer above.
    pub up: Vec<Pair>,
    /// The partners in the layer below.
    pub down: Vec<Pair>,
}

impl Partners {
    /// The partners of all nodes.
    pub fn new(graph: &Proper, order: &Order) -> Self {
        let depths = path_lengths(graph, &graph.up, order.rows.iter().flatten());
        let heights = path_lengths(graph, &graph.down, order.rows.iter().rev().flatten());
        let up = medians(&graph.up, order, &depths);
        let down = medians(&graph.down, order, &heights);
        let links = Links::new(graph, order);
        let keep = |own: &[Pair], others: &[Pair], is_crossing: &dyn Fn(usize, usize) -> bool| {
            let is_partner = |node: usize, end: usize| {
                others[end].contains(&Some(node)) && !is_crossing(node, end)
            };
            let pairs = own.iter().enumerate();
            pairs
                .map(|(node, pair)| pair.map(|end| end.filter(|&end| is_partner(node, end))))
                .collect()
        };
        Self {
            up: keep(&up, &down, &|lower, upper| links.are_crossed(upper, lower)),
            down: keep(&down, &up, &|upper, lower| links.are_crossed(upper, lower)),
        }
    }
}

/// The number of drawn nodes on the longest path to every node, from the neighbours that come before it in a sequence.
fn path_lengths<'a>(
    graph: &Proper,
    neighbours: &Adjacency,
    sequence: impl Iterator<Item = &'a usize>,
) -> Vec<usize> {
    let mut lengths = vec![0; graph.n_nodes()];
    for &node in sequence {
        let before = neighbours.of(node).iter().map(|&end| lengths[end]);
        lengths[node] = before.max().unwrap_or(0) + usize::from(!graph.is_dummy(node));
    }
    lengths
}

/// The medians of those neighbours of every node to which the longest paths lead.
fn medians(neighbours: &Adjacency, order: &Order, lengths: &[usize]) -> Vec<Pair> {
    let mut longest: Vec<usize> = Vec::new();
    let pair = |node| {
        let ends = neighbours.of(node).iter();
        let max = ends.clone().map(|&end| lengths[end]).max()?;
        longest.clear();
        longest.extend(ends.filter(|&&end| lengths[end] == max));
        longest.sort_unstable_by_key(|&end| order.position[end]);
        let n_ends = longest.len();
        Some([(n_ends - 1) / 2, n_ends / 2].map(|place| longest[place]))
    };
    let pairs = (0..neighbours.n_nodes()).map(pair);
    pairs
        .map(|pair| pair.map_or([None; 2], |ends| ends.map(Some)))
        .collect()
}

/// The numbers of chains to the left of every node that go on to the layer above and to that below.
struct Links {
    above: Vec<usize>,
    below: Vec<usize>,
}

impl Links {
    fn new(graph: &Proper, order: &Order) -> Self {
        let count = |is_link: &dyn Fn(usize) -> bool| {
            let mut n_left = vec![0; graph.n_nodes()];
            for row in &order.rows {
                let mut n = 0;
                for &node in row {
                    n_left[node] = n;
                    n += usize::from(is_link(node));
                }
            }
            n_left
        };
        Self {
            above: count(&|node| graph.chained_above(node).is_some()),
            below: count(&|node| graph.chained_below(node).is_some()),
        }
    }

    /// True for an edge between layers that crosses a link: the links to its left differ at both ends. Links themselves
    /// cross none.
    fn are_crossed(&self, upper: usize, lower: usize) -> bool {
        self.below[upper] != self.above[lower]
    }
}
