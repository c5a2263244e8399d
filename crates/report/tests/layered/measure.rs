//! Measurements of drawings, from their points alone.

use report::layered::Drawing;
use std::collections::BTreeSet;

/// The pairs of nodes whose boxes overlap by more than a rounding error.
pub fn overlaps(drawing: &Drawing, sizes: &[[f32; 2]]) -> Vec<(usize, usize)> {
    let left = |node: usize| drawing.nodes[node][0] - sizes[node][0] / 2.0;
    let mut by_left: Vec<usize> = (0..sizes.len()).collect();
    by_left.sort_by(|&a, &b| left(a).total_cmp(&left(b)));
    let mut found = Vec::new();
    for (place, &a) in by_left.iter().enumerate() {
        let near = by_left[place + 1..].iter();
        for &b in near.take_while(|&&b| left(b) < left(a) + sizes[a][0]) {
            let overlap = |axis: usize| {
                let distance = (drawing.nodes[a][axis] - drawing.nodes[b][axis]).abs();
                f32::midpoint(sizes[a][axis], sizes[b][axis]) - distance
            };
            if overlap(0) > 0.01 && overlap(1) > 0.01 {
                found.push((a, b));
            }
        }
    }
    found
}

/// The position of a line at a height; above and below its ends, that of the end.
fn x_at(points: &[[f32; 2]], y: f32) -> f32 {
    let below = points.partition_point(|point| point[1] < y);
    if below == 0 || below == points.len() {
        return points[below.min(points.len() - 1)][0];
    }
    let ([x0, y0], [x1, y1]) = (points[below - 1], points[below]);
    x0 + (x1 - x0) * (y - y0) / (y1 - y0)
}

/// The crossings of the edges when they are straight lines from layer to layer.
pub fn crossings(drawing: &Drawing, edges: &[(usize, usize)]) -> usize {
    let heights: BTreeSet<u32> = drawing.nodes.iter().map(|node| node[1].to_bits()).collect();
    let heights: Vec<f32> = heights.into_iter().map(f32::from_bits).collect();
    let mut gaps = vec![Vec::new(); heights.len()];
    for (points, &(source, target)) in drawing.edges.iter().zip(edges) {
        let layer = |node: usize| heights.partition_point(|&y| y < drawing.nodes[node][1]);
        for gap in layer(source)..layer(target) {
            gaps[gap].push((x_at(points, heights[gap]), x_at(points, heights[gap + 1])));
        }
    }
    let crossings_of = |lines: &Vec<(f32, f32)>| {
        let pairs = lines.iter().flat_map(|a| lines.iter().map(move |b| (a, b)));
        pairs.filter(|(a, b)| a.0 < b.0 && a.1 > b.1).count()
    };
    gaps.iter().map(crossings_of).sum()
}

/// The edges between a source with one user and a target with one input, each with its number.
pub fn chain_edges(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let unique: BTreeSet<(usize, usize)> = edges.iter().copied().collect();
    let (mut n_users, mut n_inputs) = (vec![0; n_nodes], vec![0; n_nodes]);
    for &(source, target) in &unique {
        n_users[source] += 1;
        n_inputs[target] += 1;
    }
    let is_chain = |edge: &usize| n_users[edges[*edge].0] == 1 && n_inputs[edges[*edge].1] == 1;
    (0..edges.len()).filter(is_chain).collect()
}

/// True for an edge that is one vertical line.
pub fn is_straight(points: &[[f32; 2]]) -> bool {
    points.len() == 2 && points[0][0] == points[1][0]
}

/// The edges that pass through a box, with its node. Lines are taken where they meet the upper and the lower side; between
/// these they are straight.
pub fn boxes_crossed(drawing: &Drawing, sizes: &[[f32; 2]]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (edge, points) in drawing.edges.iter().enumerate() {
        let (top, bottom) = (points[0][1], points[points.len() - 1][1]);
        for (node, (&[x, y], &[width, height])) in drawing.nodes.iter().zip(sizes).enumerate() {
            let sides = [y - height / 2.0 + 0.1, y + height / 2.0 - 0.1];
            let is_hit = |side: f32| {
                let is_passed = top < side && side < bottom;
                is_passed && (x_at(points, side) - x).abs() < width / 2.0 - 0.1
            };
            if height > 0.5 && sides.into_iter().any(is_hit) {
                found.push((edge, node));
            }
        }
    }
    found
}

/// The frames of the parts that no edge joins, lines included: from left to right, and from top to bottom.
pub fn parts(
    drawing: &Drawing,
    sizes: &[[f32; 2]],
    edges: &[(usize, usize)],
) -> Vec<[(f32, f32); 2]> {
    let mut part_of: Vec<usize> = (0..sizes.len()).collect();
    loop {
        let mut is_changed = false;
        for &(a, b) in edges {
            let part = part_of[a].min(part_of[b]);
            is_changed |= part_of[a] != part || part_of[b] != part;
            (part_of[a], part_of[b]) = (part, part);
        }
        if !is_changed {
            break;
        }
    }
    let mut frames = vec![[(f32::INFINITY, f32::NEG_INFINITY); 2]; sizes.len()];
    let mut widen = |part: usize, point: [f32; 2], size: [f32; 2]| {
        for axis in 0..2 {
            let (min, max) = &mut frames[part][axis];
            *min = min.min(point[axis] - size[axis] / 2.0);
            *max = max.max(point[axis] + size[axis] / 2.0);
        }
    };
    for (node, &centre) in drawing.nodes.iter().enumerate() {
        widen(part_of[node], centre, sizes[node]);
    }
    for (points, &(source, _)) in drawing.edges.iter().zip(edges) {
        for &point in points {
            widen(part_of[source], point, [0.0; 2]);
        }
    }
    frames.retain(|frame| frame[0].0.is_finite());
    frames
}
