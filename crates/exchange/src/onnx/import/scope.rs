//! Names of values: those of the graph, of a branch within it, of a function.

use super::Source;
use crate::error::ImportProblem;
use std::collections::HashMap;

/// The scopes, the innermost last.
pub struct Scopes {
    stack: Vec<Scope>,
}

#[derive(Default)]
struct Scope {
    values: HashMap<String, Source>,
    /// True for a function, which sees nothing of its caller.
    is_function: bool,
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            stack: vec![Scope::default()],
        }
    }
}

impl Scopes {
    /// Opens a scope.
    pub fn enter(&mut self, is_function: bool) {
        self.stack.push(Scope {
            values: HashMap::new(),
            is_function,
        });
    }

    /// The number of scopes.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        self.stack.pop();
    }

    /// Names a value in the innermost scope.
    pub fn define(&mut self, name: &str, source: Source) -> Result<(), ImportProblem> {
        let twice = || ImportProblem::Graph(format!("two values have the name '{name}'"));
        let scope = self.stack.last_mut().ok_or_else(twice)?;
        match scope.values.insert(name.to_owned(), source) {
            None => Ok(()),
            Some(_) => Err(twice()),
        }
    }

    /// The value with this name.
    pub fn find(&self, name: &str) -> Option<&Source> {
        for scope in self.stack.iter().rev() {
            if let Some(source) = scope.values.get(name) {
                return Some(source);
            }
            if scope.is_function {
                return None;
            }
        }
        None
    }
}
