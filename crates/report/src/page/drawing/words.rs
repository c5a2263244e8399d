//! The texts of boxes, and the room that they take.

use crate::page::{list, text};
use serde_json::Value as Json;

/// Width of a character at a size of one, about: the font of the reader is not known.
pub(super) const CHARACTER: f64 = 0.64;
pub(super) const NAME_SIZE: f64 = 12.0;
pub(super) const ABOUT_SIZE: f64 = 10.5;
pub(super) const BADGE_SIZE: f64 = 9.5;
/// Free room left and right of the texts of a box.
pub(super) const PADDING: f64 = 20.0;
const MAX_WIDTH: f64 = 260.0;

/// Width and height in which the texts of a node have room.
pub fn box_size(node: &Json) -> (f64, f64) {
    let Words {
        name,
        about,
        badges,
    } = Words::of_node(node);
    let wide = |text: &str, size: f64| text.chars().count() as f64 * size * CHARACTER;
    let sizes = [
        (&name, NAME_SIZE),
        (&about, ABOUT_SIZE),
        (&badges, BADGE_SIZE),
    ];
    let widths = sizes.map(|(text, size)| wide(text, size));
    let width = widths.into_iter().fold(60.0, f64::max) + PADDING;
    (
        width.min(MAX_WIDTH).ceil(),
        if badges.is_empty() { 38.0 } else { 54.0 },
    )
}

/// The lines of a box.
pub(super) struct Words {
    pub name: String,
    pub about: String,
    pub badges: String,
}

impl Words {
    pub fn of_node(node: &Json) -> Self {
        let about = format!("{}  {}", text(node, "op"), text(node, "shape"));
        Self {
            name: text(node, "name").to_owned(),
            about: about.trim_end().to_owned(),
            badges: badges(node),
        }
    }

    pub fn of_group(graph: &Json, group: usize) -> Self {
        let is_inside = |node: &&Json| {
            let own = node["group"].as_u64().map(|own| own as usize);
            own.is_some_and(|own| groups_around(graph, own).any(|around| around == group))
        };
        let count = list(graph, "nodes").iter().filter(is_inside).count();
        Self {
            name: text(&graph["groups"][group], "name").to_owned(),
            about: format!("{count} nodes, closed"),
            badges: String::new(),
        }
    }
}

/// A group and those around it, from the inside out.
pub(super) fn groups_around(graph: &Json, group: usize) -> impl Iterator<Item = usize> {
    let groups = list(graph, "groups");
    let parent = |own: &usize| Some(groups.get(*own)?["parent"].as_u64()? as usize);
    std::iter::successors(Some(group), parent).take(groups.len())
}

/// The distinct formats of a node, with the first port of each where they differ.
fn badges(node: &Json) -> String {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for format in list(node, "formats") {
        let (port, format) = (text(format, "port"), text(format, "format"));
        if found.iter().all(|&(_, known)| known != format) {
            found.push((port, format));
        }
    }
    if let [(_, format)] = found[..] {
        return format.to_owned();
    }
    let named = found
        .iter()
        .map(|(port, format)| format!("{} {format}", port.replace("data_in_", "in ")));
    named.collect::<Vec<_>>().join(" · ")
}
