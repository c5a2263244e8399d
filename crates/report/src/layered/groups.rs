//! Groups of nodes with dotted names, and the smaller graph in which some of them are closed.

use super::layers;
use std::collections::BTreeSet;

/// The tree of groups: nodes whose names share what stands before a dot, two at least. `layer1.0.conv` and `layer1.0.relu` are in
/// the group `layer1.0`, and that is in `layer1` if there is a `layer1.1.conv` too. A group with the same nodes as the one around
/// it is one with it and has the longer name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The groups by their first nodes, each behind the one around it.
    pub groups: Vec<Group>,
    /// The innermost group of every node.
    pub innermost: Vec<Option<usize>>,
}

/// A group of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The beginning that the names of its nodes share.
    pub name: String,
    /// The group around it.
    pub parent: Option<usize>,
    /// The number of its nodes, those of the groups within it included.
    pub n_nodes: usize,
}

/// A graph in which groups are closed: each is one node, and edges within it are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The nodes, by the first node of the graph that each stands for.
    pub nodes: Vec<Member>,
    /// The edges between them, each once, in the order in which they were named.
    pub edges: Vec<(usize, usize)>,
    /// The reduced node of every node of the graph.
    pub node_of: Vec<usize>,
    /// The groups that stay open since closing them would make a cycle.
    pub kept_open: Vec<usize>,
}

/// A node of a reduced graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Member {
    /// A node of the graph.
    Node(usize),
    /// A closed group.
    Group(usize),
}

/// A stretch of the nodes sorted by name whose names begin alike.
struct Stretch {
    /// The number of parts of the name that all share.
    n_shared: usize,
    start: usize,
    end: usize,
}

impl Groups {
    /// The groups of nodes with these names.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Self {
        let mut paths: Vec<(Vec<&str>, usize)> = names
            .iter()
            .enumerate()
            .map(|(node, name)| {
                let mut path: Vec<&str> = name.as_ref().split('.').collect();
                path.pop();
                (path, node)
            })
            .collect();
        paths.sort_unstable();
        let first_node = |own: &Stretch| paths[own.start..own.end].iter().map(|path| path.1).min();
        let mut found: Vec<_> = stretches(&paths)
            .into_iter()
            .map(|own| (first_node(&own), own))
            .collect();
        // Whatever holds another stretch begins with the same node or an earlier one, and is longer.
        found.sort_by_key(|(first, own)| (*first, own.start, usize::MAX - own.end));
        let mut groups: Vec<Group> = Vec::with_capacity(found.len());
        let mut at_place = vec![None; names.len()];
        for (number, (_, own)) in found.iter().enumerate() {
            groups.push(Group {
                name: paths[own.start].0[..own.n_shared].join("."),
                parent: at_place[own.start],
                n_nodes: own.end - own.start,
            });
            at_place[own.start..own.end].fill(Some(number));
        }
        let mut innermost = vec![None; names.len()];
        for ((_, node), group) in paths.iter().zip(at_place) {
            innermost[*node] = group;
        }
        Self { groups, innermost }
    }

    /// The graph with these groups closed. A group within a closed one is closed with it. One that would make a cycle stays
    /// open, and groups within it are closed in its place if they are among these; of groups that make a cycle only
    /// together, the first is closed.
    pub fn reduce(&self, edges: &[(usize, usize)], closed: &BTreeSet<usize>) -> Reduced {
        let mut accepted = BTreeSet::new();
        let mut kept_open = BTreeSet::new();
        loop {
            let candidates = self.outermost(closed, &accepted, &kept_open);
            if candidates.is_empty() {
                break;
            }
            let mut batches = vec![candidates];
            while let Some(mut batch) = batches.pop() {
                let mut wanted = accepted.clone();
                wanted.extend(&batch);
                let reduced = self.contract(edges, &wanted);
                if layers::topological(reduced.nodes.len(), &reduced.edges).is_ok() {
                    accepted = wanted;
                } else if batch.len() == 1 {
                    kept_open.extend(batch);
                } else {
                    let second = batch.split_off(batch.len() / 2);
                    batches.extend([second, batch]);
                }
            }
        }
        Reduced {
            kept_open: kept_open.into_iter().collect(),
            ..self.contract(edges, &accepted)
        }
    }

    /// The groups to be closed that are in no other one that is closed or may yet be.
    fn outermost(
        &self,
        closed: &BTreeSet<usize>,
        accepted: &BTreeSet<usize>,
        kept_open: &BTreeSet<usize>,
    ) -> Vec<usize> {
        let mut is_covered = vec![false; self.groups.len()];
        let mut outermost = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let is_inside = group.parent.is_some_and(|parent| is_covered[parent]);
            let is_waiting = closed.contains(&number) && !kept_open.contains(&number);
            is_covered[number] = is_inside || is_waiting;
            if is_waiting && !is_inside && !accepted.contains(&number) {
                outermost.push(number);
            }
        }
        outermost
    }

    /// The graph with these groups closed, with cycles or without.
    fn contract(&self, edges: &[(usize, usize)], closed: &BTreeSet<usize>) -> Reduced {
        let mut closed_in: Vec<Option<usize>> = Vec::with_capacity(self.groups.len());
        for (number, group) in self.groups.iter().enumerate() {
            let outer = group.parent.and_then(|parent| closed_in[parent]);
            closed_in.push(outer.or_else(|| closed.contains(&number).then_some(number)));
        }
        let mut nodes = Vec::new();
        let mut node_of_group = vec![None; self.groups.len()];
        let mut node_of = Vec::with_capacity(self.innermost.len());
        for (node, innermost) in self.innermost.iter().enumerate() {
            let group = innermost.and_then(|group| closed_in[group]);
            let place = group.and_then(|group| node_of_group[group]);
            node_of.push(place.unwrap_or(nodes.len()));
            if place.is_none() {
                nodes.push(group.map_or(Member::Node(node), Member::Group));
            }
            if let Some(group) = group {
                node_of_group[group] = Some(node_of[node]);
            }
        }
        let mut is_named = BTreeSet::new();
        let between = edges
            .iter()
            .map(|&(source, target)| (node_of[source], node_of[target]));
        let edges = between.filter(|&edge| edge.0 != edge.1 && is_named.insert(edge));
        Reduced {
            edges: edges.collect(),
            nodes,
            node_of,
            kept_open: Vec::new(),
        }
    }
}

/// The longest stretches of sorted paths that share one part or more, with two paths at least.
fn stretches(paths: &[(Vec<&str>, usize)]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut open: Vec<Stretch> = Vec::new();
    for end in 1..=paths.len() {
        let before = &paths[end - 1].0;
        let parts = paths.get(end).map_or(&[][..], |path| &path.0);
        let n_shared = before.iter().zip(parts).take_while(|(a, b)| a == b).count();
        let mut start = end - 1;
        while let Some(last) = open.pop_if(|last| last.n_shared > n_shared) {
            start = last.start;
            found.push(Stretch { end, ..last });
        }
        if n_shared > open.last().map_or(0, |last| last.n_shared) {
            open.push(Stretch {
                n_shared,
                start,
                end,
            });
        }
    }
    found
}
