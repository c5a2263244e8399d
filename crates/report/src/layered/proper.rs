//! A graph whose edges join neighbouring layers: long edges pass through one dummy node per layer.

use super::adjacency::Adjacency;
use std::ops::Range;

/// A layered graph. Nodes from `n_real` on are dummies.
pub struct Proper {
    /// The number of nodes that are drawn.
    pub n_real: usize,
    /// The number of layers.
    pub depth: usize,
    /// The layer of every node.
    pub layer: Vec<usize>,
    /// The neighbours in the layer above.
    pub up: Adjacency,
    /// The neighbours in the layer below.
    pub down: Adjacency,
    /// The dummies of every edge, from top to bottom.
    pub dummies: Vec<Range<usize>>,
}

impl Proper {
    /// Cuts the edges of a graph at the layers that they cross.
    pub fn new(layers: &[usize], edges: &[(usize, usize)]) -> Self {
        let n_real = layers.len();
        let mut layer = layers.to_vec();
        let mut segments = Vec::with_capacity(edges.len());
        let mut dummies = Vec::with_capacity(edges.len());
        for &(source, target) in edges {
            let first = layer.len();
            layer.extend(layers[source] + 1..layers[target]);
            let own = first..layer.len();
            let mut above = source;
            for dummy in own.clone() {
                segments.push((above, dummy));
                above = dummy;
            }
            segments.push((above, target));
            dummies.push(own);
        }
        let reversed = segments.iter().map(|&(above, below)| (below, above));
        Self {
            n_real,
            depth: layers.iter().max().map_or(0, |last| last + 1),
            up: Adjacency::new(layer.len(), reversed),
            down: Adjacency::new(layer.len(), segments.iter().copied()),
            layer,
            dummies,
        }
    }

    /// The number of nodes, dummies included.
    pub fn n_nodes(&self) -> usize {
        self.layer.len()
    }

    /// True for a bend of a long edge.
    pub fn is_dummy(&self, node: usize) -> bool {
        node >= self.n_real
    }

    /// The node below that a node must be drawn straight above: neither has another neighbour on that side. All parts of a long
    /// edge between dummies are such pairs, and so are the links of a chain.
    pub fn chained_below(&self, node: usize) -> Option<usize> {
        self.down
            .only(node)
            .filter(|&below| self.up.degree(below) == 1)
    }

    /// The node above that a node must be drawn straight below.
    pub fn chained_above(&self, node: usize) -> Option<usize> {
        self.up
            .only(node)
            .filter(|&above| self.down.degree(above) == 1)
    }
}
