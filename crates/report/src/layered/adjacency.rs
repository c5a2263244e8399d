//! Neighbours of all nodes in one array.

/// The neighbours of every node, in the order in which the edges named them.
#[derive(Clone, Debug)]
pub struct Adjacency {
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Adjacency {
    /// The targets of every source.
    pub fn new(n_nodes: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; n_nodes + 1];
        for (source, _) in edges.clone() {
            starts[source + 1] += 1;
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut targets = vec![0; starts[n_nodes]];
        for (source, target) in edges {
            targets[free[source]] = target;
            free[source] += 1;
        }
        Self { starts, targets }
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of one node.
    pub fn of(&self, node: usize) -> &[usize] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    /// The number of neighbours of one node.
    pub fn degree(&self, node: usize) -> usize {
        self.of(node).len()
    }

    /// The only neighbour of a node that has one.
    pub fn only(&self, node: usize) -> Option<usize> {
        match self.of(node) {
            [only] => Some(*only),
            _ => None,
        }
    }
}
