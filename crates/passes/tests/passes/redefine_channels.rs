//! Other numbers of channels: every network of the zoo, every group of its layers.

use crate::network::{model, run, try_run};
use ir::{Graph, Type, verify};
use models::MODELS;
use passes::transform::redefine_channels::ChannelGroups;

fn empty(name: &str) -> Graph {
    models::build(name, &models::ModelInfo::default()).unwrap()
}

fn groups(graph: &Graph) -> ChannelGroups {
    ChannelGroups::new(&verify(graph).unwrap())
}

/// The types of what a network returns.
fn returned(graph: &Graph) -> Vec<Type> {
    let verified = verify(graph).unwrap();
    let values = verified.output_values().iter();
    values.map(|&value| verified.ty(value).clone()).collect()
}

/// The network with some of its groups multiplied.
fn resized(graph: &Graph, multiplier: f64, is_chosen: impl Fn(usize) -> bool) -> Graph {
    let groups = groups(graph);
    let all = groups.groups.iter().enumerate();
    let multipliers: Vec<f64> = all
        .map(|(k, group)| {
            if group.fixed.is_none() && is_chosen(k) {
                multiplier
            } else {
                1.0
            }
        })
        .collect();
    groups.resized(graph, &multipliers).unwrap()
}

#[test]
fn any_group_of_any_network_can_be_doubled_and_halved_again() {
    for entry in MODELS {
        let graph = empty(entry.name);
        let count = groups(&graph).groups.len();
        let one = |wanted: usize| move |k: usize| k == wanted;
        for wanted in 0..count {
            let double = resized(&graph, 2.0, one(wanted));
            assert_eq!(returned(&double), returned(&graph), "{}", entry.name);
            let is_fixed = groups(&graph).groups[wanted].fixed.is_some();
            assert_eq!(double == graph, is_fixed, "{} {wanted}", entry.name);
            assert_eq!(resized(&double, 0.5, one(wanted)), graph, "{}", entry.name);
        }
        let double = resized(&graph, 2.0, |_| true);
        assert_eq!(returned(&double), returned(&graph), "{}", entry.name);
        assert_eq!(resized(&double, 0.5, |_| true), graph, "{}", entry.name);
    }
}

/// Groups that can change, and those that cannot.
#[test]
fn layers_that_are_joined_are_one_group() {
    for (name, free, fixed) in [
        ("jsc-tiny", 0, 1),
        ("jsc-toy", 2, 1),
        ("toy_convnet", 4, 1),
        ("vgg7", 8, 1),
        // The stem with the second convolutions of the first stage, those of the others, eight first ones.
        ("resnet18", 12, 1),
        // A stage is one group: its blocks add their inputs.
        ("repvgg_A0", 5, 1),
        // Only what lies inside of a block's perceptron; the others are added to embeddings or cut into heads.
        ("transformer", 2, 7),
        ("bert-tiny", 2, 11),
    ] {
        let groups = groups(&empty(name)).groups;
        let found = groups.iter().filter(|group| group.fixed.is_none()).count();
        assert_eq!(
            (found, groups.len() - found),
            (free, fixed),
            "{name}: {groups:#?}"
        );
    }
}

#[test]
fn a_wider_network_is_the_one_that_is_built_wider() {
    let mut graph = model("jsc-toy", 3);
    let rule = "name = \"both\"\nchannel_multiplier = 4\n";
    let passes = format!("[redefine_channels.linear.config]\n{rule}");
    run(&mut graph, None, 3, &passes);
    let text = empty("jsc-toy").to_string();
    let wider = ["in_features = ", "out_features = ", "num_features = "]
        .iter()
        .fold(text, |text, key| {
            text.replace(&format!("{key}8"), &format!("{key}32"))
        });
    let mut wider = Graph::parse(&wider).unwrap();
    wider.initialize(3);
    assert_eq!(graph.to_string(), wider.to_string());
    assert!(graph == wider, "weights start as those of a new network");
}

#[test]
fn other_layers_keep_their_weights() {
    let before = model("jsc-toy", 3);
    let mut graph = before.clone();
    let passes = "[redefine_channels]\nby = \"name\"\n\
                  seq_blocks_2.config = { name = \"both\", channel_multiplier = 2 }\n";
    run(&mut graph, None, 9, passes);
    for (old, new) in before.nodes().iter().zip(graph.nodes()) {
        let is_changed = ["seq_blocks_2", "seq_blocks_3", "seq_blocks_5"].contains(&&*old.name);
        assert_eq!(old.op != new.op, is_changed, "{}", old.name);
        assert!(is_changed || old.params == new.params, "{}", old.name);
    }
}

#[test]
fn a_network_that_is_refused_stays_as_it_was() {
    let before = model("jsc-toy", 3);
    let mut graph = before.clone();
    let passes = "[redefine_channels]\nby = \"name\"\n\
                  seq_blocks_2.config = { name = \"both\", channel_multiplier = 2 }\n\
                  seq_blocks_8.config = { name = \"both\", channel_multiplier = 2 }\n";
    let error = try_run(&mut graph, None, 0, passes).err().unwrap();
    assert!(error.to_string().contains("seq_blocks_8"), "{error}");
    assert_eq!(graph, before);
}

#[test]
fn what_is_known_of_inputs_goes_where_their_channels_change() {
    let mut graph = model("jsc-toy", 3);
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        let found = serde_json::Map::from_iter([("count".to_owned(), 1.into())]);
        node.statistics.insert("data_in_0".to_owned(), found);
    }
    // The second layer gives the channels that the norm and the activation behind it and the third layer read.
    let groups = groups(&graph);
    let wider = groups.of(graph.find("seq_blocks_2").unwrap()).unwrap();
    let resized = resized(&graph, 2.0, |k| k == wider);
    let emptied: Vec<&str> = resized
        .nodes()
        .iter()
        .filter(|node| node.statistics.is_empty())
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(
        emptied,
        [
            "seq_blocks_2",
            "seq_blocks_3",
            "seq_blocks_4",
            "seq_blocks_5"
        ]
    );
}

/// The rows of a product are those of its left operand, here the channels of `b`.
#[test]
fn channels_are_followed_through_a_product_of_two_layers() {
    let text = "graph \"g\" { x: f32[N, 3, 4] = placeholder
        a = linear(x) { in_features = 4, out_features = 6 }
        b = linear(x) { in_features = 4, out_features = 6 }
        t = transpose(b) { dim0 = 1, dim1 = 2 }
        m = matmul(t, a)
        u = transpose(m) { dim0 = 1, dim1 = 2 }
        fc = linear(u) { in_features = 6, out_features = 2 }
        r = mean(fc) { dim = [1] }
        return r }";
    let graph = Graph::parse(text).unwrap();
    let groups = groups(&graph);
    for (layer, changed) in [("b", [4, 6, 4, 12, 12, 2]), ("a", [4, 12, 4, 6, 6, 2])] {
        let group = groups.of(graph.find(layer).unwrap()).unwrap();
        let wider = resized(&graph, 2.0, |k| k == group);
        let sizes = wider.nodes().iter().filter_map(|node| match &node.op {
            ir::Op::Linear(op) => Some([op.in_features, op.out_features]),
            _ => None,
        });
        assert_eq!(sizes.collect::<Vec<_>>().concat(), changed, "{layer}");
        assert_eq!(returned(&wider), returned(&graph), "{layer}");
    }
}
