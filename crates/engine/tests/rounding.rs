//! A law over every operator of the table: a format on a port means that the operator gets the values of that port,
//! in the port's own shape, rounded by `format`; those of a batch row by row.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "the law reads only the graphs of the samples")]
#[path = "../../ir/tests/samples/mod.rs"]
mod samples;
mod support;

use format::Format;
use ir::{DType, Graph, Op, Shape, Tensor, verify};
use samples::SAMPLES;
use support::batch::{ROWS, inputs, run};

/// Blocks over two axes, over rows, over channels, over all: what depends on the shape. And one that does not.
const FORMATS: [&str; 7] = [
    "scale_integer(4)",
    "block_fp(4, 8, block_size = [2, 3])",
    "block_fp(4, 8, block_size = [2, 3], skip_first_dim = true)",
    "block_fp(4, 8, block_size = 3)",
    "scale_integer(4, granularity = row)",
    "scale_integer(4, granularity = channel)",
    "integer(6, 3)",
];

fn rounded(format: &Format, x: &[f32], shape: &[usize]) -> Vec<f32> {
    let mut y = vec![0.0; x.len()];
    format.quantize(x, shape, &mut y);
    y
}

/// The values of a data port: each row of the batch as an array of its own, anything else as a whole.
fn rounded_rows(format: &Format, x: &[f32], shape: &Shape) -> Vec<f32> {
    let sizes = shape.bind(ROWS).unwrap();
    let Some(last) = shape.0.iter().rposition(|dim| dim.symbol.is_some()) else {
        return rounded(format, x, &sizes);
    };
    let row = [&[1], &sizes[last + 1..]].concat();
    x.chunks(row.iter().product())
        .flat_map(|x| rounded(format, x, &row))
        .collect()
}

fn with_format(graph: &Graph, port: &str, format: &Format) -> Option<Graph> {
    let mut graph = graph.clone();
    let y = graph.find("y").unwrap();
    graph
        .node_mut(y)
        .formats
        .insert(port.to_owned(), format.clone());
    verify(&graph).is_ok().then_some(graph)
}

/// The ports of the node, and for each the graph and the inputs in which that port's values are rounded beforehand.
fn check(what: &str, graph: &Graph, spec: &str, wrong: &mut Vec<String>) -> usize {
    let format = Format::parse(spec).unwrap();
    let y = graph.find("y").unwrap();
    let plain = inputs(graph);
    let verified = verify(graph).unwrap();
    let node = graph.node(y);
    let mut n_checked = 0;
    let mut compare = |port: &str, expected: Vec<f32>| {
        let Some(graph) = with_format(graph, port, &format) else {
            return;
        };
        n_checked += 1;
        let error = support::relative_error(&run(&graph, &plain), &expected);
        if error > 1e-6 {
            wrong.push(format!("{what}: {port}: {spec}: differs by {error}"));
        }
    };
    for (k, port) in node.data_ports().iter().enumerate() {
        // A value that is read twice is rounded at one of its ports only, which no input can show.
        let read_once = node.inputs.iter().filter(|v| **v == node.inputs[k]).count() == 1;
        let mut inputs = plain.clone();
        let at = node.inputs[k].node.index();
        if read_once && at < inputs.len() && inputs[at].dtype == DType::F32 {
            let shape = &verified.ty(node.inputs[k]).shape;
            inputs[at].values = rounded_rows(&format, &plain[at].values, shape);
            compare(port, run(graph, &inputs));
        }
    }
    // Those of a batch norm are rounded as scale and shift.
    if !matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_)) {
        for (name, tensor) in &node.params {
            let values = rounded(&format, tensor.values(), tensor.shape());
            let mut graph = graph.clone();
            let tensor = Tensor::new(tensor.shape().to_vec(), values).unwrap();
            graph.node_mut(y).params.insert(name.clone(), tensor);
            compare(name, run(&graph, &plain));
        }
    }
    n_checked
}

#[test]
fn a_format_rounds_a_port_in_its_own_shape() {
    let (mut wrong, mut n_checked) = (Vec::new(), 0);
    for sample in SAMPLES {
        let mut graph = sample.graph();
        graph.initialize(3);
        for spec in FORMATS {
            n_checked += check(sample.call, &graph, spec, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_checked > 300, "only {n_checked} ports were checked");
}
