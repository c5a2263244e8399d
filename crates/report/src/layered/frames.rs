//! Frames around open groups, where a group has its place for itself.

use super::{Drawing, Groups, Member, Reduced, Spacing};

/// The room between a frame and what it holds.
const PADDING: f32 = 5.0;

/// The frame of an open group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The group.
    pub group: usize,
    /// Its upper left corner.
    pub low: [f32; 2],
    /// Its lower right corner.
    pub high: [f32; 2],
}

impl Frame {
    /// The frame that holds nothing yet.
    const fn around_nothing(group: usize) -> Self {
        Self {
            group,
            low: [f32::INFINITY; 2],
            high: [f32::NEG_INFINITY; 2],
        }
    }

    fn widen(&mut self, point: [f32; 2], size: [f32; 2]) {
        for axis in 0..2 {
            self.low[axis] = self.low[axis].min(point[axis] - size[axis] / 2.0);
            self.high[axis] = self.high[axis].max(point[axis] + size[axis] / 2.0);
        }
    }

    fn touches(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.low[axis] < other.high[axis] && other.low[axis] < self.high[axis])
    }

    /// True when the other frame is within this one.
    pub fn holds(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.low[axis] <= other.low[axis] && other.high[axis] <= self.high[axis])
    }
}

impl Groups {
    /// The open groups around a node of a reduced graph, from the inside out.
    fn open_around(&self, member: Member) -> impl Iterator<Item = usize> {
        let first = match member {
            Member::Node(node) => self.innermost[node],
            Member::Group(group) => self.groups[group].parent,
        };
        std::iter::successors(first, |&group| self.groups[group].parent)
    }

    /// A spacing with room for the frames of the open groups of a reduced graph.
    pub fn framed_spacing(&self, reduced: &Reduced, spacing: Spacing) -> Spacing {
        let depths = reduced
            .nodes
            .iter()
            .map(|&own| self.open_around(own).count());
        // Two frames stand back to back, each around all within it.
        let room = 2.0 * PADDING * depths.max().unwrap_or(0) as f32 + PADDING;
        Spacing {
            nodes: spacing.nodes.max(room),
            layers: spacing.layers.max(room),
            ..spacing
        }
    }

    /// The frames of open groups in a drawing of a reduced graph, outer ones first. A group has none where the box of a node
    /// of others would be in it, or where its frame would cross that of another group.
    pub fn frames(&self, reduced: &Reduced, drawing: &Drawing, sizes: &[[f32; 2]]) -> Vec<Frame> {
        let count = self.groups.len();
        let mut frames: Vec<Frame> = (0..count).map(Frame::around_nothing).collect();
        let around: Vec<Vec<usize>> = reduced
            .nodes
            .iter()
            .map(|&own| self.open_around(own).collect())
            .collect();
        for (node, groups) in around.iter().enumerate() {
            for &group in groups {
                frames[group].widen(drawing.nodes[node], sizes[node]);
            }
        }
        for (&(from, to), points) in reduced.edges.iter().zip(&drawing.edges) {
            for &group in around[from].iter().filter(|own| around[to].contains(own)) {
                for &point in points {
                    frames[group].widen(point, [0.0; 2]);
                }
            }
        }
        // A group stands behind the one around it, so that going back meets the inner ones first.
        let mut level = vec![1_usize; count];
        for group in (0..count).rev() {
            let padding = 2.0 * PADDING * level[group] as f32;
            let Frame { low, high, .. } = frames[group];
            frames[group].widen(low, [padding; 2]);
            frames[group].widen(high, [padding; 2]);
            if let Some(parent) = self.groups[group].parent {
                level[parent] = level[parent].max(level[group] + 1);
            }
        }
        let mut kept: Vec<Frame> = Vec::new();
        for frame in frames.into_iter().filter(|own| own.low[0].is_finite()) {
            let is_foreign = |node: &usize| {
                let mut own = Frame::around_nothing(0);
                own.widen(drawing.nodes[*node], sizes[*node]);
                !around[*node].contains(&frame.group) && frame.touches(&own)
            };
            let is_apart = |other: &Frame| !frame.touches(other) || other.holds(&frame);
            if !(0..sizes.len()).any(|node| is_foreign(&node)) && kept.iter().all(is_apart) {
                kept.push(frame);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_is_room_for_two_frames_of_each_depth_between_nodes_and_layers() {
        let groups = Groups::new(&["a.b.c", "a.b.d", "a.e"]);
        let spacing = Spacing {
            nodes: 1.0,
            layers: 2.0,
            edges: 3.0,
        };
        let room = |closed: &[usize], spacing: Spacing| {
            let reduced = groups.reduce(&[(0, 1), (1, 2)], &closed.iter().copied().collect());
            groups.framed_spacing(&reduced, spacing)
        };
        // Twice the padding of 5 for each frame around a node, and one between the two.
        for (closed, wanted) in [(&[][..], 25.0), (&[1], 15.0), (&[0], 5.0)] {
            let found = room(closed, spacing);
            assert_eq!(
                [found.nodes, found.layers, found.edges],
                [wanted, wanted, 3.0]
            );
        }
        let wide = Spacing {
            nodes: 26.0,
            layers: 27.0,
            edges: 3.0,
        };
        assert_eq!(room(&[], wide), wide);
    }

    #[test]
    fn a_frame_holds_another_that_leaves_it_on_no_side() {
        let frame = |low: [f32; 2], high: [f32; 2]| Frame {
            group: 0,
            low,
            high,
        };
        let outer = frame([0.0, 0.0], [10.0, 10.0]);
        for (low, high, wanted) in [
            ([0.0, 0.0], [10.0, 10.0], true),
            ([1.0, 1.0], [9.0, 9.0], true),
            ([-1.0, 1.0], [9.0, 9.0], false),
            ([1.0, -1.0], [9.0, 9.0], false),
            ([1.0, 1.0], [11.0, 9.0], false),
            ([1.0, 1.0], [9.0, 11.0], false),
        ] {
            assert_eq!(outer.holds(&frame(low, high)), wanted, "{low:?} {high:?}");
        }
    }

    #[test]
    fn a_frame_stands_five_around_what_it_holds_and_five_more_for_each_frame_in_it() {
        let groups = Groups::new(&["a.b.c", "a.b.d", "a.e"]);
        let edges = [(0, 1), (1, 2)];
        let reduced = groups.reduce(&edges, &BTreeSet::new());
        let sizes = [[40.0, 20.0]; 3];
        let spacing = groups.framed_spacing(&reduced, Spacing::default());
        let drawing = crate::layered::draw(&sizes, &edges, spacing);
        let drawing = drawing.unwrap_or_else(|cycle| panic!("{cycle}"));
        let frames = groups.frames(&reduced, &drawing, &sizes);
        let [x, first] = drawing.nodes[0];
        let [second, last] = [1, 2].map(|node| drawing.nodes[node][1]);
        // The inner frame is 5 around its boxes, the outer one 10 around all three.
        let inner = &frames[1];
        assert_eq!(
            (inner.low, inner.high),
            ([x - 25.0, first - 15.0], [x + 25.0, second + 15.0])
        );
        let outer = &frames[0];
        assert_eq!(
            (outer.low, outer.high),
            ([x - 30.0, first - 20.0], [x + 30.0, last + 20.0])
        );
    }
}
