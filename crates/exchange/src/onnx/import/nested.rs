//! Graphs within nodes: functions of the file, and branches whose condition is known.

use super::{Importer, Source, Versions, check_versions, node_problem, versions};
use crate::error::ImportProblem;
use crate::onnx::attributes::Attributes;
use interop::onnx::proto::{FunctionProto, NodeProto};

impl<'m> Importer<'m> {
    /// The body of a function of the file in place of its call.
    pub(super) fn read_function(
        &mut self,
        node: &'m NodeProto,
        function: &'m FunctionProto,
        inputs: &[Option<Source>],
        depth: usize,
    ) -> Result<(), ImportProblem> {
        let has_attributes = !function.attribute.is_empty() || !function.attribute_proto.is_empty();
        if has_attributes || !node.attribute.is_empty() {
            return Err(node_problem(
                node,
                "calls a function of the file with attributes, which is not read",
            ));
        }
        self.scopes.enter(true);
        for (name, source) in function.input.iter().zip(inputs) {
            if let Some(source) = source {
                self.scopes.define(name, source.clone())?;
            }
        }
        let versions = versions(&function.opset_import);
        check_versions(&versions)?;
        self.read_nodes(&function.node, &versions, depth + 1)?;
        let results: Vec<Option<Source>> = function
            .output
            .iter()
            .map(|name| self.scopes.find(name).cloned())
            .collect();
        self.scopes.leave();
        self.define_results(node, results)
    }

    /// The branch of an `If` whose condition is known; false when it is not.
    pub(super) fn read_branch(
        &mut self,
        node: &'m NodeProto,
        inputs: &[Option<Source>],
        versions: &Versions<'m>,
        depth: usize,
    ) -> Result<bool, ImportProblem> {
        let Some(Some(Source::Known { array, .. })) = inputs.first() else {
            return Ok(false);
        };
        let Some(condition) = array.number() else {
            return Ok(false);
        };
        let attributes = Attributes::new(&node.attribute);
        let wanted = if condition == 0.0 {
            "else_branch"
        } else {
            "then_branch"
        };
        let Ok(Some(branch)) = attributes.graph(wanted) else {
            return Err(node_problem(node, &format!("has no {wanted}")));
        };
        self.scopes.enter(false);
        self.initializers(branch)?;
        self.read_nodes(&branch.node, versions, depth + 1)?;
        let results: Vec<Option<Source>> = branch
            .output
            .iter()
            .map(|info| self.scopes.find(info.name()).cloned())
            .collect();
        self.scopes.leave();
        self.define_results(node, results)?;
        Ok(true)
    }
}
