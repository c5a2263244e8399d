//! Laws of plans: threads do not change bits, fusion does not change results, observers see what is there, rounding is
//! done where ports say, and bad input is an error with both values.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{
    EngineError, Gradients, Input, IntegerPlan, Network, Optimizer, OptimizerKind, PlanOptions,
    Pool, Port, State, compile,
};
use ir::{Elements, Graph, verify};
use random::Random;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Convolutions, norms, dropout and a residual: enough work for several shards.
const PICTURES: &str = r#"graph "pictures" {
  x: f32[N, 3, 16, 16] = placeholder
  c1 = conv2d(x) { target = "c1", in_channels = 3, out_channels = 8, kernel_size = 3, padding = 1 }
  b1 = batch_norm2d(c1) { target = "b1", num_features = 8 }
  r1 = relu(b1) { target = "r1" }
  c2 = conv2d(r1) { target = "c2", in_channels = 8, out_channels = 8, kernel_size = 3, padding = 1 }
  b2 = batch_norm2d(c2) { target = "b2", num_features = 8 }
  s = add(b2, r1)
  r2 = relu(s)
  p = max_pool2d(r2) { kernel_size = 2 }
  f = flatten(p) { start_dim = 1 }
  d = dropout(f) { target = "d", p = 0.25 }
  l1 = linear(d) { target = "l1", in_features = 512, out_features = 32 }
  b3 = batch_norm1d(l1) { target = "b3", num_features = 32 }
  r3 = relu(b3) { target = "r3" }
  l2 = linear(r3) { target = "l2", in_features = 32, out_features = 10 }
  return l2
}"#;

const ROWS: &str = r#"graph "rows" {
  x: f32[N, 4] = placeholder
  l = linear(x: integer(8, 4)) { target = "l", in_features = 4, out_features = 3, weight: integer(8, 4), bias: integer(8, 4) }
  r = relu(l)
  return r
}"#;

fn graph(text: &str) -> Graph {
    let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    graph.initialize(1);
    graph
}

fn normals(len: usize, stream: &str) -> Vec<f32> {
    let random = Random::new(2, stream);
    (0..len).map(|k| random.normal(k as u64)).collect()
}

fn labels(len: usize) -> Vec<u32> {
    let random = Random::new(3, "labels");
    (0..len)
        .map(|k| (random.bits(k as u64) % 10) as u32)
        .collect()
}

/// The state has them: the graph of a network would hold them a second time.
#[test]
fn a_network_holds_its_parameters_once() {
    let (pictures, rows) = (graph(PICTURES), graph(ROWS));
    let mut network = Network::new(pictures.clone(), 1).unwrap();
    assert_eq!(network.graph().parameters().count(), 0);
    assert_eq!(network.to_graph(), pictures);
    network.replace(rows.clone()).unwrap();
    assert_eq!(network.graph().parameters().count(), 0);
    assert_eq!(network.to_graph(), rows);
}

/// All parameters and losses after three steps.
fn train(threads: usize) -> (Vec<u32>, Vec<u64>) {
    let rows = 61;
    let mut network = Network::new(graph(PICTURES), threads).unwrap();
    network.seed(9);
    let mut optimizer = Optimizer::new(
        OptimizerKind::AdamW { weight_decay: 0.01 },
        1e-2,
        network.state(),
    );
    let (x, y) = (normals(rows * 768, "x"), labels(rows));
    let losses = (0..3)
        .map(|_| {
            network
                .train_step(&[Input::F32(&x)], &y, rows, &mut optimizer)
                .unwrap()
                .loss
                .to_bits()
        })
        .collect();
    let bits = network
        .state()
        .iter()
        .flat_map(|(_, values)| values.iter().map(|v| v.to_bits()))
        .collect();
    (bits, losses)
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let graph = graph(PICTURES);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let plan = compile(&verified, &state, PlanOptions::train(61)).unwrap();
    assert!(
        plan.shard_count() > 2,
        "the test needs several shards, got {}",
        plan.shard_count()
    );
    let one = train(1);
    assert_eq!(one, train(2));
    assert_eq!(one, train(8));
}

#[test]
fn fused_plans_give_the_same_results() {
    let rows = 16;
    let graph = graph(PICTURES);
    let verified = verify(&graph).unwrap();
    let pool = Pool::new(1);
    let x = normals(rows * 768, "x");
    let run = |options: PlanOptions| {
        let mut state = State::new(&verified).unwrap();
        let mut plan = compile(&verified, &state, options).unwrap();
        plan.forward(&mut state, &[Input::F32(&x)], &pool).unwrap();
        let score = plan.cross_entropy(&labels(rows), &pool).unwrap();
        let grads = if plan.options().gradients.any() {
            plan.backward(&state, &pool).unwrap();
            plan.gradients().to_vec()
        } else {
            Vec::new()
        };
        (plan.output(0), score.loss, grads, plan.arena_len())
    };
    for options in [PlanOptions::train(rows), PlanOptions::eval(rows)] {
        let fused = run(options.clone());
        let plain = run(PlanOptions {
            fuse: false,
            ..options.clone()
        });
        let close = |a: &[f32], b: &[f32]| {
            a.iter()
                .zip(b)
                .all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + b.abs()))
        };
        assert!(
            close(&fused.0, &plain.0),
            "{:?}: outputs differ",
            options.mode
        );
        assert!((fused.1 - plain.1).abs() < 1e-5, "{} {}", fused.1, plain.1);
        assert!(
            close(&fused.2, &plain.2),
            "{:?}: gradients differ",
            options.mode
        );
        assert!(
            fused.3 <= plain.3,
            "fusing took more memory: {} > {}",
            fused.3,
            plain.3
        );
    }
}

#[test]
fn a_relu_behind_a_maximum_gives_the_bits_of_one_before_it() {
    for window in [
        "kernel_size = 2",
        "kernel_size = 3, stride = 2, padding = 1",
    ] {
        let graph = graph(&format!(
            "graph \"g\" {{ x: f32[N, 1, 8, 8] = placeholder
             c = conv2d(x) {{ target = \"c\", in_channels = 1, out_channels = 3, kernel_size = 3, padding = 1 }}
             r = relu(c)
             p = max_pool2d(r) {{ {window} }}
             f = flatten(p) {{ start_dim = 1 }}
             l = linear(f) {{ target = \"l\", in_features = 48, out_features = 10 }}
             return l }}"
        ));
        let verified = verify(&graph).unwrap();
        // Equal pixels side by side: windows have equal largest elements, and some have nothing positive.
        let mut x: Vec<f32> = normals(4 * 64, "x").iter().map(|x| x.round()).collect();
        x[..24].fill(-1.0);
        x[100..116].fill(0.0);
        let run = |fuse: bool| {
            let mut state = State::new(&verified).unwrap();
            let options = PlanOptions {
                fuse,
                ..PlanOptions::train(4)
            };
            let mut plan = compile(&verified, &state, options).unwrap();
            let pool = Pool::new(1);
            plan.forward(&mut state, &[Input::F32(&x)], &pool).unwrap();
            plan.cross_entropy(&labels(4), &pool).unwrap();
            plan.backward(&state, &pool).unwrap();
            let numbers = plan.output(0).into_iter();
            let numbers = numbers.chain(plan.gradients().to_vec());
            numbers.map(f32::to_bits).collect::<Vec<u32>>()
        };
        assert_eq!(run(true), run(false), "{window}");
    }
}

#[test]
fn evaluation_reuses_memory() {
    let graph = graph(PICTURES);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let eval = compile(&verified, &state, PlanOptions::eval(8))
        .unwrap()
        .arena_len();
    let train = compile(&verified, &state, PlanOptions::train(8))
        .unwrap()
        .arena_len();
    assert!(
        2 * eval < train,
        "{eval} elements for evaluation, {train} for training"
    );
}

#[test]
fn observers_see_values_before_rounding_even_where_steps_fuse() {
    let graph = graph(ROWS);
    let verified = verify(&graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let port = |node: &str, port: &str| Port {
        node: graph.find(node).unwrap(),
        port: port.to_owned(),
    };
    let observe = vec![
        port("l", "data_in_0"),
        port("r", "data_in_0"),
        port("r", "data_out_0"),
    ];
    let x = normals(8, "x");
    let mut plan = compile(
        &verified,
        &state,
        PlanOptions {
            observe,
            ..PlanOptions::eval(2)
        },
    )
    .unwrap();
    plan.forward(&mut state, &[Input::F32(&x)], &Pool::new(1))
        .unwrap();
    let mut seen: Vec<(Vec<usize>, Vec<f32>)> = Vec::new();
    plan.for_each_observed(|index, shape, values| {
        assert_eq!(index, seen.len());
        seen.push((shape.to_vec(), values.to_vec()));
    });
    assert_eq!(seen[0], (vec![2, 4], x));
    assert!(
        seen[1].1.iter().any(|v| *v < 0.0),
        "the relu's input must not be clipped: {:?}",
        seen[1]
    );
    let clipped: Vec<f32> = seen[1].1.iter().map(|v| v.max(0.0)).collect();
    assert_eq!(seen[2].1, clipped);
    assert_eq!(plan.output(0), clipped);
}

#[test]
fn a_format_on_a_port_rounds_what_the_operator_uses() {
    let graph = graph(ROWS);
    let verified = verify(&graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let x = normals(8, "x");
    let mut plan = compile(&verified, &state, PlanOptions::eval(2)).unwrap();
    plan.forward(&mut state, &[Input::F32(&x)], &Pool::new(1))
        .unwrap();
    let round = |v: f32| (f64::from(v) * 16.0).round_ties_even().clamp(-128.0, 127.0) / 16.0;
    let node = graph.node(graph.find("l").unwrap());
    let (w, b) = (node.params["weight"].values(), node.params["bias"].values());
    for (row, y) in x.chunks(4).zip(plan.output(0).chunks(3)) {
        for (o, &y) in y.iter().enumerate() {
            let dot: f64 = (0..4).map(|i| round(row[i]) * round(w[4 * o + i])).sum();
            assert_eq!(f64::from(y), (dot + round(b[o])).max(0.0));
        }
    }
}

#[test]
fn not_a_number_stays_one() {
    let graph = graph(ROWS);
    let mut network = Network::new(graph, 1).unwrap();
    let mut x = normals(8, "x");
    x[5] = f32::NAN;
    let plan = network
        .run(PlanOptions::eval(2), &[Input::F32(&x)])
        .unwrap();
    let y = plan.output(0);
    assert!(
        y[..3].iter().all(|v| v.is_finite()) && y[3..].iter().all(|v| v.is_nan()),
        "{y:?}"
    );
}

#[test]
fn bad_input_is_an_error_that_says_what_is_wrong() {
    let mut network = Network::new(graph(ROWS), 1).unwrap();
    let x = normals(8, "x");
    let mut message = |options: PlanOptions, inputs: &[Input]| {
        network.run(options, inputs).err().unwrap().to_string()
    };
    assert_eq!(
        message(PlanOptions::eval(0), &[Input::F32(&[])]),
        "the batch is empty; give at least one row"
    );
    assert_eq!(
        message(PlanOptions::eval(3), &[Input::F32(&x)]),
        "input x: expected 12 values for 3 rows, got 8"
    );
    assert_eq!(
        message(PlanOptions::eval(2), &[]),
        "the graph takes 1 inputs, got 0"
    );
    assert_eq!(
        message(PlanOptions::eval(2), &[Input::I64(&[0; 8])]),
        "input x: expected f32, got i64"
    );
    let huge = message(PlanOptions::eval(usize::MAX / 8), &[Input::F32(&x)]);
    assert!(huge.contains("too large"), "{huge}");
    let labels = network.evaluate(&[Input::F32(&x)], &[0, 7], 2).unwrap_err();
    assert_eq!(
        labels.to_string(),
        "labels: expected 2 numbers below 3, got 7"
    );
}

#[test]
fn a_graph_without_values_or_with_one_sample_cannot_train() {
    let empty = Graph::parse(ROWS).unwrap();
    let error = Network::new(empty, 1).err().unwrap().to_string();
    assert_eq!(
        error,
        "l (linear): weight has no value; initialise the graph or load a checkpoint"
    );
    let norm = r#"graph "norm" { x: f32[N, 2] = placeholder b = batch_norm1d(x) { target = "b", num_features = 2 } return b }"#;
    let graph = graph(norm);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let error = compile(&verified, &state, PlanOptions::train(1))
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "b (batch_norm1d): training needs more than one value per channel, got 1"
    );
}

#[test]
fn indices_outside_an_embedding_are_refused() {
    let text = r#"graph "e" {
      i: i64[N, 2] = placeholder
      v = view(i) { shape = [2*N] }
      e = embedding(v) { target = "e", num_embeddings = 4, embedding_dim = 3 }
      return e
    }"#;
    let mut network = Network::new(graph(text), 1).unwrap();
    for (index, is_good) in [(3, true), (4, false), (-1, false)] {
        let result = network.run(PlanOptions::eval(1), &[Input::I64(&[0, index])]);
        assert_eq!(result.is_ok(), is_good, "{index}");
    }
}

#[test]
fn a_value_used_twice_collects_both_gradients() {
    let text =
        r#"graph "t" { x: f32[N, 3] = placeholder y = mul(x, x) z = add(y, x) return z, x }"#;
    let graph = graph(text);
    let verified = verify(&graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let gradients = Gradients {
        parameters: false,
        inputs: true,
    };
    let pool = Pool::new(1);
    let mut plan = compile(
        &verified,
        &state,
        PlanOptions {
            gradients,
            ..PlanOptions::eval(1)
        },
    )
    .unwrap();
    plan.forward(&mut state, &[Input::F32(&[1.0, 2.0, 3.0])], &pool)
        .unwrap();
    plan.set_output_grad(0, &[1.0; 3]).unwrap();
    plan.set_output_grad(1, &[10.0; 3]).unwrap();
    plan.backward(&state, &pool).unwrap();
    assert_eq!(plan.input_grad(0).unwrap(), [13.0, 15.0, 17.0]);
    assert!(matches!(
        plan.cross_entropy(&[0], &pool),
        Err(EngineError::NotClassification { .. })
    ));
}

#[test]
fn a_batch_can_be_gathered_from_all_rows() {
    let mut network = Network::new(graph(ROWS), 1).unwrap();
    let all = normals(40, "x");
    let picked: Vec<f32> = [7, 0, 7]
        .iter()
        .flat_map(|&i| all[i * 4..(i + 1) * 4].to_vec())
        .collect();
    let copied = network
        .run(PlanOptions::eval(3), &[Input::F32(&picked)])
        .unwrap()
        .output(0);
    let gather = |indices| {
        [Input::Gather {
            values: &all,
            indices,
        }]
    };
    let gathered = network
        .run(PlanOptions::eval(3), &gather(&[7, 0, 7]))
        .unwrap()
        .output(0);
    assert_eq!(copied, gathered);
    let error = network
        .run(PlanOptions::eval(3), &gather(&[7, 0, 10]))
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "input x: index 10 is not in 0 to 9");
    let error = network
        .run(PlanOptions::eval(3), &gather(&[7, 0]))
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "input x: expected 12 values for 3 rows, got 8"
    );
}

#[test]
fn micro_batches_add_up_to_one_batch() {
    let text = ROWS
        .replace(": integer(8, 4)", "")
        .replace(", weight, bias", "");
    let (x, y) = (normals(32, "x"), [0, 1, 2, 0, 1, 2, 0, 1]);
    let kind = OptimizerKind::Sgd {
        momentum: 0.9,
        nesterov: true,
        weight_decay: 0.0,
    };
    let train = |parts: usize| {
        let mut network = Network::new(graph(&text), 1).unwrap();
        let mut optimizer = Optimizer::new(kind, 0.1, network.state());
        let rows = y.len() / parts;
        for (x, y) in x.chunks(rows * 4).zip(y.chunks(rows)) {
            network.accumulate(&[Input::F32(x)], y, rows).unwrap();
        }
        network.update(&mut optimizer, parts);
        network
            .state()
            .iter()
            .flat_map(|(_, values)| values.to_vec())
            .collect::<Vec<f32>>()
    };
    let (whole, parts) = (train(1), train(4));
    assert!(
        whole.iter().zip(&parts).all(|(a, b)| (a - b).abs() < 1e-6),
        "{whole:?} {parts:?}"
    );
}

#[test]
fn a_plan_that_keeps_its_inputs_runs_again_to_the_same_bits() {
    let mut graph = Graph::parse(
        "graph \"kept\" {\n x: f32[N, 6] = placeholder\n a = relu(x) { target = \"a\", inplace = true }\n b = linear(a: integer(8, 4)) { target = \"b\", \
         in_features = 6, out_features = 6 }\n c = batch_norm1d(b) { target = \"c\", num_features = 6 }\n d = relu(c) { target = \"d\" }\n return d\n}",
    )
    .unwrap();
    graph.initialize(1);
    let verified = verify(&graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let x: Vec<f32> = (0..60).map(|k| (k as f32 * 0.37).sin() * 3.0).collect();
    let pool = Pool::new(1);
    let mut options = PlanOptions::eval(10);
    let mut plain = compile(&verified, &state, options.clone()).unwrap();
    plain.forward(&mut state, &[Input::F32(&x)], &pool).unwrap();
    assert_eq!(
        plain.forward_again(&mut state, &pool),
        Err(EngineError::InputsNotStored)
    );
    options.observe.push(Port {
        node: verified.placeholders()[0],
        port: "data_out_0".to_owned(),
    });
    let mut kept = compile(&verified, &state, options).unwrap();
    kept.forward(&mut state, &[Input::F32(&x)], &pool).unwrap();
    for _ in 0..3 {
        kept.forward_again(&mut state, &pool).unwrap();
        assert_eq!(kept.output(0), plain.output(0));
    }
}

#[test]
fn indices_can_be_gathered_from_all_rows() {
    let text = r#"graph "words" {
  ids: i64[N, 2] = placeholder
  mask: f32[N, 2] = placeholder
  words = embedding(ids) { target = "words", num_embeddings = 9, embedding_dim = 1 }
  flat = view(words) { shape = [N, 2] }
  sum = add(flat, mask)
  return sum
}"#;
    let mut network = Network::new(graph(text), 1).unwrap();
    let ids: Vec<i64> = vec![0, 1, 2, 3, 4, 9, 6, 7];
    let mask = normals(8, "mask");
    let run = |network: &mut Network, rows: &[u32]| {
        let arrays = [Elements::I64(&ids), Elements::F32(&mask)];
        let options = PlanOptions::eval(rows.len());
        let plan = network.run(options, &engine::gather(arrays, rows))?;
        Ok::<_, EngineError>(plan.output(0))
    };
    let picked = [
        Input::I64(&[6, 7, 0, 1]),
        Input::F32(&[mask[6], mask[7], mask[0], mask[1]]),
    ];
    let plan = network.run(PlanOptions::eval(2), &picked).unwrap();
    let copied = plan.output(0);
    assert_eq!(run(&mut network, &[3, 0]).unwrap(), copied);
    let error = run(&mut network, &[3, 2]).unwrap_err();
    assert_eq!(error.to_string(), "input ids: index 9 is not in 0 to 8");
    let error = run(&mut network, &[3, 4]).unwrap_err();
    assert_eq!(error.to_string(), "input ids: index 4 is not in 0 to 3");
}

#[test]
fn a_plan_larger_than_memory_is_refused_with_the_node() {
    let text = r#"graph "padded" {
  x: f32[N, 1, 28, 28] = placeholder
  wide = conv2d(x) { in_channels = 1, out_channels = 8, kernel_size = [3, 3], padding = [100000, 100000] }
  last = relu(wide)
  return last
}"#;
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(0);
    let mut network = Network::new(graph, 1).unwrap();
    let error = network.run(PlanOptions::eval(2), &[Input::F32(&[0.0; 2 * 784])]);
    let message = error.err().unwrap().to_string();
    assert!(
        message.starts_with("wide: its result for 2 rows takes 2560.7 GB, and the whole network "),
        "{message}"
    );
    assert!(
        message.ends_with("use a smaller batch or a smaller network"),
        "{message}"
    );
}

/// A chain of nodes, each of which reads the one before.
#[test]
fn a_hundred_thousand_nodes_are_planned() {
    let mut text = "graph \"deep\" {\n  x: f32[N, 1] = placeholder\n  r0 = relu(x)\n".to_owned();
    for i in 1..100_000 {
        writeln!(text, "  r{i} = relu(r{})", i - 1).unwrap();
    }
    text += "  return r99999\n}\n";
    let mut network = Network::new(Graph::parse(&text).unwrap(), 1).unwrap();
    let plan = network
        .run(PlanOptions::eval(1), &[Input::F32(&[0.5])])
        .unwrap();
    plan.for_each_output(0, |output| assert_eq!(output, [0.5]));
    assert!(plan.arena_len() < 100, "{}", plan.arena_len());
}

#[test]
fn an_operator_of_another_program_is_named_instead_of_run() {
    let node = |k| {
        format!("y{k} = opaque(x) {{ operator = \"Own\", version = 1, results = [\"f32[N, 4]\"] }}")
    };
    let nodes: Vec<String> = (0..7).map(node).collect();
    let nodes = nodes.join(" ");
    let text = format!("graph \"t\" {{ x: f32[N, 4] = placeholder {nodes} return y6 }}");
    let graph = Graph::parse(&text).unwrap();
    let error = State::new(&verify(&graph).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "y0 (Own), y1 (Own), y2 (Own), y3 (Own), y4 (Own) and 2 more nodes cannot run: no such operator is known here; \
         the network can be shown, counted and written, but not computed"
    );
}

#[test]
fn a_run_whose_flag_is_set_is_given_up_and_the_next_one_is_whole() {
    // Weights of the second are enough to be prepared on all threads.
    let wide = r#"graph "wide" {
  x: f32[N, 768] = placeholder
  a = linear(x) { target = "a", in_features = 768, out_features = 512 }
  b = relu(a)
  c = linear(b) { target = "c", in_features = 512, out_features = 768 }
  return c
}"#;
    for text in [PICTURES, wide] {
        given_up_and_run(text);
    }
}

fn given_up_and_run(text: &str) {
    let x = normals(9 * 768, "interrupted");
    let options = PlanOptions::eval(9);
    let inputs = [Input::F32(&x)];
    let mut network = Network::new(graph(text), 2).unwrap();
    let expected = network.run(options.clone(), &inputs).unwrap().output(0);
    let mut network = Network::new(graph(text), 2).unwrap();
    let stop = AtomicBool::new(true);
    let stopped = network.run_until(options.clone(), &inputs, &stop);
    assert_eq!(stopped.err(), Some(EngineError::Interrupted));
    stop.store(false, Ordering::Relaxed);
    let again = network.run_until(options, &inputs, &stop).unwrap();
    assert_eq!(again.output(0), expected);
}

#[test]
fn integers_are_given_up_too() {
    let graph = graph(ROWS);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let mut plan = IntegerPlan::compile(&verified, &state, 2).unwrap();
    let x = normals(8, "interrupted integers");
    let stopped = plan.run_until(&[Input::F32(&x)], &AtomicBool::new(true));
    assert_eq!(
        stopped.err().map(|error| error.to_string()).as_deref(),
        Some("the run was interrupted")
    );
    assert!(plan.run(&[Input::F32(&x)]).is_ok());
}
