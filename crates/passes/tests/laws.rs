//! Laws over the table of passes: what holds for one holds for all, and for those that come later.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::{Item, Table};
use data::{Dataset, OpenOptions, Rows};
use format::Format;
use ir::Graph;
use passes::{Context, Kind, PASSES, PassEntry, Program};
use std::collections::BTreeSet;
use std::path::Path;

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(3);
    graph
}

fn rows() -> Dataset {
    data::open("jsc-sim", &OpenOptions::default()).unwrap()
}

/// The example of a pass's documentation, without its indentation.
fn example(entry: &PassEntry) -> String {
    let (_, text) = entry
        .doc
        .split_once("Example:\n")
        .unwrap_or_else(|| panic!("{} has no example", entry.name));
    let lines = text
        .lines()
        .take_while(|line| line.starts_with("  ") || line.is_empty());
    lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// The table `[passes]` of an example.
fn passes(text: &str) -> Table {
    let table = Table::parse(text).unwrap_or_else(|problem| panic!("{problem:?}\n{text}"));
    let (_, item) = table.get("passes").unwrap();
    Item::as_table(item).unwrap().clone()
}

#[test]
fn names_are_unique_and_found_with_all_their_aliases() {
    let mut seen = BTreeSet::new();
    for entry in PASSES {
        for name in [&[entry.name], entry.aliases].concat() {
            assert!(seen.insert(name), "{name} stands for two passes");
            assert_eq!(passes::find(name).unwrap().name, entry.name);
            assert_eq!(passes::find(&format!("{name}_2")).unwrap().name, entry.name);
        }
    }
    let unknown = passes::find("quantise").err().unwrap();
    assert_eq!(unknown, "unknown pass 'quantise'; did you mean 'quantize'?");
}

#[test]
fn a_pass_lives_in_the_file_of_its_name_and_says_all_there_is_to_say() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in PASSES {
        let folder = source.join(entry.kind.name());
        let places = [
            folder.join(format!("{}.rs", entry.name)),
            folder.join(entry.name).join("mod.rs"),
        ];
        assert!(places.iter().any(|path| path.exists()), "{}", entry.name);
        for section in [
            "What it does:",
            "Example:",
            "Config:",
            "Reads:",
            "Writes:",
            "Limits:",
        ] {
            assert!(entry.doc.contains(section), "{}: {section}", entry.name);
        }
        assert!(
            entry.doc.lines().all(|line| line.chars().count() <= 130),
            "{}",
            entry.name
        );
    }
}

#[test]
fn every_example_is_a_config_and_unknown_keys_are_not() {
    for entry in PASSES {
        let text = example(entry);
        let table = passes(&text);
        assert!(Program::read(&table).is_ok(), "{}:\n{text}", entry.name);
        if entry.name == "quantize" {
            continue; // Its keys are the user's: names of nodes and types.
        }
        let wrong = format!("[passes.{}]\nno_such_key = 1\n", entry.name);
        let problems = Program::read(&passes(&wrong))
            .err()
            .unwrap_or_else(|| panic!("{} takes any key", entry.name));
        assert!(
            problems
                .iter()
                .any(|problem| problem.message.contains("no_such_key")),
            "{problems:?}"
        );
    }
}

/// Files that examples read are written by the example of the pass that goes with them.
fn with_what_it_needs(entry: &PassEntry) -> String {
    let of = |name: &str| example(passes::find(name).unwrap());
    match entry.name {
        "load_mase_graph" => of("save_mase_graph") + "\n" + &example(entry),
        "load_node_meta_param" => of("save_node_meta_param") + "\n" + &example(entry),
        "fuse_lora_weights" => of("insert_lora_adapter") + "\n" + &example(entry),
        "calibrate" | "correct_bias" | "gptq" | "check_quantization" => {
            of("quantize") + "\n" + &example(entry)
        }
        _ => example(entry),
    }
}

#[test]
fn every_example_runs_and_analyses_change_nothing_but_statistics() {
    let data = rows();
    for entry in PASSES {
        let graph = model("jsc-toy");
        let program = Program::read(&passes(&with_what_it_needs(entry)))
            .unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut changed = graph.clone();
        let mut context = Context::new(&graph, Some(&data));
        let reports = program.run(&mut changed, &mut context, |_, _, _| {});
        let reports = reports.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let last = reports.last().unwrap();
        assert_eq!(last.name, entry.name);
        assert!(
            !last.report.to_text().trim().is_empty(),
            "{} says nothing",
            entry.name
        );
        if entry.kind == Kind::Analysis && reports.len() == 1 {
            for (id, node) in graph.iter() {
                changed.node_mut(id).statistics.clone_from(&node.statistics);
            }
            assert_eq!(changed, graph, "{} changes the graph", entry.name);
        }
    }
}

/// Jets of 8 features instead of 16.
fn narrow_rows() -> Dataset {
    let rows = Rows {
        values: vec![0.5; 800],
        labels: vec![0; 100],
        width: 8,
    };
    Dataset::of_rows("narrow", vec![8], rows)
}

#[test]
fn a_pass_that_runs_the_network_refuses_rows_that_do_not_fit() {
    let data = narrow_rows();
    let mut refusing = Vec::new();
    for entry in PASSES {
        let mut graph = model("jsc-toy");
        let program = Program::read(&passes(&with_what_it_needs(entry)))
            .unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut context = Context::new(&graph, Some(&data));
        if let Err(error) = program.run(&mut graph, &mut context, |_, _, _| {}) {
            let message = "rows have 8 values, but the network takes 16";
            assert_eq!(error.to_string(), format!("{}: {message}", entry.name));
            refusing.push(entry.name);
        }
    }
    let running = [
        "profile_statistics",
        "runtime_analysis",
        "check_quantization",
        "add_natural_sparsity",
        "calibrate",
        "gptq",
        "correct_bias",
        "prune",
    ];
    assert_eq!(refusing, running);
}

#[test]
fn every_weight_format_survives_saving_and_loading() {
    for entry in Format::TABLE {
        let fields = entry.fields.iter().filter(|field| field.default.is_none());
        let given = fields.map(|field| {
            let value = match field.name {
                "exponent_width" => 4,
                "frac_width" => 3,
                _ => 8,
            };
            format!("{} = {value}", field.name)
        });
        let spec = format!("{}({})", entry.name, given.collect::<Vec<_>>().join(", "));
        let format = Format::parse(&spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        let mut graph = model("jsc-toy");
        let ids: Vec<_> = graph
            .iter()
            .filter(|(_, node)| node.op.name() == "linear")
            .map(|(id, _)| id)
            .collect();
        for id in ids {
            graph
                .node_mut(id)
                .formats
                .insert("weight".to_owned(), format.clone());
        }
        let bytes = passes::interface::graph_file(&graph, &data::Preparation::default()).unwrap();
        let (read, _) = passes::interface::read_graph_file(Path::new("graph.mz"), &bytes).unwrap();
        assert_eq!(read, graph, "{spec}");
    }
}

#[test]
fn a_pass_that_fails_leaves_the_graph_as_it_was() {
    let mut graph = model("jsc-toy");
    let before = graph.clone();
    let text = "[passes.quantize]\nby = \"name\"\n[passes.quantize.seq_blocks_99.config]\nname = \"integer\"\nweight_width = 8\n";
    let program = Program::read(&passes(text)).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = Context::new(&graph, None);
    let error = program
        .run(&mut graph, &mut context, |_, _, _| {})
        .err()
        .unwrap();
    assert!(matches!(error, passes::RunError::Config { .. }), "{error}");
    assert_eq!(graph, before);
    assert!(context.files.is_empty());
}
