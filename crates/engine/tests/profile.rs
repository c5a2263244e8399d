//! Laws of profiles: nothing that is computed depends on them, their rows add up, every node is in one of them, and the events
//! of a thread follow one another.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Input, Network, Optimizer, OptimizerKind, Part, Profile, Subject};
use ir::Graph;
use random::Random;
use std::collections::BTreeMap;
use std::time::Duration;

/// Fused and rounded nodes, a norm over the whole batch, a reshape without a step: enough work for several shards.
const PICTURES: &str = r#"graph "pictures" {
  x: f32[N, 3, 16, 16] = placeholder
  c1 = conv2d(x) { target = "c1", in_channels = 3, out_channels = 16, kernel_size = 3, padding = 1 }
  b1 = batch_norm2d(c1) { target = "b1", num_features = 16 }
  r1 = relu(b1) { target = "r1" }
  c2 = conv2d(r1: integer(8, 4)) { target = "c2", in_channels = 16, out_channels = 16, kernel_size = 3, padding = 1 }
  r2 = relu(c2)
  s = add(r2, r1)
  p = max_pool2d(s) { kernel_size = 2 }
  f = flatten(p) { start_dim = 1 }
  l = linear(f) { target = "l", in_features = 1024, out_features = 10 }
  return l
}"#;

const ROWS: usize = 61;
const BATCHES: u64 = 5;

/// The parameters after some batches, in micro-batches of which two make an update or each one does, and the profile if it
/// is asked for.
fn train(threads: usize, accumulate: bool, is_profiled: bool) -> (Vec<u32>, Option<Profile>) {
    let mut graph = Graph::parse(PICTURES).unwrap_or_else(|errors| panic!("{errors}"));
    graph.initialize(1);
    let mut network = Network::new(graph, threads).unwrap();
    let kind = OptimizerKind::Adam { weight_decay: 0.0 };
    let mut optimizer = Optimizer::new(kind, 1e-2, network.state());
    let random = Random::new(2, "x");
    let x: Vec<f32> = (0..ROWS as u64 * 768).map(|k| random.normal(k)).collect();
    let labels: Vec<u32> = (0..ROWS as u32).map(|row| row % 10).collect();
    if is_profiled {
        network.start_profile();
    }
    for batch in 0..BATCHES {
        network.profiler().begin_batch();
        let inputs = [Input::F32(&x)];
        if accumulate {
            network.accumulate(&inputs, &labels, ROWS).unwrap();
            if batch % 2 == 1 {
                network.update(&mut optimizer, 2);
            }
        } else {
            let step = network.train_step(&inputs, &labels, ROWS, &mut optimizer);
            step.unwrap();
        }
        network.profiler().end_batch();
        // No part of the training.
        network.evaluate(&inputs, &labels, ROWS).unwrap();
    }
    let profile = network.take_profile();
    assert_eq!(network.take_profile(), None);
    let values = network.state().iter().flat_map(|(_, values)| values);
    (values.map(|value| value.to_bits()).collect(), profile)
}

fn profile(threads: usize, accumulate: bool) -> Profile {
    train(threads, accumulate, true).1.unwrap()
}

/// Threads, and true where gradients of batches are collected.
const KINDS: [(usize, bool); 4] = [(1, false), (1, true), (2, false), (3, true)];

/// All kinds of trainings.
fn profiles() -> Vec<Profile> {
    let profile = |(threads, accumulate)| profile(threads, accumulate);
    KINDS.map(profile).into()
}

#[test]
fn a_profile_changes_no_bit() {
    for (threads, accumulate) in [(1, false), (3, false), (2, true)] {
        let (weights, none) = train(threads, accumulate, false);
        let (profiled, profile) = train(threads, accumulate, true);
        assert!(none.is_none() && profile.is_some());
        assert!(weights == profiled, "{threads} threads, {accumulate}");
    }
}

#[test]
fn the_rows_add_up_to_the_time_of_all_batches() {
    for profile in profiles() {
        assert_eq!(profile.batches, BATCHES);
        let rows: Duration = profile.rows.iter().map(|row| row.total).sum();
        assert_eq!(rows, profile.total);
        assert!(profile.total > Duration::ZERO);
        for row in &profile.rows {
            let is_node = matches!(row.subject, Subject::Nodes { .. });
            let passes = row.forward + row.backward;
            assert_eq!(passes, if is_node { row.total } else { Duration::ZERO });
        }
    }
}

#[test]
fn every_node_is_in_one_row_and_fused_ones_share_it() {
    for profile in profiles() {
        let groups = profile.rows.iter().filter_map(|row| match &row.subject {
            Subject::Nodes { names, operators } => Some((names.join(" + "), operators.join(" + "))),
            _ => None,
        });
        let (names, operators): (Vec<_>, Vec<_>) = groups.unzip();
        assert_eq!(
            names,
            [
                "x", "c1", "b1 + r1", "c2 + r2", "s", "p", "f", "l", "output"
            ]
        );
        assert_eq!(operators[2..4], ["batch_norm2d + relu", "conv2d + relu"]);
    }
}

/// What costs time has some, in each pass that it has.
#[test]
fn time_is_counted_where_it_is_spent() {
    for (profile, (_, accumulate)) in profiles().into_iter().zip(KINDS) {
        let of = |subject: &str| {
            let is_it = |row: &&engine::ProfileRow| match &row.subject {
                Subject::Nodes { names, .. } => names[0] == subject,
                other => format!("{other:?}") == subject,
            };
            profile.rows.iter().find(is_it).unwrap()
        };
        for node in ["c1", "b1", "c2", "s", "p", "l"] {
            assert!(of(node).forward > Duration::ZERO, "{node}");
            assert!(of(node).backward > Duration::ZERO, "{node}");
        }
        for part in ["Data", "Compile", "Loss", "Optimizer", "Other"] {
            assert!(of(part).total > Duration::ZERO, "{part}");
        }
        // An update adds up the gradients of shards by itself.
        assert_eq!(of("Gradients").total > Duration::ZERO, accumulate);
        // A reshape takes no step, and rows are copied before the forward pass.
        for node in ["x", "f", "output"] {
            assert_eq!(of(node).total, Duration::ZERO, "{node}");
        }
        let waits = profile.rows.iter().any(|r| r.subject == Subject::Waiting);
        assert_eq!(waits, profile.threads > 1);
        assert!(!waits || of("Waiting").total > Duration::ZERO);
    }
}

#[test]
fn events_of_a_thread_follow_one_another() {
    for profile in profiles() {
        let mut ends: BTreeMap<usize, Duration> = BTreeMap::new();
        for event in &profile.events {
            let end = ends.entry(event.thread).or_default();
            assert!(*end <= event.start, "{event:?} begins before {end:?}");
            *end = event.start + event.length;
            assert!(event.batch < BATCHES);
        }
        let threads: Vec<usize> = ends.into_keys().collect();
        match profile.threads {
            1 => assert_eq!(threads, [0]),
            n => {
                assert!(threads.iter().all(|thread| *thread <= n), "{threads:?}");
                assert!(threads.len() > 1, "{threads:?}");
            }
        }
        for event in &profile.events {
            let row = profile.row_of(event);
            match (event.part, &row.subject) {
                (Part::Forward(_) | Part::Backward(_), subject) => {
                    assert!(matches!(subject, Subject::Nodes { .. }), "{event:?}");
                }
                (part, subject) => assert_eq!(format!("{part:?}"), format!("{subject:?}")),
            }
            assert!(row.total > Duration::ZERO);
        }
    }
}

/// Forward passes in evaluation are measured apart from training, and every node is in one of the rows.
#[test]
fn a_forward_profile_has_all_nodes_and_no_backward_pass() {
    let mut graph = Graph::parse(PICTURES).unwrap_or_else(|errors| panic!("{errors}"));
    graph.initialize(1);
    let names: Vec<String> = graph.nodes().iter().map(|node| node.name.clone()).collect();
    let mut network = Network::new(graph, 1).unwrap();
    let x = vec![0.5; ROWS * 768];
    let profile = network.forward_profile(&[Input::F32(&x)], ROWS, 3).unwrap();
    assert_eq!(profile.batches, 3);
    let mut seen: Vec<String> = Vec::new();
    for row in &profile.rows {
        assert_eq!(row.backward, Duration::ZERO);
        if let Subject::Nodes { names, .. } = &row.subject {
            seen.extend_from_slice(names);
        }
    }
    seen.sort();
    let mut expected = names;
    expected.sort();
    assert_eq!(seen, expected);
    let forward: Duration = profile.rows.iter().map(|row| row.forward).sum();
    assert!(forward > Duration::ZERO);
    assert_eq!(network.take_profile(), None);
}
