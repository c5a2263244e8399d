//! Any text: parsing never panics, and what parses prints and parses back to the same graph.
#![no_main]

use ir::Graph;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Graph::parse(text) {
        Err(errors) => drop(errors.to_string()),
        Ok(graph) => {
            let printed = graph.to_string();
            let again = Graph::parse(&printed).expect("what is printed parses");
            assert_eq!(graph, again, "{printed}");
            drop(ir::verify(&graph).map(|verified| verified.placeholders().len()));
        }
    }
});
