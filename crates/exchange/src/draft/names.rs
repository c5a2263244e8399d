//! Names of nodes and targets from the names of a file.

use super::Param;
use interop::onnx::proto::NodeProto;
use std::collections::{HashMap, HashSet};

/// Words of the text form that no node is called.
const RESERVED: &[&str] = &["graph", "return", "true", "false"];

/// The names and targets that are taken.
#[derive(Default)]
pub struct Names {
    nodes: HashSet<String>,
    /// The next number of a stem.
    next: HashMap<String, usize>,
    targets: HashSet<String>,
}

impl Names {
    /// The stem of the names of a node's nodes.
    pub fn base(node: &NodeProto) -> String {
        let first = node.output.iter().find(|name| !name.is_empty());
        match (node.name(), first) {
            ("", Some(first)) => first.clone(),
            ("", None) => node.op_type().to_owned(),
            (name, _) => name.to_owned(),
        }
    }

    /// An identifier that no node has, made from a name of the file.
    pub fn fresh(&mut self, name: &str) -> String {
        let stem = identifier(name);
        if self.nodes.insert(stem.clone()) {
            return stem;
        }
        let next = self.next.entry(stem.clone()).or_insert(1);
        loop {
            let name = format!("{stem}_{next}");
            *next += 1;
            if self.nodes.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Frees a name and a target.
    pub fn release(&mut self, name: &str, target: &str) {
        self.nodes.remove(name);
        self.targets.remove(target);
    }

    /// The dotted path of a module whose parameters the file calls `path.weight`, `path.bias`; empty when it does not, or when
    /// another node has that path.
    pub fn target(&mut self, params: &[Param]) -> String {
        let owner = |param: &Param| {
            param
                .path
                .strip_suffix(param.port)?
                .strip_suffix('.')
                .map(str::to_owned)
        };
        let target = params.iter().find_map(owner).unwrap_or_default();
        if target.is_empty() || !self.targets.insert(target.clone()) {
            return String::new();
        }
        target
    }

    /// A path for a stored tensor; empty when it is taken.
    pub fn stored(&mut self, path: &str) -> String {
        if path.is_empty() || !self.targets.insert(path.to_owned()) {
            return String::new();
        }
        path.to_owned()
    }
}

/// Letters, digits and `_`, starting with a letter: `/features/features.0/Conv` is `features_features_0_Conv`.
fn identifier(name: &str) -> String {
    let mapped: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let trimmed = mapped.trim_matches('_');
    let starts = trimmed.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts && !RESERVED.contains(&trimmed) {
        trimmed.to_owned()
    } else {
        format!("n_{trimmed}").trim_end_matches('_').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_of_their_own() {
        let mut names = Names::default();
        let cases = [
            ("/features/features.0/Conv", "features_features_0_Conv"),
            ("onnx::MatMul_12", "onnx__MatMul_12"),
            ("12", "n_12"),
            ("return", "n_return"),
            ("", "n"),
            ("x", "x"),
            ("x", "x_1"),
            ("x", "x_2"),
        ];
        for (name, expected) in cases {
            assert_eq!(names.fresh(name), expected);
        }
        names.release("x", "");
        assert_eq!(names.fresh("x"), "x");
    }

    #[test]
    fn a_path_is_given_once() {
        let mut names = Names::default();
        for (path, expected) in [("", ""), ("", ""), ("a.b", "a.b"), ("a.b", ""), ("a", "a")] {
            assert_eq!(names.stored(path), expected);
        }
        names.release("", "a.b");
        assert_eq!(names.stored("a.b"), "a.b");
    }
}
