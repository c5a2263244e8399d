//! The drawings of every model: boxes apart, edges downwards, chains straight, the same every time.

use models::{MODELS, ModelInfo, build};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A box of a drawing: its middle and its size.
struct Place {
    middle: [f64; 2],
    size: [f64; 2],
}

impl Place {
    fn of(entry: &Json) -> Self {
        let at = |k: usize| entry[k].as_f64().unwrap();
        Self {
            middle: [at(1), at(2)],
            size: [at(3), at(4)],
        }
    }

    /// The room between two boxes along an axis; negative where they overlap.
    fn gap(&self, other: &Self, axis: usize) -> f64 {
        let halves = f64::midpoint(self.size[axis], other.size[axis]);
        (self.middle[axis] - other.middle[axis]).abs() - halves
    }
}

fn list<'a>(view: &'a Json, key: &str) -> &'a [Json] {
    view[key].as_array().unwrap()
}

fn check_view(name: &str, view: &Json) {
    let boxes: Vec<Place> = list(view, "boxes").iter().map(Place::of).collect();
    for (k, one) in boxes.iter().enumerate() {
        for other in &boxes[..k] {
            let apart = one.gap(other, 0).max(one.gap(other, 1));
            assert!(apart > -0.2, "{name}: two boxes overlap by {apart}");
        }
    }
    let (mut users, mut sources) = (BTreeMap::new(), BTreeMap::new());
    let ends = |edge: &Json| [0, 1].map(|k| edge[k].as_u64().unwrap() as usize);
    for edge in list(view, "edges") {
        let [from, to] = ends(edge);
        *users.entry(from).or_insert(0) += 1;
        *sources.entry(to).or_insert(0) += 1;
    }
    for edge in list(view, "edges") {
        let [from, to] = ends(edge);
        assert!(
            boxes[from].middle[1] < boxes[to].middle[1],
            "{name}: an edge goes up"
        );
        if users[&from] == 1 && sources[&to] == 1 {
            let apart = (boxes[from].middle[0] - boxes[to].middle[0]).abs();
            assert!(apart < 0.2, "{name}: a chain turns by {apart}");
        }
    }
}

#[test]
fn every_model_is_drawn_well() {
    for entry in MODELS {
        let graph = build(entry.name, &ModelInfo::default()).unwrap();
        let drawn = passes::page::drawing_of(entry.name, &graph).unwrap();
        assert_eq!(list(&drawn, "nodes").len(), graph.nodes().len());
        for view in list(&drawn, "views") {
            check_view(entry.name, view);
        }
        let again = passes::page::drawing_of(entry.name, &graph).unwrap();
        assert_eq!(drawn, again, "{}", entry.name);
    }
}
