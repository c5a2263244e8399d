//! Layered drawings of directed graphs without cycles, after Sugiyama, Tagawa and Toda: every edge goes down.
//!
//! 1. `layers`: the layer of every node, from the longest path to it.
//! 2. `proper`: long edges get a dummy node in every layer that they cross.
//! 3. `order`: the order within each layer, with few crossings as `crossings` counts them.
//! 4. `coordinates`: horizontal positions in which chains and long edges are straight.
//! 5. `tighten`: the same with shorter edges.
//! 6. `route`: vertical positions, and the lines of the edges.
//!
//! Parts that no edge joins are drawn one by one and put side by side by `components`. Every step is deterministic: a drawing
//! is a function of the graph, the sizes and the spacing. `Groups` makes a large graph smaller before it is drawn, and puts frames
//! around those of its groups that stay open.
//!
//! ```
//! use report::layered::{Spacing, draw, path};
//! let drawing = draw(&[[60.0, 20.0]; 2], &[(0, 1)], Spacing::default())?;
//! assert_eq!(drawing.nodes, [[30.0, 10.0], [30.0, 54.0]]);
//! assert_eq!(path(&drawing.edges[0]), "M30 20V44");
//! # Ok::<(), report::layered::Cycle>(())
//! ```

mod adjacency;
mod components;
mod coordinates;
mod crossings;
mod frames;
mod groups;
mod layers;
mod order;
mod partners;
mod proper;
mod route;
mod sift;
mod tighten;

pub use frames::Frame;
pub use groups::{Group, Groups, Member, Reduced};
pub use route::path;

use coordinates::Extent;
use proper::Proper;
use route::Bands;
use std::fmt;

/// A drawing, with its origin in the upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
    /// The centre of every node.
    pub nodes: Vec<[f32; 2]>,
    /// The points of every edge from the lower side of its source to the upper side of its target. Between two points with
    /// the same x it is a vertical line, else a curve through a gap between layers; `path` draws both.
    pub edges: Vec<Vec<[f32; 2]>>,
}

/// Distances in a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// The room between two nodes of a layer, and between parts that no edge joins.
    pub nodes: f32,
    /// The room between two layers.
    pub layers: f32,
    /// The room between two long edges; a long edge and a node have the mean of both rooms between them.
    pub edges: f32,
}

impl Default for Spacing {
    fn default() -> Self {
        Self {
            nodes: 20.0,
            layers: 24.0,
            edges: 10.0,
        }
    }
}

/// A cycle in a graph that must not have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its nodes, each an input of the next one and the last of the first.
    pub nodes: Vec<usize>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let first = self.nodes.first().copied().unwrap_or_default();
        let n_nodes = self.nodes.len();
        write!(
            f,
            "the graph has a cycle of {n_nodes} nodes through node {first}; remove one of its edges to draw it in layers"
        )
    }
}

impl std::error::Error for Cycle {}

/// Draws a graph of nodes with the given widths and heights, which are finite and not negative, and of edges from sources to
/// targets.
///
/// # Panics
/// If an edge names a node that is not there.
pub fn draw(
    sizes: &[[f32; 2]],
    edges: &[(usize, usize)],
    spacing: Spacing,
) -> Result<Drawing, Cycle> {
    let order = layers::topological(sizes.len(), edges)?;
    let parts = components::split(&order, edges);
    let mut number = vec![0; sizes.len()];
    let draw_part = |part: &components::Part| {
        for (own, &node) in part.nodes.iter().enumerate() {
            number[node] = own;
        }
        let sizes: Vec<[f64; 2]> = part
            .nodes
            .iter()
            .map(|&node| sizes[node].map(f64::from))
            .collect();
        let own_edges = part.edges.iter().map(|&edge| edges[edge]);
        let edges: Vec<_> = own_edges
            .map(|(source, target)| (number[source], number[target]))
            .collect();
        draw_connected(&sizes, &edges, spacing)
    };
    let drawings: Vec<Drawing> = parts.iter().map(draw_part).collect();
    let boxes: Vec<[f32; 2]> = drawings.iter().map(|own| [own.width, own.height]).collect();
    let (corners, [width, height]) = components::pack(&boxes, spacing.nodes);
    let mut all = Drawing {
        width,
        height,
        nodes: vec![[0.0; 2]; sizes.len()],
        edges: vec![Vec::new(); edges.len()],
    };
    for ((part, drawing), [left, top]) in parts.iter().zip(drawings).zip(corners) {
        let shift = |[x, y]: [f32; 2]| [x + left, y + top];
        for (&node, centre) in part.nodes.iter().zip(drawing.nodes) {
            all.nodes[node] = shift(centre);
        }
        for (&edge, points) in part.edges.iter().zip(drawing.edges) {
            all.edges[edge] = points.into_iter().map(shift).collect();
        }
    }
    Ok(all)
}

/// Draws a connected graph whose edges go from smaller to larger numbers.
fn draw_connected(sizes: &[[f64; 2]], edges: &[(usize, usize)], spacing: Spacing) -> Drawing {
    let mut unique = edges.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let layers = layers::assign(sizes.len(), &unique);
    let graph = Proper::new(&layers, &unique);
    let order = order::arrange(&graph);
    let extents: Vec<Extent> = (0..graph.n_nodes())
        .map(|node| {
            let is_dummy = graph.is_dummy(node);
            let room = if is_dummy {
                spacing.edges
            } else {
                spacing.nodes
            };
            Extent {
                half: if is_dummy { 0.0 } else { sizes[node][0] / 2.0 },
                margin: f64::from(room) / 2.0,
            }
        })
        .collect();
    let mut centres = coordinates::place(&graph, &order, &extents);
    tighten::tighten(&graph, &order, &extents, &mut centres);
    let (left, right) = coordinates::bounds(&centres, &extents);
    for x in &mut centres {
        *x -= left;
    }
    let bands = Bands::new(&graph, sizes, f64::from(spacing.layers));
    let to_f32 = |point: [f64; 2]| point.map(|x| x as f32);
    let line = |edge: &(usize, usize)| {
        let own = unique.binary_search(edge).unwrap_or(0);
        let dummies = graph.dummies[own].clone();
        let points = route::points(&graph, &bands, &centres, sizes, *edge, dummies);
        points.into_iter().map(to_f32).collect()
    };
    Drawing {
        width: (right - left) as f32,
        height: bands.height() as f32,
        nodes: (0..sizes.len())
            .map(|node| to_f32([centres[node], bands.middle(layers[node])]))
            .collect(),
        edges: edges.iter().map(line).collect(),
    }
}
