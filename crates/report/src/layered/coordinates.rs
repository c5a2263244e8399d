//! Horizontal positions after Brandes and Köpf, *Fast and simple horizontal coordinate assignment*.
//!
//! Nodes are aligned with their partners above or below, from the left or from the right: four drawings, each of blocks that
//! are straight and packed closely. The result is the mean of the two middle positions of every node, with the drawings
//! shifted against the narrowest one. Links of chains, the parts of long edges among them, are aligned in all four and so
//! stay straight.

use super::order::Order;
use super::partners::Partners;
use super::proper::Proper;

/// The room that a node takes.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Half of its width.
    pub half: f64,
    /// Half of the distance to the next node.
    pub margin: f64,
}

/// The smallest distance of the centres of two nodes side by side.
pub fn distance(left: Extent, right: Extent) -> f64 {
    left.half + left.margin + right.margin + right.half
}

/// The centre of every node, from any origin.
pub fn place(graph: &Proper, order: &Order, extents: &[Extent]) -> Vec<f64> {
    let partners = Partners::new(graph, order);
    let mut drawings = Vec::with_capacity(4);
    for is_upwards in [false, true] {
        for is_mirrored in [false, true] {
            let run = Run::new(order, is_upwards, is_mirrored);
            let blocks = run.align(&partners);
            let mut centres = run.compact(&blocks, extents);
            if is_mirrored {
                for x in &mut centres {
                    *x = -*x;
                }
            }
            drawings.push((is_mirrored, centres));
        }
    }
    balance(drawings, extents)
}

/// One of the four directions in which nodes are aligned and packed.
struct Run {
    is_upwards: bool,
    is_mirrored: bool,
    order: Order,
}

/// Nodes that share one position: the first of each block, and the one behind each node.
struct Blocks {
    root: Vec<usize>,
    next: Vec<Option<usize>>,
}

impl Run {
    fn new(order: &Order, is_upwards: bool, is_mirrored: bool) -> Self {
        let mut rows = order.rows.clone();
        if is_upwards {
            rows.reverse();
        }
        if is_mirrored {
            for row in &mut rows {
                row.reverse();
            }
        }
        Self {
            is_upwards,
            is_mirrored,
            order: Order::new(rows, order.position.len()),
        }
    }

    /// Aligns every node with a partner in the row before, the first in the direction of the run, if no block is in the way.
    fn align(&self, partners: &Partners) -> Blocks {
        let partners = if self.is_upwards {
            &partners.down
        } else {
            &partners.up
        };
        let mut root: Vec<usize> = (0..partners.len()).collect();
        let mut next = vec![None; partners.len()];
        for row in &self.order.rows {
            let mut n_passed = 0;
            for &node in row {
                let mut pair = partners[node];
                if self.is_mirrored {
                    pair.reverse();
                }
                let mut ends = pair.into_iter().flatten();
                if let Some(end) = ends.find(|&end| self.order.position[end] >= n_passed) {
                    root[node] = root[end];
                    next[end] = Some(node);
                    n_passed = self.order.position[end] + 1;
                }
            }
        }
        Blocks { root, next }
    }

    /// The positions of the nodes when every block lies as far to the left as it can.
    fn compact(&self, blocks: &Blocks, extents: &[Extent]) -> Vec<f64> {
        let n_nodes = blocks.root.len();
        let mut right = vec![None; n_nodes];
        let mut n_waiting = vec![0; n_nodes];
        for row in &self.order.rows {
            for pair in row.windows(2) {
                right[pair[0]] = Some(pair[1]);
                n_waiting[blocks.root[pair[1]]] += 1;
            }
        }
        let mut centres = vec![0.0_f64; n_nodes];
        let is_ready = |&node: &usize| blocks.root[node] == node && n_waiting[node] == 0;
        let mut sequence: Vec<usize> = (0..n_nodes).filter(is_ready).collect();
        let mut n_done = 0;
        while let Some(&root) = sequence.get(n_done) {
            n_done += 1;
            for (node, other) in blocks.pairs(root, &right) {
                let behind = blocks.root[other];
                let x = centres[root] + distance(extents[node], extents[other]);
                centres[behind] = centres[behind].max(x);
                n_waiting[behind] -= 1;
                if n_waiting[behind] == 0 {
                    sequence.push(behind);
                }
            }
        }
        (0..n_nodes)
            .map(|node| centres[blocks.root[node]])
            .collect()
    }
}

impl Blocks {
    /// The nodes of a block that have a node at their right, with it.
    fn pairs<'a>(
        &'a self,
        root: usize,
        right: &'a [Option<usize>],
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        std::iter::successors(Some(root), |&node| self.next[node])
            .filter_map(|node| Some((node, right[node]?)))
    }
}

/// Shifts the drawings against the narrowest one, those packed to the left by their left ends and the others by their right
/// ones, and takes the mean of the two middle positions of every node. That keeps the order of the nodes and their distances.
fn balance(mut drawings: Vec<(bool, Vec<f64>)>, extents: &[Extent]) -> Vec<f64> {
    let bounds = drawings.iter().map(|(_, centres)| bounds(centres, extents));
    let bounds: Vec<(f64, f64)> = bounds.collect();
    let narrowest = bounds
        .iter()
        .copied()
        .min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
        .unwrap_or_default();
    for ((is_mirrored, centres), own) in drawings.iter_mut().zip(bounds) {
        let shift = if *is_mirrored {
            narrowest.1 - own.1
        } else {
            narrowest.0 - own.0
        };
        for x in centres {
            *x += shift;
        }
    }
    let middle = |node: usize| {
        let mut centres: Vec<f64> = drawings.iter().map(|(_, centres)| centres[node]).collect();
        centres.sort_by(f64::total_cmp);
        f64::midpoint(centres[1], centres[2])
    };
    (0..extents.len()).map(middle).collect()
}

/// The left and the right end of a drawing.
pub fn bounds(centres: &[f64], extents: &[Extent]) -> (f64, f64) {
    let nodes = centres.iter().zip(extents);
    nodes.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(left, right), (x, extent)| (left.min(x - extent.half), right.max(x + extent.half)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_laid_against_the_narrowest_by_the_ends_that_they_are_packed_to() {
        let extent = Extent {
            half: 1.0,
            margin: 3.0,
        };
        // The first is the narrowest: the second has its left end, the mirrored two have its right end, so that they are at
        // -6 and 10, and at -20 and 10.
        let drawings = vec![
            (false, vec![0.0, 10.0]),
            (false, vec![7.0, 27.0]),
            (true, vec![0.0, 16.0]),
            (true, vec![5.0, 35.0]),
        ];
        assert_eq!(balance(drawings, &[extent; 2]), [-3.0, 10.0]);
        assert_eq!(bounds(&[4.0, 2.0], &[extent; 2]), (1.0, 5.0));
        assert_eq!(distance(extent, extent), 8.0);
    }
}
