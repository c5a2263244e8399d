//! Gives the ports of chosen nodes a number format.

mod input_width;
mod node_rule;

pub use node_rule::{
    Entry, NodeRule, Operand, OperandFormat, RuleProblem, Slot, field_value, formats, idle_keys,
    is_field, is_flag, is_na, is_of_original, ports,
};

use crate::analysis::summary;
use crate::{Context, Decision, Pass, PassError, PassReport, Rule, Rules};
use config::Reader;
use format::Format;
use input_width::formats_with_input_width;
use ir::{Graph, MaseType, Node, Op, Verified, verify};
use report::Table;
use std::collections::BTreeMap;

/// `[passes.quantize]`: see [`Pass::DOC`].
pub struct Quantize {
    /// The rules for nodes.
    pub rules: Rules<NodeRule>,
    /// The width of ports that read an input of the network, if it is not that of their rules.
    pub input_width: Option<i64>,
}

impl Pass for Quantize {
    const NAME: &'static str = "quantize";
    const ABOUT: &'static str = "gives ports a number format, by type, name or pattern of names";
    const DOC: &'static str = "\
What it does: every node that a rule chooses gets number formats on its data inputs, weight, bias and result. From then on
values are rounded there, in evaluation and in training (gradients pass straight through where nothing saturates). Weights
are kept as they are; they are rounded where they are used.

Example:
  [passes.quantize]
  input_width = 8                   # what flows into the network; missing: as the rules say
  by = \"type\"                      # or \"name\", or \"regex_name\" (whole name, first rule wins)
  [passes.quantize.default.config]
  name = \"NA\"                      # leave all other nodes alone
  [passes.quantize.linear.config]
  name = \"integer\"                 # a format of `ch list formats`
  data_in_width = 8
  data_in_frac_width = 4            # missing: width // 2
  weight_width = 8
  weight_frac_width = 4
  bias_width = 8                    # no bias_… key: the bias is not rounded
  bias_frac_width = 4

Before:
  x: f32[N, 16] = placeholder
  act = relu(x)
  fc = linear(act) { in_features = 16, out_features = 5 }
  return fc
After:
  x: f32[N, 16] = placeholder
  act = relu(x)
  fc = linear(act: integer(8, 4)) { in_features = 16, out_features = 5, weight: integer(8, 4), bias: integer(8, 4) }
  return fc

Config: by; input_width, the width of ports that read an input of the network, directly or through nodes that keep the
inputs apart (flatten, activations, a batch norm, whose weight has it too): as if data_in_width were this number;
KEY.config with name, {data_in,weight,bias,data_out}_{field of the format}, {operand}_name for a format of its own, floor,
bypass. Several inputs: data_in holds for all, but matmul, bmm and attention take weight for what stands on the right. Blocks
of data skip the first axis unless told otherwise. The data input of relu is unsigned unless told otherwise.

Reads: the graph. Writes: formats; KEY/quantize_table.csv and KEY/quantize_histogram.csv, with KEY the pass's key in the file.

Limits: a rule for an operator that the network does not have is a note, one for no operator and no node an error. Keys of
other formats are noted and do nothing. The default leaves helpers that compute nothing alone (flatten, cat …).";

    fn read(reader: &mut Reader) -> Self {
        reader.flag("report");
        reader.ignore(&["baseline_weight_path", "load_type", "load_name"]);
        let input_width = reader.whole("input_width", 1..=64);
        let rules = Rules::read(reader, NodeRule::read);
        if rules.rules.is_empty() && rules.default.is_none() {
            let hint = "give rules such as [passes.quantize.linear.config]";
            reader.missing("a rule", hint);
        }
        Self { rules, input_width }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let before = graph.clone();
        context.decisions = self.apply(graph)?;
        context.notes.extend(self.idle(&before)?);
        context.notes.extend(self.rules.unused_notes(&before));
        let mut table = self.matches(&before);
        if let Some(width) = self.input_width {
            let (nodes, notes) = input_width::readers(graph, width);
            context.notes.extend(notes);
            let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            table.push([
                "input_width".to_owned(),
                format!("width {width} for inputs of the network"),
                names.len().to_string(),
                names.join(" "),
            ]);
        }
        let report = PassReport::default().with_table("rules", table);
        let folder = context.key.clone();
        Ok(summary::append(report, &before, graph, context, folder))
    }
}

impl Quantize {
    /// Gives the nodes of a graph their formats; the decision for each.
    pub fn apply(&self, graph: &mut Graph) -> Result<BTreeMap<String, Decision>, PassError> {
        let mut problems = self.rules.unused(graph);
        problems.extend(self.misplaced(graph));
        if !problems.is_empty() {
            return Err(PassError::Config(problems));
        }
        let before = graph.clone();
        let verified = verify(&before)?;
        let mut decisions = BTreeMap::new();
        for (id, node) in before.iter() {
            let (decision, formats) = self.decide(node, &verified, id)?;
            if let Some(formats) = formats {
                graph.node_mut(id).formats = formats;
            }
            decisions.insert(node.name.clone(), decision);
        }
        Ok(decisions)
    }

    fn decide(
        &self,
        node: &Node,
        verified: &Verified,
        id: ir::NodeId,
    ) -> Result<(Decision, Option<BTreeMap<String, Format>>), PassError> {
        let Some(rule) = self.rules.find(node) else {
            return Ok((Decision::Unmatched, None));
        };
        let name = rule.key.name.clone();
        let is_default = self
            .rules
            .default
            .as_ref()
            .is_some_and(|d| d.key.span == rule.key.span);
        if has_nothing_to_round(&node.op) || (is_default && moves_only(node)) {
            return Ok((Decision::NothingToRound, None));
        }
        Ok(match &rule.value {
            NodeRule::LeaveAlone => (Decision::LeftAlone(name), None),
            NodeRule::Bypass => (Decision::Bypassed(name), None),
            NodeRule::Formats(operands) => {
                let formats = match self.input_width {
                    Some(width) => formats_with_input_width(operands, width, verified, id)?,
                    None => formats(operands, node, verified, id),
                };
                if formats.is_empty() {
                    (Decision::NoOperand(name), None)
                } else {
                    (Decision::Ruled(name), Some(formats))
                }
            }
        })
    }

    /// Rules that choose by type or name something that can hold no format.
    fn misplaced(&self, graph: &Graph) -> Vec<config::Problem> {
        let is_misplaced = |rule: &&Rule<NodeRule>| {
            let mut chosen = graph
                .nodes()
                .iter()
                .filter(|node| rule.matches(node))
                .peekable();
            let gives = matches!(rule.value, NodeRule::Formats(_));
            gives && chosen.peek().is_some() && chosen.all(|node| has_nothing_to_round(&node.op))
        };
        let misplaced = self.rules.rules.iter().filter(is_misplaced);
        misplaced
            .map(|rule| config::Problem {
                span: rule.key.span.clone(),
                message: format!(
                    "rule '{}' chooses only nodes that have nothing to round",
                    rule.key.name
                ),
            })
            .collect()
    }

    /// Notes on rules with keys that do nothing.
    fn idle(&self, graph: &Graph) -> Result<Vec<String>, PassError> {
        let verified = verify(graph)?;
        let of_rule = |rule: &Rule<NodeRule>| {
            let NodeRule::Formats(given) = &rule.value else {
                return None;
            };
            let nodes = graph.iter().filter(|(_, node)| self.is_ruled(node, rule));
            let had = nodes.flat_map(|(id, node)| ports(node, &verified, id));
            let had = had.map(|(_, operand)| operand).collect();
            idle_keys(&rule.key.name, given.keys().copied(), &had)
        };
        let rules = self.rules.rules.iter().chain(&self.rules.default);
        Ok(rules.filter_map(of_rule).collect())
    }

    /// True when this rule decides on a node.
    fn is_ruled(&self, node: &Node, rule: &Rule<NodeRule>) -> bool {
        let found = self.rules.find(node);
        found.is_some_and(|found| found.key.span == rule.key.span)
    }

    /// The nodes of each rule.
    fn matches(&self, graph: &Graph) -> Table {
        let mut table = Table::new(&["Rule", "Formats", "Nodes", "Names"]);
        for rule in self.rules.rules.iter().chain(&self.rules.default) {
            let chosen: Vec<&str> = graph
                .nodes()
                .iter()
                .filter(|node| self.is_ruled(node, rule))
                .map(|node| node.name.as_str())
                .collect();
            table.push([
                rule.key.name.clone(),
                rule.value.to_string(),
                chosen.len().to_string(),
                chosen.join(" "),
            ]);
        }
        table
    }
}

/// Inputs, outputs and stored tensors: what stands at their ports is rounded by those who read it.
pub fn has_nothing_to_round(op: &Op) -> bool {
    matches!(
        op,
        Op::Placeholder(_) | Op::Output(_) | Op::Constant(_) | Op::Opaque(_)
    )
}

/// True for an operator that passes its elements on unchanged.
pub fn moves_only(node: &Node) -> bool {
    node.mase_type() == MaseType::ImplicitFunc
        || matches!(node.op, Op::Dropout(_) | Op::Identity(_))
}
