//! The modules that nodes belong to, which are the groups of the drawing.

use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// A dotted name for every node: its module's path and its own name. An operator without a module belongs to that of the
/// operators that it reads, else to that of those that read it, else to the part that the modules of all these share.
pub(super) fn dotted_names(nodes: &[Map<String, Json>], edges: &[(usize, usize)]) -> Vec<String> {
    let text = |at: usize, key: &str| {
        let text = nodes[at].get(key).and_then(Json::as_str);
        text.unwrap_or_default()
    };
    let mut names: Vec<String> = (0..nodes.len())
        .map(|at| text(at, "target").to_owned())
        .collect();
    let (mut sources, mut users) = (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
    for &(from, to) in edges {
        users[from].push(to);
        sources[to].push(from);
    }
    // Inputs and results belong to no module.
    let is_end = |at: usize| matches!(text(at, "kind"), "input" | "output");
    for at in (0..nodes.len()).filter(|&at| !is_end(at)) {
        if names[at].is_empty() {
            let module =
                only_module(&sources[at], &names).or_else(|| only_module(&users[at], &names));
            let module = module
                .unwrap_or_else(|| shared_module(&[&*sources[at], &users[at]].concat(), &names));
            let name = format!("{module}.{}", text(at, "name"));
            name.trim_start_matches('.').clone_into(&mut names[at]);
        }
    }
    names
}

/// The module of a dotted name.
fn module(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(module, _)| module)
}

/// The module of those nodes that have one, where it is the same.
fn only_module(of: &[usize], names: &[String]) -> Option<String> {
    let modules = of.iter().map(|&at| module(&names[at]));
    let modules: BTreeSet<&str> = modules.filter(|own| !own.is_empty()).collect();
    let only = modules.first().filter(|_| modules.len() == 1);
    only.map(|&only| only.to_owned())
}

/// The path that the modules of those nodes share that have one.
fn shared_module(of: &[usize], names: &[String]) -> String {
    let modules = of.iter().map(|&at| module(&names[at]));
    let mut paths = modules
        .filter(|own| !own.is_empty())
        .map(|own| own.split('.').collect::<Vec<_>>());
    let mut shared = paths.next().unwrap_or_default();
    for path in paths {
        let same = shared.iter().zip(&path).take_while(|(a, b)| a == b).count();
        shared.truncate(same);
    }
    shared.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_operator_without_a_module_joins_those_around_it() {
        let node = |name: &str, target: &str| {
            let entry = json!({ "name": name, "target": target, "kind": if name == "x" { "input" } else { "" } });
            entry.as_object().cloned().unwrap_or_default()
        };
        // x → a.0.fc → r → a.0.out → add → a.1.fc → last, with a line from r to add and one from add to last.
        let nodes = [
            node("x", ""),
            node("fc0", "a.0.fc"),
            node("r", ""),
            node("out", "a.0.out"),
            node("add", ""),
            node("fc1", "a.1.fc"),
            node("last", ""),
        ];
        let edges = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (2, 4),
            (4, 5),
            (4, 6),
            (5, 6),
        ];
        let names = dotted_names(&nodes, &edges);
        let expected = [
            "", "a.0.fc", "a.0.r", "a.0.out", "a.0.add", "a.1.fc", "a.last",
        ];
        assert_eq!(names, expected);
        assert_eq!(shared_module(&[1, 5], &names), "a");
    }
}
