//! A pass of one's own, outside of the program: `cargo run --release -p mase --example own_pass`.
//!
//! It replaces every relu by a relu6 and lists what it replaced. In the program a pass is the same type, in a file of its
//! own with a line in the table; then `[passes.relu_to_relu6]` runs it.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use mase::ir::ops::{Op, activation::Relu6};
use mase::{
    Graph, ModelInfo, NodeId, Pass, PassContext, PassError, PassReport, Reader, Table, build_model,
    verify,
};

/// `[passes.relu_to_relu6]`, read.
struct ReluToRelu6 {
    /// Nodes that stay as they are.
    except: Vec<String>,
}

impl Pass for ReluToRelu6 {
    const NAME: &'static str = "relu_to_relu6";
    const ABOUT: &'static str = "bounds activations at 6";
    const DOC: &'static str =
        "What it does: replaces relu by relu6. Config: except, a list of names.";

    fn read(reader: &mut Reader) -> Self {
        let except = reader.words("except").unwrap_or_default();
        Self {
            except: except.into_iter().map(|key| key.name).collect(),
        }
    }

    fn run(&self, graph: &mut Graph, _: &mut PassContext) -> Result<PassReport, PassError> {
        let mut table = Table::new(&["Node name", "Before", "After"]);
        for index in 0..graph.nodes().len() {
            let node = graph.node_mut(NodeId(index as u32));
            if matches!(node.op, Op::Relu(_)) && !self.except.contains(&node.name) {
                node.op = Op::Relu6(Relu6::default());
                table.push([node.name.as_str(), "relu", node.op.name()]);
            }
        }
        // What a pass leaves behind must be a valid graph; `Program` checks this after every pass too.
        verify(graph)?;
        Ok(PassReport::default().with_table("replaced", table))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut graph = build_model("jsc-toy", &ModelInfo::default())?;
    let pass = ReluToRelu6 {
        except: vec!["seq_blocks_1".to_owned()],
    };
    let mut context = PassContext::new(&graph, None);
    let report = pass.run(&mut graph, &mut context)?;
    println!("{}", report.to_text());
    Ok(())
}
