//! Laws over the table of models: a new entry is held by them without new test code.

use ir::{Graph, Op, ParamRole};
use models::{Classes, MODELS, ModelError, ModelInfo, build, default_input, find};

fn graph(name: &str) -> Graph {
    build(name, &ModelInfo::default()).expect("a model builds with its defaults")
}

#[test]
fn every_model_builds_and_parses_back_from_its_text() {
    for entry in MODELS {
        let graph = graph(entry.name);
        assert_eq!(graph.name, entry.name);
        assert_eq!(
            Graph::parse(&graph.to_string()).unwrap(),
            graph,
            "{}",
            entry.name
        );
    }
}

/// The counts in the table were taken from the same layers in PyTorch 2.6, that of `mobilenetv3_small` from torchvision's table;
/// those of `lfc`, `cnv`, `vgg_tiny` and `repvgg_A0` follow from the published lists of layers.
#[test]
fn every_model_has_the_published_number_of_parameters() {
    for entry in MODELS {
        let count = graph(entry.name).trained_parameter_count();
        assert_eq!(count, entry.parameters, "{}", entry.name);
    }
}

#[test]
fn every_name_and_alias_finds_its_own_model() {
    for entry in MODELS {
        for name in [entry.name].iter().chain(entry.aliases) {
            assert_eq!(find(name).unwrap().name, entry.name);
            assert_eq!(
                find(&name.replace('-', "_").to_uppercase()).unwrap().name,
                entry.name
            );
        }
    }
}

/// As in PyTorch, where one segment and no padding are the defaults.
#[test]
fn only_the_masks_and_segments_of_bert_may_be_left_out() {
    let mut found = Vec::new();
    for entry in MODELS {
        for node in graph(entry.name).nodes() {
            let value = default_input(entry.name, &node.name);
            found.extend(value.map(|value| (entry.name, node.name.clone(), value)));
        }
    }
    let expected = [("token_type_ids", 0), ("attention_mask", 1)]
        .map(|(input, value)| ("bert-tiny", input.to_owned(), value));
    found.sort_by_key(|input| input.2);
    assert_eq!(found, expected);
    assert_eq!(default_input("lenet", "attention_mask"), None);
}

#[test]
fn every_target_is_the_name_with_dots() {
    for entry in MODELS {
        for node in graph(entry.name).nodes() {
            let stem = node.target.replace('.', "_");
            assert!(
                node.name.starts_with(&stem),
                "{}: {} {}",
                entry.name,
                node.name,
                node.target
            );
        }
    }
}

#[test]
fn classes_are_the_last_axis_of_the_result() {
    for entry in MODELS {
        let default = match entry.classes {
            Classes::Any(default) => default,
            Classes::Optional => 2,
            Classes::Only(_) => continue,
        };
        for classes in [default, 7] {
            let info = ModelInfo {
                classes: Some(classes),
                ..ModelInfo::default()
            };
            let graph = build(entry.name, &info).unwrap();
            let verified = ir::verify(&graph).unwrap();
            let result = verified.ty(verified.output_values()[0]);
            assert_eq!(
                result.shape.0.last().unwrap().fixed(),
                Some(classes),
                "{}",
                entry.name
            );
        }
    }
}

/// Same seed, same bits; another seed, other bits; weights stay within `±1/√fan_in` and fill that range.
#[test]
fn every_model_starts_reproducibly_and_in_range() {
    for entry in MODELS {
        let mut first = graph(entry.name);
        let (mut same, mut other) = (first.clone(), first.clone());
        first.initialize(7);
        same.initialize(7);
        other.initialize(8);
        assert_eq!(first, same, "{}", entry.name);
        for ((a, b), name) in first
            .nodes()
            .iter()
            .zip(other.nodes())
            .map(|pair| (pair, &pair.0.name))
        {
            let Some(fan_in) = fan_in(&a.op) else {
                continue;
            };
            let (a, b) = (a.params["weight"].values(), b.params["weight"].values());
            assert_ne!(a, b, "{}: {name}", entry.name);
            let bound = 1.0 / (fan_in as f32).sqrt();
            let largest = a.iter().fold(0.0_f32, |most, w| most.max(w.abs()));
            assert!(
                largest <= bound,
                "{}: {name}: {largest} {bound}",
                entry.name
            );
            assert!(
                a.len() < 64 || largest > 0.8 * bound,
                "{}: {name}: {largest} {bound}",
                entry.name
            );
        }
    }
}

fn fan_in(op: &Op) -> Option<usize> {
    match op {
        Op::Linear(op) => Some(op.in_features),
        Op::Conv1d(op) => Some(op.group_channels() * op.kernel_size.iter().product::<usize>()),
        Op::Conv2d(op) => Some(op.group_channels() * op.kernel_size.iter().product::<usize>()),
        _ => None,
    }
}

/// Dotted names as `state_dict()` has them, buffers included.
#[test]
fn parameters_are_named_as_in_pytorch() {
    struct Case {
        model: &'static str,
        names: &'static [&'static str],
    }
    #[rustfmt::skip]
    let cases = [
        Case { model: "jsc-tiny", names: &["seq_blocks.0.running_var", "seq_blocks.2.weight", "seq_blocks.2.bias"] },
        Case { model: "jsc-s", names: &["module_list.0.weight", "module_list.11.weight", "module_list.12.running_mean"] },
        Case { model: "jsc-trt", names: &["seq_blocks.9.weight", "seq_blocks.13.running_var"] },
        Case { model: "jsc-lab1", names: &["seq_blocks.2.weight", "seq_blocks.11.weight", "seq_blocks.12.bias"] },
        Case { model: "toy", names: &["seq_blocks.0.weight", "seq_blocks.4.bias"] },
        Case { model: "toy_convnet", names: &["block_1.0.weight", "block_3.0.weight", "linear.bias"] },
        Case { model: "lenet5", names: &["conv1.weight", "conv2.bias", "fc1.weight", "fc3.bias"] },
        Case { model: "lfc", names: &["seq_blocks.0.weight", "seq_blocks.7.running_mean", "seq_blocks.8.bias", "seq_blocks.9.running_var"] },
        Case { model: "cnv", names: &["seq_blocks.0.bias", "seq_blocks.3.running_var", "seq_blocks.5.weight", "seq_blocks.12.weight", "seq_blocks_1.0.weight", "seq_blocks_1.5.bias"] },
        Case { model: "vgg_tiny", names: &["features.0.weight", "features.2.bias", "features.5.weight", "classifier.0.weight", "classifier.2.bias"] },
        Case { model: "repvgg_A0", names: &["stage0.rbr_dense.conv.weight", "stage0.rbr_1x1.bn.running_var", "stage1.1.rbr_identity.weight", "stage3.13.rbr_1x1.conv.weight", "stage4.0.rbr_dense.bn.bias", "linear.bias"] },
        Case { model: "mobilenetv3_small", names: &["features.0.0.weight", "features.1.block.0.0.weight", "features.1.block.1.fc1.bias", "features.1.block.2.1.running_var", "features.4.block.2.fc2.weight", "features.11.block.3.0.weight", "features.12.1.weight", "classifier.0.weight", "classifier.3.bias"] },
        Case { model: "vgg7", names: &["feature_layers.0.weight", "feature_layers.17.weight", "feature_layers.18.running_var", "classifier.2.weight", "last_layer.bias"] },
        Case { model: "resnet18", names: &["conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight", "layer2.0.downsample.0.weight", "layer4.1.bn2.bias", "fc.bias"] },
        Case { model: "mobilenetv2", names: &["features.0.0.weight", "features.1.conv.0.0.weight", "features.1.conv.2.running_var", "features.2.conv.1.0.weight", "features.17.conv.3.bias", "features.18.1.weight", "classifier.1.weight"] },
        Case { model: "bert-tiny", names: &["embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight", "embeddings.LayerNorm.bias", "encoder.layer.0.attention.self.query.weight", "encoder.layer.1.attention.output.LayerNorm.weight", "encoder.layer.1.intermediate.dense.bias", "encoder.layer.1.output.dense.weight", "pooler.dense.weight"] },
        Case { model: "transformer", names: &["embedding.weight", "positions", "blocks.0.qkv.weight", "blocks.1.f2.bias", "ln.weight", "head.bias"] },
    ];
    for Case { model, names } in cases {
        let mut graph = graph(model);
        graph.initialize(0);
        let known: Vec<String> = graph.parameters().map(|(name, _)| name).collect();
        for name in names {
            assert!(
                known.iter().any(|known| known == name),
                "{model}: {name} is not among {known:?}"
            );
        }
    }
}

/// Strides and paddings show in the multiply-accumulates of one image; torchvision publishes 1.814,
/// 0.301 and 0.057 billion.
#[test]
fn products_are_as_many_as_published() {
    let cases = [
        ("lenet5", 416_520),
        ("resnet18", 1_814_073_344),
        ("mobilenetv2", 300_774_272),
        ("mobilenetv3_small", 56_510_400),
        ("repvgg_A0", 1_512_581_120),
    ];
    for (model, expected) in cases {
        let graph = graph(model);
        let verified = ir::verify(&graph).unwrap();
        let macs: u64 = graph
            .iter()
            .map(|(id, _)| verified.cost(id, 1).unwrap().macs)
            .sum();
        assert_eq!(macs, expected, "{model}");
    }
}

/// Layers whose sizes follow from others, as `state_dict()` shows them.
#[test]
fn parameters_have_pytorch_s_shapes() {
    struct Case {
        model: &'static str,
        count: usize,
        shapes: &'static [(&'static str, &'static [usize])],
    }
    #[rustfmt::skip]
    let cases = [
        Case { model: "vgg_tiny", count: 10, shapes: &[("features.0.weight", &[10, 3, 3, 3]), ("features.5.weight", &[8, 10, 3, 3]), ("classifier.0.weight", &[32, 512])] },
        Case { model: "lfc", count: 30, shapes: &[("seq_blocks.0.weight", &[256, 784]), ("seq_blocks.6.weight", &[256, 256]), ("seq_blocks.8.weight", &[10, 256]), ("seq_blocks.9.weight", &[10])] },
        Case { model: "cnv", count: 54, shapes: &[("seq_blocks.0.weight", &[64, 3, 3, 3]), ("seq_blocks.7.weight", &[128, 128, 3, 3]), ("seq_blocks_1.0.weight", &[512, 256]), ("seq_blocks_1.4.weight", &[10, 512])] },
        Case { model: "repvgg_A0", count: 290, shapes: &[("stage0.rbr_1x1.conv.weight", &[48, 3, 1, 1]), ("stage1.0.rbr_dense.conv.weight", &[48, 48, 3, 3]), ("stage3.0.rbr_dense.conv.weight", &[192, 96, 3, 3]), ("stage3.1.rbr_identity.weight", &[192]), ("stage4.0.rbr_1x1.bn.weight", &[1280]), ("linear.weight", &[1000, 1280])] },
        Case { model: "mobilenetv3_small", count: 210, shapes: &[("features.0.0.weight", &[16, 3, 3, 3]), ("features.1.block.0.0.weight", &[16, 1, 3, 3]), ("features.1.block.1.fc1.weight", &[8, 16, 1, 1]), ("features.4.block.2.fc1.weight", &[24, 96, 1, 1]), ("features.8.block.2.fc2.weight", &[144, 40, 1, 1]), ("features.9.block.1.0.weight", &[288, 1, 5, 5]), ("features.12.0.weight", &[576, 96, 1, 1]), ("classifier.0.weight", &[1024, 576])] },
    ];
    for case in cases {
        let Case {
            model,
            count,
            shapes,
        } = case;
        let mut graph = graph(model);
        graph.initialize(0);
        assert_eq!(graph.parameters().count(), count, "{model}");
        for (name, shape) in shapes {
            let found = graph.parameters().find(|(known, _)| known == name);
            let (_, tensor) = found.unwrap_or_else(|| panic!("{model} has no {name}"));
            assert_eq!(tensor.shape(), *shape, "{model}: {name}");
        }
    }
}

#[test]
fn buffers_are_not_counted() {
    let graph = graph("jsc-tiny");
    let buffers = graph.nodes().iter().flat_map(ir::Node::param_specs);
    assert_eq!(
        buffers.filter(|spec| spec.3 == ParamRole::Buffer).count(),
        2
    );
}

#[test]
fn a_module_called_twice_keeps_its_target() {
    let graph = graph("resnet18");
    let names: Vec<&str> = graph
        .nodes()
        .iter()
        .filter(|node| node.target == "layer1.0.relu")
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(names, ["layer1_0_relu", "layer1_0_relu_1"]);
}

#[test]
fn what_cannot_be_built_is_refused_by_name() {
    let sized = |input: &[usize], classes| ModelInfo {
        input: Some(input.to_vec()),
        classes,
    };
    let error = |name: &str, info: &ModelInfo| build(name, info).unwrap_err().to_string();
    let default = ModelInfo::default();
    #[rustfmt::skip]
    let cases = [
        (error("jsc-tony", &default), "unknown model 'jsc-tony'; did you mean 'jsc-tiny' or 'jsc-toy'?"),
        (error("resent18", &default), "unknown model 'resent18'; did you mean 'resnet18'?"),
        (error("xyzzy-and-more", &default), "unknown model 'xyzzy-and-more'"),
        (error("lenet5", &sized(&[16], None)), "lenet5: takes f32[N, channels, height, width], an image, got a sample of shape [16]"),
        (error("jsc-toy", &sized(&[0], None)), "jsc-toy: takes f32[N, features], 16 features of a jet, got a sample of shape [0]"),
        (error("jsc-toy", &sized(&[16], Some(0))), "jsc-toy: needs at least one class, got 0 classes"),
        (error("toy_tiny", &sized(&[1, 28, 28], Some(10))), "toy_tiny: has 2 classes, got 10 classes"),
        (error("bert", &sized(&[128], Some(0))), "bert-tiny: needs at least one class, got 0 classes"),
    ];
    for (message, expected) in cases {
        assert_eq!(message, expected);
    }
    let small = build("lenet5", &sized(&[1, 8, 8], None));
    assert!(
        matches!(
            small,
            Err(ModelError::Layers {
                model: "lenet5",
                ..
            })
        ),
        "{small:?}"
    );
    let long = build("bert-tiny", &sized(&[513], None));
    assert!(
        matches!(
            long,
            Err(ModelError::Layers {
                model: "bert-tiny",
                ..
            })
        ),
        "{long:?}"
    );
}

/// The mask is 0 where a position is seen and the smallest float where it is not; scores are divided by √64 = 8 and made
/// probabilities over the positions that are attended to, the last axis.
#[test]
fn attention_of_bert_is_masked_scaled_and_normalised() {
    let graph = graph("bert-tiny");
    let (mut sums, mut products, mut axes) = (Vec::new(), Vec::new(), Vec::new());
    for node in graph.nodes() {
        match &node.op {
            Op::Add(op) => sums.extend(op.scalar),
            Op::Mul(op) => products.extend(op.scalar),
            Op::Softmax(op) => axes.push(op.dim),
            _ => {}
        }
    }
    assert_eq!(sums, [-1.0]);
    assert_eq!(products, [f64::from(f32::MAX), 0.125, 0.125]);
    assert_eq!(axes, [-1, -1]);
    let text = graph.to_string();
    // As `key.transpose(-1, -2)`.
    assert_eq!(
        text.matches("{ dim0 = -1, dim1 = -2 }").count(),
        2,
        "{text}"
    );
}

/// PyTorch's ε and momentum but for those that the originals state: VGG-7's momentum and both of the small mobile network.
#[test]
fn norms_have_the_published_constants() {
    for entry in MODELS {
        let expected = match entry.name {
            "vgg7" => (1e-5, 0.9),
            "mobilenetv3_small" => (1e-3, 0.01),
            _ => (1e-5, 0.1),
        };
        for node in graph(entry.name).nodes() {
            let found = match &node.op {
                Op::BatchNorm1d(op) => (op.eps, op.momentum),
                Op::BatchNorm2d(op) => (op.eps, op.momentum),
                _ => continue,
            };
            assert_eq!(found, expected, "{}: {}", entry.name, node.name);
        }
    }
}

#[test]
fn a_model_of_the_original_that_is_not_here_has_a_reason() {
    let message = |name: &str| {
        let built = build(name, &ModelInfo::default());
        built.unwrap_err().to_string()
    };
    let reason = config::not_here(config::Sort::Model, "resnet50").expect("a reason");
    assert!(
        message("resnet50").starts_with(&reason),
        "{}",
        message("resnet50")
    );
    assert!(
        message("resnet50").ends_with("did you mean 'resnet18'?"),
        "{}",
        message("resnet50")
    );
    let reason = config::not_here(config::Sort::Model, "yolov8").expect("a reason");
    assert_eq!(message("yolov8"), reason);
}

#[test]
fn other_samples_give_fitting_layers() {
    for (name, input) in [
        ("jsc-lab1", vec![10]),
        ("toy", vec![3, 8, 8]),
        ("lenet5", vec![3, 32, 32]),
        ("vgg7", vec![1, 16, 24]),
        ("vgg_tiny", vec![1, 28, 28]),
        ("lfc", vec![3, 8, 8]),
        ("cnv", vec![1, 36, 40]),
        ("repvgg_A0", vec![1, 32, 32]),
        ("mobilenetv3_small", vec![1, 32, 32]),
        ("resnet18", vec![1, 32, 32]),
        ("transformer", vec![16]),
        ("bert-tiny", vec![16]),
    ] {
        let info = ModelInfo {
            input: Some(input),
            classes: Some(3),
        };
        assert!(build(name, &info).is_ok(), "{name}");
    }
}
