//! Writing a network down in the order in which it computes.

use ir::ops::placeholder::{Constant, Output, Placeholder};
use ir::{DType, Dim, Graph, Node, Op, Shape, Value};

/// A graph under construction. `at` is the value that the next layer reads.
pub struct Network {
    graph: Graph,
    at: Value,
}

impl Network {
    /// A network with one f32 input called `x`.
    pub fn on_samples(name: &str, sample: &[usize]) -> Self {
        Self::on_input(name, "x", DType::F32, sample)
    }

    /// A network with one input; more can follow.
    pub fn on_input(name: &str, input: &str, dtype: DType, sample: &[usize]) -> Self {
        let mut graph = Graph::new(name);
        let at = graph.push(placeholder(input, dtype, sample)).into();
        Self { graph, at }
    }

    /// One more input of the graph.
    pub fn input(&mut self, name: &str, dtype: DType, sample: &[usize]) -> Value {
        self.at = self.graph.push(placeholder(name, dtype, sample)).into();
        self.at
    }

    /// The value that the next layer reads.
    pub fn at(&self) -> Value {
        self.at
    }

    /// Continues from an earlier value.
    pub fn from(&mut self, value: Value) -> &mut Self {
        self.at = value;
        self
    }

    /// A module of the network. A module called a second time has the same target and a new name.
    pub fn module(&mut self, target: &str, op: impl Into<Op>) -> Value {
        let name = self.graph.fresh_name(&target.replace('.', "_"));
        self.push(Node::new(&name, target, op, &[self.at]))
    }

    /// The modules `prefix.0`, `prefix.1`, … one after the other.
    pub fn sequential(&mut self, prefix: &str, layers: impl IntoIterator<Item = Op>) -> Value {
        for (i, layer) in layers.into_iter().enumerate() {
            self.module(&format!("{prefix}.{i}"), layer);
        }
        self.at
    }

    /// A function or method of several values.
    pub fn call(&mut self, op: impl Into<Op>, inputs: &[Value]) -> Value {
        let op = op.into();
        let name = self.graph.fresh_name(op.name());
        self.push(Node::new(&name, "", op, inputs))
    }

    /// A function or method of the current value.
    pub fn then(&mut self, op: impl Into<Op>) -> Value {
        self.call(op, &[self.at])
    }

    /// A tensor stored with the model; it starts with normal values of this deviation.
    pub fn stored(&mut self, target: &str, shape: &[usize], init_std: f32) -> Value {
        let shape = shape.to_vec();
        let name = self.graph.fresh_name(&target.replace('.', "_"));
        self.push(Node::new(
            &name,
            target,
            Constant::trained(shape, init_std),
            &[],
        ))
    }

    /// The graph, which returns the current value.
    pub fn finish(self) -> Graph {
        let at = self.at;
        self.returning(&[at])
    }

    /// The graph, which returns these values.
    pub fn returning(mut self, values: &[Value]) -> Graph {
        self.push(Node::new("output", "", Output {}, values));
        self.graph
    }

    fn push(&mut self, node: Node) -> Value {
        self.at = self.graph.push(node).into();
        self.at
    }
}

fn placeholder(name: &str, dtype: DType, sample: &[usize]) -> Node {
    let axes = sample.iter().map(|&size| size.into());
    let shape = Shape([Dim::symbol("N")].into_iter().chain(axes).collect());
    Node::new(name, "", Placeholder { shape, dtype }, &[])
}
