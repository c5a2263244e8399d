//! Figures of real networks, where their graphs are beside the workspace.

use crate::measure::{chain_edges, crossings, is_straight, overlaps};
use report::layered::{Spacing, draw};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A network with the crossings that its drawing may have, and the width of graphviz's (dot 2.43.0, boxes and spacing the
/// same), where it ends in reasonable time.
const NETWORKS: &[(&str, usize, Option<f32>)] = &[
    ("resnet18", 0, Some(212.0)),
    ("convnext_tiny", 0, Some(256.0)),
    ("vit_b_16", 0, Some(394.5)),
    ("ppocr_det", 0, Some(824.3)),
    ("stack1000", 0, Some(4488.5)),
    ("stack5000", 0, None),
];
/// The width that a drawing may have, of graphviz's.
const MAX_WIDTH: f32 = 1.3;

/// The folder of the graphs, beside the workspace or above it.
fn folder() -> Option<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let shared = crates.map(|above| above.join("shared/prototype/layout"));
    shared.into_iter().find(|path| path.is_dir())
}

fn read(path: &Path) -> (Vec<[f32; 2]>, Vec<(usize, usize)>) {
    let json: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let sizes = json["nodes"].as_array().unwrap().iter().map(|node| {
        let n_letters = node["op"].as_str().unwrap().len() as f32;
        [(7.0 * n_letters + 20.0).max(60.0), 28.0]
    });
    let index = |json: &Json| json.as_u64().unwrap() as usize;
    let edges = json["edges"].as_array().unwrap().iter();
    let edges = edges.map(|edge| (index(&edge[0]), index(&edge[1])));
    (sizes.collect(), edges.collect())
}

#[test]
fn networks_have_few_crossings_and_straight_chains() {
    let Some(folder) = folder() else {
        eprintln!("skipped: no folder shared/prototype/layout with graphs beside the workspace");
        return;
    };
    println!("network        nodes  crossings   width  straight chains  milliseconds");
    for &(name, max_crossings, width) in NETWORKS {
        let (sizes, edges) = read(&folder.join(format!("g_{name}.json")));
        let start = Instant::now();
        let drawing = draw(&sizes, &edges, Spacing::default()).unwrap();
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let n_crossings = crossings(&drawing, &edges);
        let chains = chain_edges(sizes.len(), &edges);
        let straight = chains
            .iter()
            .filter(|&&edge| is_straight(&drawing.edges[edge]));
        let (n_straight, n_chains) = (straight.count(), chains.len());
        println!(
            "{name:<13} {:>6} {n_crossings:>10} {:>7.0} {n_straight:>9}/{n_chains:<5} {milliseconds:>13.2}",
            sizes.len(),
            drawing.width,
        );
        assert_eq!(n_straight, n_chains, "{name}");
        assert!(n_crossings <= max_crossings, "{name}");
        assert!(
            width.is_none_or(|own| drawing.width <= MAX_WIDTH * own),
            "{name}"
        );
        assert_eq!(overlaps(&drawing, &sizes), [], "{name}");
    }
}
