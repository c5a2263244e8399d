//! The number of shards, and a law over every operator of the table: a batch that is cut gives the bits of a whole one.

#[expect(dead_code, reason = "the law reads only the graphs of the samples")]
#[path = "../../../ir/tests/samples/mod.rs"]
mod samples;

use super::{is_row_wise, shard_rows};
use crate::plan::compile_shards;
use crate::{Gradients, Input, Mode, PlanOptions, Pool, State};
use ir::ops::placeholder::Constant;
use ir::{DType, Graph, Op, RowCoupling, Verified, verify};
use random::Random;
use samples::SAMPLES;
use std::collections::BTreeSet;

const ROWS: usize = 7;
const CUTS: [&[usize]; 3] = [&[4, 3], &[3, 2, 2], &[1; ROWS]];

fn normals(len: usize, stream: u64) -> Vec<f32> {
    let random = Random::new(stream, "values");
    (0..len).map(|k| random.normal(k as u64)).collect()
}

fn len(verified: &Verified, value: ir::Value) -> usize {
    let shape = verified.ty(value).shape.bind(ROWS);
    shape.expect("a small shape").iter().product()
}

/// The sample with stored tensors in place of inputs without rows, which would keep the graph whole.
fn graph(sample: &samples::Sample) -> Graph {
    let mut graph = sample.graph();
    let inputs = verify(&graph).expect("a valid sample").placeholders();
    for id in inputs {
        let Op::Placeholder(op) = &graph.node(id).op else {
            continue;
        };
        let sizes: Option<Vec<usize>> = op.shape.0.iter().map(ir::Dim::fixed).collect();
        if let Some(shape) = sizes {
            let constant = match op.dtype {
                DType::F32 => Constant::trained(shape, 1.0),
                dtype => Constant::buffer(shape, dtype),
            };
            graph.node_mut(id).op = constant.into();
        }
    }
    graph.initialize(3);
    graph
}

/// The sample as it is, and with formats on its inputs whose scales would span the batch.
fn graphs(sample: &samples::Sample) -> Vec<Graph> {
    let plain = graph(sample);
    let specs = ["scale_integer(6)", "block_fp(6, 8, block_size = [-1])"];
    let rounded = specs.map(|spec| {
        let mut graph = plain.clone();
        let y = graph.find("y").expect("every sample has a node y");
        let node = graph.node_mut(y);
        for port in node.data_ports() {
            let format = format::Format::parse(spec).expect("a format");
            node.formats.insert(port, format);
        }
        verify(&graph).is_ok().then_some(graph)
    });
    [Some(plain)].into_iter().chain(rounded).flatten().collect()
}

/// All results, the gradients of all inputs, and the gradients of the parameters.
struct Outcome {
    rows: Vec<u32>,
    parameters: Vec<f32>,
}

fn run(graph: &Graph, mode: Mode, shards: &[usize]) -> Outcome {
    let verified = verify(graph).expect("a valid sample");
    let mut state = State::new(&verified).expect("initialised parameters");
    let options = PlanOptions {
        mode,
        gradients: Gradients::ALL,
        ..PlanOptions::train(ROWS)
    };
    let mut plan = compile_shards(&verified, &state, options, shards).expect("a valid plan");
    let placeholders = verified.placeholders();
    let floats: Vec<Vec<f32>> = placeholders
        .iter()
        .enumerate()
        .map(|(k, &id)| {
            let mut values = normals(len(&verified, id.into()), k as u64);
            if verified.ty(id.into()).dtype == DType::Bool {
                for v in &mut values {
                    *v = f32::from(u8::from(*v > 0.0));
                }
            }
            values
        })
        .collect();
    let indices: Vec<Vec<i64>> = floats
        .iter()
        .map(|x| x.iter().map(|x| x.abs().min(2.0) as i64).collect())
        .collect();
    let inputs: Vec<Input> = placeholders
        .iter()
        .enumerate()
        .map(|(k, &id)| match verified.ty(id.into()).dtype {
            DType::I64 => Input::I64(&indices[k]),
            DType::F32 | DType::Bool => Input::F32(&floats[k]),
        })
        .collect();
    let pool = Pool::new(2);
    plan.forward(&mut state, &inputs, &pool).expect("a run");
    let outputs = verified.output_values();
    let mut rows: Vec<f32> = (0..outputs.len()).flat_map(|k| plan.output(k)).collect();
    // Places and truth have no gradients.
    let is_float = |value: &ir::Value| verified.ty(*value).dtype == DType::F32;
    let y = graph.find("y").expect("every sample has a node y");
    let from_floats = graph.node(y).inputs.iter().any(is_float);
    if !outputs.iter().all(is_float) || !(from_floats || state.trained_len() > 0) {
        return Outcome {
            rows: rows.into_iter().map(f32::to_bits).collect(),
            parameters: Vec::new(),
        };
    }
    for (k, &value) in outputs.iter().enumerate() {
        let grad = normals(len(&verified, value), 100 + k as u64);
        plan.set_output_grad(k, &grad)
            .expect("one gradient a result");
    }
    plan.backward(&state, &pool).expect("a backward pass");
    rows.extend(
        (0..inputs.len())
            .filter_map(|k| plan.input_grad(k))
            .flatten(),
    );
    Outcome {
        rows: rows.into_iter().map(f32::to_bits).collect(),
        parameters: plan.gradients().to_vec(),
    }
}

/// True when all values agree but for the order of sums.
fn is_close(a: &[f32], b: &[f32]) -> bool {
    let finite = a.iter().filter(|x| x.is_finite());
    let scale = finite.fold(1.0_f32, |max, x| max.max(x.abs()));
    let is_close =
        |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-5 * scale;
    a.len() == b.len() && a.iter().zip(b).all(is_close)
}

#[test]
fn a_cut_batch_gives_the_bits_of_a_whole_one_for_every_operator() {
    let (mut wrong, mut cut) = (Vec::new(), BTreeSet::new());
    for sample in SAMPLES {
        for graph in graphs(sample) {
            let verified = verify(&graph).expect("a valid sample");
            if !is_row_wise(&verified) {
                continue;
            }
            cut.insert(sample.op().name());
            let y = graph.find("y").expect("every sample has a node y");
            let statistics = ir::Operator::row_coupling(&sample.op(), &verified.input_types(y))
                == RowCoupling::BatchStatistics;
            for (mode, shards) in [Mode::Train, Mode::Eval]
                .into_iter()
                .flat_map(|mode| CUTS.map(|cut| (mode, cut)))
            {
                let (whole, parts) = (run(&graph, mode, &[ROWS]), run(&graph, mode, shards));
                let floats = |bits: &[u32]| bits.iter().map(|&bits| f32::from_bits(bits)).collect();
                let (a, b): (Vec<f32>, Vec<f32>) = (floats(&whole.rows), floats(&parts.rows));
                // Sums over several rows of statistics, and over all axes of a single row, add in another order.
                let reorders = statistics && mode == Mode::Train || shards.contains(&1);
                let same_rows = if reorders {
                    is_close(&a, &b)
                } else {
                    whole.rows == parts.rows
                };
                if !same_rows || !is_close(&whole.parameters, &parts.parameters) {
                    let formats = &graph.node(y).formats;
                    wrong.push(format!(
                        "{} {mode:?} {formats:?} in shards of {shards:?}",
                        sample.call
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
    let edges = ["placeholder", "output", "constant", "opaque"];
    let missing: Vec<&str> = Op::TABLE
        .iter()
        .map(|entry| entry.name)
        .filter(|name| !cut.contains(name) && !edges.contains(name))
        .collect();
    assert!(missing.is_empty(), "no sample can be cut: {missing:?}");
}

/// Shards of a linear layer without a bias: `inputs · outputs` parameters, each used once a row.
#[test]
fn shards_follow_from_work_parameters_and_memory() {
    struct Case {
        inputs: usize,
        outputs: usize,
        rows: usize,
        /// With gradients, and without.
        shards: [usize; 2],
    }
    let case = |inputs, outputs, rows, shards| Case {
        inputs,
        outputs,
        rows,
        shards,
    };
    let cases = [
        // Less work than two shards are worth.
        case(16, 16, 4096, [1, 1]),
        case(64, 64, 1000, [1, 1]),
        case(64, 64, 2000, [2, 2]),
        // A row for every shard.
        case(4096, 4096, 1, [1, 1]),
        // Work for many, but weights to read again and gradients to add: a shard of 64 rows pays for them.
        case(1024, 1024, 16, [2, 2]),
        case(1024, 1024, 255, [2, 2]),
        case(1024, 1024, 256, [4, 4]),
        case(1024, 1024, 511, [4, 4]),
        case(1024, 1024, 512, [8, 8]),
        case(1024, 1024, 4096, [8, 8]),
        // Gradients of 64 Mi elements.
        case(4096, 4096, 512, [4, 8]),
        case(8192, 4096, 512, [2, 8]),
        case(8192, 8192, 512, [1, 8]),
        case(8192, 16384, 512, [1, 8]),
    ];
    for Case {
        inputs,
        outputs,
        rows,
        shards,
    } in cases
    {
        let text = format!(
            "graph \"g\" {{ x: f32[N, {inputs}] = placeholder y = linear(x) {{ target = \"y\", in_features = {inputs}, \
             out_features = {outputs}, bias = false }} return y }}"
        );
        let graph = Graph::parse(&text).expect("a graph");
        let verified = verify(&graph).expect("a valid graph");
        for (has_gradients, expected) in [true, false].into_iter().zip(shards) {
            let cut = shard_rows(&verified, rows, has_gradients);
            assert_eq!(cut.len(), expected, "{inputs} × {outputs}, {rows} rows");
            assert_eq!(cut.iter().sum::<usize>(), rows);
            assert!(cut[0] - cut[cut.len() - 1] <= 1, "{cut:?}");
        }
    }
}

#[test]
fn shards_that_lend_each_other_an_arena_keep_their_results() {
    let mut graph = Graph::parse(
        "graph \"g\" { x: f32[N, 4, 32, 32] = placeholder
         c = conv2d(x) { target = \"c\", in_channels = 4, out_channels = 16, kernel_size = 3, padding = 1 }
         r = relu(c)
         d = conv2d(r) { target = \"d\", in_channels = 16, out_channels = 4, kernel_size = 3, padding = 1 }
         s = add(d, x)
         return s, x }",
    )
    .expect("a graph");
    graph.initialize(1);
    let verified = verify(&graph).expect("a valid graph");
    let mut state = State::new(&verified).expect("initialised parameters");
    let options = PlanOptions::eval(ROWS);
    let plan = |shards| compile_shards(&verified, &state, options.clone(), shards).expect("a plan");
    let (mut whole, mut cut) = (plan(&[ROWS]), plan(&[3, 2, 2]));
    assert!(
        2 * cut.arena_len() < whole.arena_len() + 2 * ROWS * 3 * 4096,
        "three rows at a time, and all inputs and results: {} of {}",
        cut.arena_len(),
        whole.arena_len()
    );
    for (stream, threads) in [(1, 1), (2, 2), (3, 3), (4, 1)] {
        let x = normals(len(&verified, verified.placeholders()[0].into()), stream);
        let pool = Pool::new(threads);
        for plan in [&mut whole, &mut cut] {
            plan.forward(&mut state, &[Input::F32(&x)], &pool)
                .expect("a run");
        }
        for k in 0..2 {
            assert_eq!(whole.output(k), cut.output(k), "result {k} of run {stream}");
        }
    }
}
