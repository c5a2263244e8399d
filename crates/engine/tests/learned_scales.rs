//! Learned scales: what they compute is an ordinary format's, their gradient that of the smooth form, and nothing of it
//! depends on threads.
#![expect(clippy::unwrap_used, reason = "what cannot be made must fail the test")]

use engine::{Input, LearnScales, Network, Optimizer, OptimizerKind, PlanOptions};
use format::{Format, StoredArray};
use ir::Graph;
use random::Random;

const ROWS: usize = 96;

/// Two layers with formats of this kind on inputs and weights.
fn graph(data: &str, weight: &str) -> Graph {
    let text = format!(
        "graph \"net\" {{
           x: f32[N, 6] = placeholder
           a = linear(x: {data}) {{ in_features = 6, out_features = 8, weight: {weight}, bias: {data} }}
           r = relu(a)
           b = linear(r: {data}) {{ in_features = 8, out_features = 3, weight: {weight} }}
           return b
         }}"
    );
    let mut graph = Graph::parse(&text).unwrap();
    graph.initialize(3);
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        let Some(shape) = node.params.get("weight").map(|w| w.shape().to_vec()) else {
            continue;
        };
        let format = node.formats.get_mut("weight").unwrap();
        let fields: Vec<&str> = format
            .stored_fields()
            .iter()
            .map(|(name, _)| *name)
            .collect();
        for field in fields {
            let value = if field == "scale" { 0.09 } else { 4.0 };
            let values = (0..shape[0])
                .map(|k| value + (k % 2) as f32 * value)
                .collect();
            let shape = vec![shape[0]];
            *format = format
                .with_stored(field, StoredArray { shape, values })
                .unwrap();
        }
    }
    graph
}

fn rows() -> (Vec<f32>, Vec<u32>) {
    let random = Random::new(1, "rows");
    let x = (0..ROWS * 6).map(|k| random.normal(k as u64)).collect();
    let labels = (0..ROWS).map(|k| (k % 3) as u32).collect();
    (x, labels)
}

const CASES: [(LearnScales, &str, &str); 4] = [
    (LearnScales::PowerOfTwo, "integer(4, 2)", "integer(4, 3)"),
    (
        LearnScales::PowerOfTwo,
        "integer(4, 2)",
        "integer(4, stored, axis = 0)",
    ),
    (LearnScales::Real, "affine(4, 0.21)", "affine(4, 0.11)"),
    (
        LearnScales::Real,
        "affine(4, 0.21)",
        "affine(4, stored, axis = 0)",
    ),
];

fn trained(case: (LearnScales, &str, &str), threads: usize, steps: usize) -> Network {
    let (learn, data, weight) = case;
    let mut network = Network::learning(graph(data, weight), learn, threads).unwrap();
    let kind = OptimizerKind::Adam { weight_decay: 0.0 };
    let mut optimizer = Optimizer::new(kind, 0.05, network.state());
    let (x, labels) = rows();
    for _ in 0..steps {
        let step = network.train_step(&[Input::F32(&x)], &labels, ROWS, &mut optimizer);
        assert!(step.unwrap().loss.is_finite());
    }
    network
}

fn answers(network: &mut Network) -> Vec<f32> {
    let (x, _) = rows();
    let plan = network
        .run(PlanOptions::eval(ROWS), &[Input::F32(&x)])
        .unwrap();
    plan.output(0)
}

#[test]
fn what_was_learned_is_an_ordinary_format() {
    for case in CASES {
        let mut network = trained(case, 1, 30);
        let before = graph(case.1, case.2);
        let after = network.to_graph();
        let scales: Vec<f32> = network
            .state()
            .scales()
            .flat_map(|(_, v)| v.to_vec())
            .collect();
        assert!(scales.len() >= 5, "{case:?}");
        assert_ne!(
            after.to_string() + &format!("{:?}", after.stored_fields()),
            before.to_string() + &format!("{:?}", before.stored_fields()),
            "{case:?}"
        );
        let mut plain = Network::new(after, 1).unwrap();
        assert_eq!(answers(&mut network), answers(&mut plain), "{case:?}");
    }
}

#[test]
fn learning_is_the_same_on_any_number_of_threads() {
    for case in CASES {
        let [one, two] = [1, 2].map(|threads| trained(case, threads, 12).to_graph());
        assert_eq!(one, two, "{case:?}");
    }
}

#[test]
fn without_learning_formats_stay() {
    for (_, data, weight) in CASES {
        let network = trained((LearnScales::Fixed, data, weight), 1, 5);
        assert_eq!(network.state().scales().count(), 0);
        assert_eq!(
            network.to_graph().to_string(),
            graph(data, weight).to_string()
        );
    }
}

/// Where every weight saturates, the network is a smooth function of the scale, and its loss has a true difference.
#[test]
fn the_gradient_of_a_saturated_scale_is_that_of_the_loss() {
    let text = "graph \"one\" {
      x: f32[N, 4] = placeholder
      y = linear(x) { in_features = 4, out_features = 3, bias = false, weight: affine(3, 0.002, narrow = true) }
      return y
    }";
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(5);
    let (x, labels) = rows();
    let (x, labels) = (&x[..64 * 4], &labels[..64]);
    let loss = |scale: f32| {
        let mut graph = graph.clone();
        let spec = format!("affine(3, {scale}, narrow = true)");
        let format = Format::parse(&spec).unwrap();
        let id = graph.iter().nth(1).unwrap().0;
        graph
            .node_mut(id)
            .formats
            .insert("weight".to_owned(), format);
        let mut network = Network::new(graph, 1).unwrap();
        network.evaluate(&[Input::F32(x)], labels, 64).unwrap().loss
    };
    let weights = graph.parameters().next().unwrap().1.values().to_vec();
    assert!(weights.iter().all(|w| w.abs() > 0.0075), "{weights:?}");
    // The update of plain gradient descent tells the gradient.
    let mut network = Network::learning(graph.clone(), LearnScales::Real, 1).unwrap();
    let kind = OptimizerKind::Sgd {
        momentum: 0.0,
        nesterov: false,
        weight_decay: 0.0,
    };
    let rate = 1e3;
    let mut optimizer = Optimizer::new(kind, rate, network.state());
    let log2 = |network: &Network| network.state().scales().next().unwrap().1[0];
    let before = log2(&network);
    network
        .train_step(&[Input::F32(x)], labels, 64, &mut optimizer)
        .unwrap();
    let gradient = f64::from(before - log2(&network)) / rate;
    let factor = 1.0 / (12f64 * 3.0).sqrt();
    let step = 0.02_f64;
    let difference = (loss((0.002 * (1.0 + step)) as f32) - loss((0.002 * (1.0 - step)) as f32))
        / ((1.0 + step).log2() - (1.0 - step).log2());
    let want = difference * factor;
    assert!(
        (gradient - want).abs() < 0.02 * want.abs() + 1e-6,
        "{gradient} {want}"
    );
}
