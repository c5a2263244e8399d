//! Vertical positions, and the lines of the edges.

use super::proper::Proper;

/// The stretches of height that the layers take.
pub struct Bands {
    /// The upper and the lower end of every layer.
    pub ends: Vec<(f64, f64)>,
}

impl Bands {
    /// Layers as high as their highest nodes.
    pub fn new(graph: &Proper, sizes: &[[f64; 2]], gap: f64) -> Self {
        let mut heights = vec![0.0_f64; graph.depth];
        for (size, &layer) in sizes.iter().zip(&graph.layer) {
            heights[layer] = heights[layer].max(size[1]);
        }
        let mut top = 0.0;
        let ends = heights.into_iter().map(|height| {
            let band = (top, top + height);
            top += height + gap;
            band
        });
        Self {
            ends: ends.collect(),
        }
    }

    /// The middle of a layer, on which its nodes lie.
    pub fn middle(&self, layer: usize) -> f64 {
        let (top, bottom) = self.ends[layer];
        f64::midpoint(top, bottom)
    }

    /// The lower end of the last layer.
    pub fn height(&self) -> f64 {
        self.ends.last().map_or(0.0, |&(_, bottom)| bottom)
    }
}

/// The points of an edge: straight down past the nodes of a layer, aside only between layers.
pub fn points(
    graph: &Proper,
    bands: &Bands,
    centres: &[f64],
    sizes: &[[f64; 2]],
    (source, target): (usize, usize),
    dummies: std::ops::Range<usize>,
) -> Vec<[f64; 2]> {
    let (first, last) = (graph.layer[source], graph.layer[target]);
    let mut points = vec![
        [
            centres[source],
            bands.middle(first) + sizes[source][1] / 2.0,
        ],
        [centres[source], bands.ends[first].1],
    ];
    for dummy in dummies {
        let (top, bottom) = bands.ends[graph.layer[dummy]];
        points.push([centres[dummy], top]);
        points.push([centres[dummy], bottom]);
    }
    points.push([centres[target], bands.ends[last].0]);
    points.push([centres[target], bands.middle(last) - sizes[target][1] / 2.0]);
    merge(points)
}

/// The points without those in the middle of a vertical line.
fn merge(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let mut merged: Vec<[f64; 2]> = Vec::with_capacity(points.len());
    for point in points {
        match merged.as_mut_slice() {
            [.., before, last] if before[0] == point[0] && last[0] == point[0] => *last = point,
            [.., last] if *last == point => {}
            _ => merged.push(point),
        }
    }
    merged
}

/// The SVG path data of an edge: lines where it goes straight down, and between them curves that leave and arrive vertically.
#[must_use]
pub fn path(points: &[[f32; 2]]) -> String {
    let [x, y] = points.first().copied().unwrap_or_default();
    let steps = points.windows(2).map(|step| {
        let ([left, top], [x, y]) = (step[0], step[1]);
        if left == x {
            return format!("V{y}");
        }
        let middle = f32::midpoint(top, y);
        format!("C{left} {middle} {x} {middle} {x} {y}")
    });
    std::iter::once(format!("M{x} {y}")).chain(steps).collect()
}
