//! A law over every operator and every format: where the rows of a batch do not depend on each other, they do not with
//! formats on the ports either.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "the law reads only the graphs of the samples")]
#[path = "../../ir/tests/samples/mod.rs"]
mod samples;
mod support;

use format::Format;
use ir::{DType, Graph, Op, Shape, verify};
use samples::SAMPLES;
use std::collections::BTreeSet;
use support::batch::{Feed, ROWS, inputs, run};

/// Every format of the table, its scales shared as widely as it allows.
const FORMATS: [&str; 19] = [
    "integer(6, 3)",
    "scale_integer(4)",
    "scale_integer(4, granularity = row)",
    "scale_integer(4, granularity = channel)",
    "affine(8, 0.1)",
    "bipolar(0.5)",
    "binary(width = 8, bipolar = false)",
    "ternary(scaling_factor = true)",
    "log(8)",
    "minifloat_ieee(8, 4)",
    "float8(e4m3fn)",
    "float4(e2m1)",
    "minifloat_denorm(8, 4)",
    "block_fp(4, 8, block_size = [-1])",
    "block_fp(4, 8, block_size = [2, 3])",
    "block_minifloat(6, 3, 8, [-1])",
    "block_log(4, 8, [-1])",
    "mxint(4, [-1])",
    "mxfp(2, 3, [2, -1])",
];

/// The row that stays as it is.
const KEPT: usize = 1;

/// For each element of a value with this shape, true when it belongs to the row that is kept.
fn is_kept(shape: &Shape) -> Vec<bool> {
    let sizes = shape.bind(ROWS).unwrap();
    let belongs = |index: usize| {
        let mut rest = index;
        shape.0.iter().zip(&sizes).rev().all(|(dim, &size)| {
            let at = rest % size;
            rest /= size;
            dim.symbol.is_none() || at / dim.factor == KEPT
        })
    };
    (0..sizes.iter().product()).map(belongs).collect()
}

/// The same inputs with all other rows far larger.
fn with_larger_rows(graph: &Graph, inputs: &[Feed]) -> Vec<Feed> {
    let verified = verify(graph).unwrap();
    let placeholders = verified.placeholders().into_iter().zip(inputs);
    let larger = placeholders.map(|(id, input)| {
        let mut input = input.clone();
        if input.dtype == DType::F32 {
            let kept = is_kept(&verified.ty(id.into()).shape);
            for (x, kept) in input.values.iter_mut().zip(kept) {
                *x *= if kept { 1.0 } else { 37.0 };
            }
        }
        input
    });
    larger.collect()
}

/// True when the kept row has the same results whatever the others are.
fn keeps_rows_apart(graph: &Graph) -> bool {
    let verified = verify(graph).unwrap();
    let plain = inputs(graph);
    let results = verified.output_values();
    let kept = results
        .iter()
        .flat_map(|&value| is_kept(&verified.ty(value).shape));
    let (a, b) = (
        run(graph, &plain),
        run(graph, &with_larger_rows(graph, &plain)),
    );
    a.iter()
        .zip(&b)
        .zip(kept)
        .all(|((a, b), kept)| !kept || a.to_bits() == b.to_bits())
}

fn with_format(graph: &Graph, port: &str, format: &Format) -> Option<Graph> {
    let mut graph = graph.clone();
    let y = graph.find("y").unwrap();
    let formats = &mut graph.node_mut(y).formats;
    formats.insert(port.to_owned(), format.clone());
    verify(&graph).is_ok().then_some(graph)
}

#[test]
fn no_format_makes_a_row_depend_on_another() {
    let (mut wrong, mut n_checked, mut checked) = (Vec::new(), 0, BTreeSet::new());
    let formats = FORMATS.map(|spec| Format::parse(spec).unwrap());
    for sample in SAMPLES {
        let mut graph = sample.graph();
        graph.initialize(3);
        if !keeps_rows_apart(&graph) {
            continue;
        }
        let node = graph.node(graph.find("y").unwrap());
        let mut ports = node.data_ports();
        ports.push("data_out_0".to_owned());
        for (port, format) in ports
            .iter()
            .flat_map(|port| formats.iter().map(move |f| (port, f)))
        {
            if let Some(rounded) = with_format(&graph, port, format) {
                n_checked += 1;
                checked.insert(sample.op().name());
                if !keeps_rows_apart(&rounded) {
                    wrong.push(format!("{}: {port}: {format}", sample.call));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_checked > 2000, "only {n_checked} ports were checked");
    // Edges of the graph, what nobody knows, and logic, which no number enters.
    let edges = ["placeholder", "output", "opaque", "and", "or", "not"];
    let names = Op::TABLE.iter().map(|entry| entry.name);
    let missing: Vec<&str> = names
        .filter(|name| !checked.contains(name) && !edges.contains(name))
        .collect();
    assert!(missing.is_empty(), "no sample was checked: {missing:?}");
}

#[test]
fn every_format_is_among_them() {
    let names: BTreeSet<&str> = FORMATS.map(|spec| spec.split('(').next().unwrap()).into();
    let missing = Format::TABLE
        .iter()
        .filter(|entry| !names.contains(entry.name));
    let missing: Vec<&str> = missing.map(|entry| entry.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
