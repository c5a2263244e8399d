//! The drawings of a graph: all groups open, and all closed.

use report::layered::{self, Groups, Member, Spacing};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Boxes above this are drawn closed only.
const MAX_BOXES: usize = 8_000;
/// Height of the box of a closed group, its widths, and the width of a letter.
const HEIGHT: f32 = 46.0;
const WIDTHS: (f32, f32) = (84.0, 260.0);
const LETTER: f32 = 7.0;

/// The groups, the drawings, and a sentence when not everything is drawn.
pub(super) struct Drawings {
    pub groups: Vec<Json>,
    pub group_of: Vec<Option<usize>>,
    pub views: Vec<Json>,
    pub limited: Option<String>,
}

/// Draws nodes with these dotted names, sizes and edges.
pub(super) fn drawings(names: &[String], sizes: &[[f32; 2]], edges: &[(usize, usize)]) -> Drawings {
    let groups = Groups::new(names);
    let all: BTreeSet<usize> = (0..groups.groups.len()).collect();
    let is_large = names.len() > MAX_BOXES;
    let mut views = Vec::new();
    if !is_large {
        views.push(view(&groups, sizes, edges, &BTreeSet::new()));
    }
    if !all.is_empty() || is_large {
        // The outermost groups alone: inner ones are inside them.
        let outer: BTreeSet<usize> = all
            .into_iter()
            .filter(|&group| groups.groups[group].parent.is_none())
            .collect();
        views.push(view(&groups, sizes, edges, &outer));
    }
    let limited = is_large.then(|| {
        let nodes = names.len();
        format!("{nodes} nodes are too many to be drawn one by one: groups are drawn closed")
    });
    let shown = groups
        .groups
        .iter()
        .map(|group| json!({ "name": group.name, "parent": group.parent, "closed": is_large }));
    Drawings {
        groups: shown.collect(),
        group_of: groups.innermost.clone(),
        views: views.into_iter().flatten().collect(),
        limited,
    }
}

fn view(
    groups: &Groups,
    sizes: &[[f32; 2]],
    edges: &[(usize, usize)],
    closed: &BTreeSet<usize>,
) -> Option<Json> {
    let reduced = groups.reduce(edges, closed);
    let size = |member: &Member| match member {
        Member::Node(node) => sizes[*node],
        Member::Group(group) => {
            let letters = groups.groups[*group].name.chars().count();
            let width = letters as f32 * LETTER + 30.0;
            [width.clamp(WIDTHS.0, WIDTHS.1), HEIGHT]
        }
    };
    let sizes: Vec<[f32; 2]> = reduced.nodes.iter().map(size).collect();
    let drawing = layered::draw(&sizes, &reduced.edges, Spacing::default()).ok()?;
    let number = |member: &Member| match member {
        Member::Node(node) => *node as i64,
        Member::Group(group) => -(*group as i64) - 1,
    };
    let boxes = reduced.nodes.iter().zip(&sizes).zip(&drawing.nodes);
    let boxes: Vec<Json> = boxes
        .map(|((member, [w, h]), [x, y])| {
            json!([number(member), tenth(*x), tenth(*y), tenth(*w), tenth(*h)])
        })
        .collect();
    let lines = reduced.edges.iter().zip(&drawing.edges);
    let lines: Vec<Json> = lines
        .map(|((from, to), points)| {
            let ends = [json!(from), json!(to)].into_iter();
            let points = points.iter().flatten().map(|place| tenth(*place));
            ends.chain(points).collect()
        })
        .collect();
    Some(json!({
        "closed": closed,
        "width": tenth(drawing.width),
        "height": tenth(drawing.height),
        "boxes": boxes,
        "edges": lines,
    }))
}

/// A place, to a tenth of a pixel.
fn tenth(place: f32) -> Json {
    let rounded = (f64::from(place) * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 {
        json!(rounded as i64)
    } else {
        json!(rounded)
    }
}
