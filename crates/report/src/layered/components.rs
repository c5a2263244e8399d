//! Parts of a graph that no edge joins: found, and their drawings put side by side.

use super::adjacency::Adjacency;

/// A part of a graph.
#[derive(Default)]
pub struct Part {
    /// Its nodes, in the order in which they were given.
    pub nodes: Vec<usize>,
    /// Its edges, by their numbers.
    pub edges: Vec<usize>,
}

/// The parts of a graph, by their first nodes in an order of all nodes.
pub fn split(order: &[usize], edges: &[(usize, usize)]) -> Vec<Part> {
    let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let neighbours = Adjacency::new(order.len(), both);
    let mut part_of = vec![None; order.len()];
    let mut n_parts = 0;
    let mut open = Vec::new();
    for &first in order {
        if part_of[first].is_some() {
            continue;
        }
        open.push(first);
        while let Some(node) = open.pop() {
            if part_of[node].is_none() {
                part_of[node] = Some(n_parts);
                open.extend(neighbours.of(node));
            }
        }
        n_parts += 1;
    }
    let mut parts: Vec<Part> = (0..n_parts).map(|_| Part::default()).collect();
    for &node in order {
        parts[part_of[node].unwrap_or(0)].nodes.push(node);
    }
    for (edge, &(source, _)) in edges.iter().enumerate() {
        parts[part_of[source].unwrap_or(0)].edges.push(edge);
    }
    parts
}

/// The upper left corners of boxes in rows, and the size of all of them. A row is as wide as the widest box, or as a square of
/// all boxes would be.
pub fn pack(boxes: &[[f32; 2]], gap: f32) -> (Vec<[f32; 2]>, [f32; 2]) {
    let area = boxes.iter().map(|[w, h]| (w + gap) * (h + gap));
    let widest = boxes.iter().map(|[w, _]| *w).fold(0.0, f32::max);
    let max_width = area.sum::<f32>().sqrt().max(widest);
    let [mut x, mut y, mut row_height] = [0.0_f32; 3];
    let mut size = [0.0_f32; 2];
    let mut corners = Vec::with_capacity(boxes.len());
    for &[width, height] in boxes {
        if x > 0.0 && x + width > max_width {
            y += row_height + gap;
            [x, row_height] = [0.0; 2];
        }
        corners.push([x, y]);
        row_height = row_height.max(height);
        size = [size[0].max(x + width), size[1].max(y + height)];
        x += width + gap;
    }
    (corners, size)
}
