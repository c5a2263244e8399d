//! Rules choose nodes and formats, and every mistake in them is named.

use crate::network::{INTEGER, jets, model, problems, run};
use config::Table;
use ir::Graph;
use passes::{Context, Program};

#[test]
fn histogram_of_the_net_with_1407_parameters() {
    let mut graph = model("jsc-lab1", 0);
    assert_eq!(graph.trained_parameter_count(), 1407);
    let passes = format!(
        "[quantize]\nby = \"type\"\n[quantize.default.config]\nname = \"NA\"\n[quantize.linear.config]\n{INTEGER}"
    );
    let reports = run(&mut graph, None, 0, &passes);
    let tables: Vec<_> = reports[0].report.tables().collect();
    let (_, histogram) = tables
        .iter()
        .find(|(name, _)| *name == "quantize_histogram")
        .unwrap();
    assert_eq!(
        histogram.to_csv(),
        "Original type,OP,Total,Changed,Unchanged\n\
         BatchNorm1d,batch_norm1d,5,0,5\n\
         Linear,linear,4,4,0\n\
         ReLU,relu,5,0,5\n\
         output,output,1,0,1\n\
         x,placeholder,1,0,1\n"
    );
    let (_, nodes) = tables
        .iter()
        .find(|(name, _)| *name == "quantize_table")
        .unwrap();
    let why = |node: &str| nodes.rows.iter().find(|row| row[1] == node).unwrap()[7].clone();
    assert_eq!(why("seq_blocks_2"), "rule linear");
    assert_eq!(why("seq_blocks_0"), "rule default is \"NA\"");
    assert_eq!(why("output"), "op has nothing to round");
}

#[test]
fn metadata_of_a_linear_before_and_after() {
    let mut graph = model("jsc-tiny", 0);
    let before = metadata(&graph);
    run(
        &mut graph,
        None,
        0,
        &format!("[quantize]\n[quantize.linear.config]\n{INTEGER}"),
    );
    let after = metadata(&graph);
    let port = |meta: &serde_json::Value| {
        (
            meta["args"]["data_in_0"]["type"].clone(),
            meta["args"]["data_in_0"]["precision"].clone(),
        )
    };
    assert_eq!(port(&before), ("float".into(), serde_json::json!([32])));
    assert_eq!(port(&after), ("integer".into(), serde_json::json!([8, 4])));
}

fn metadata(graph: &Graph) -> serde_json::Value {
    let verified = ir::verify(graph).unwrap();
    let linear = graph.find("seq_blocks_2").unwrap();
    serde_json::to_value(ir::common(&verified, linear, 8)).unwrap()
}

#[test]
fn every_mistake_in_a_rule_is_reported_where_it_stands() {
    let rule = |keys: &str| format!("[quantize.linear.config]\n{keys}\n");
    let bypass = problems(&rule(
        "name = \"integer\"\nbypass = \"yes\"\nfloor = 2\nweight_width = 8",
    ));
    assert_eq!(bypass.len(), 2, "{bypass:?}");
    assert!(bypass[0].starts_with("bypass: bypass: "), "{bypass:?}");
    assert!(bypass[1].starts_with("floor: floor: "), "{bypass:?}");
    let own_name = problems(&rule(
        "name = \"integer\"\nweight_name = 3\nweight_width = 8",
    ));
    assert!(
        own_name[0].starts_with("weight_name: weight_name: 3 is not a word"),
        "{own_name:?}"
    );
    let unknown = problems(&rule(
        "name = \"intger\"\nweight_width = 8\nbias_width = 8\nwieght_width = 8",
    ));
    assert_eq!(unknown.len(), 2, "{unknown:?}");
    assert!(
        unknown
            .iter()
            .any(|p| p.starts_with("name: name: unknown format 'intger'; did you mean 'integer'")),
        "{unknown:?}"
    );
    assert!(
        unknown
            .iter()
            .any(|p| p.starts_with("wieght_width: unknown key")),
        "{unknown:?}"
    );
}

#[test]
fn a_rule_that_others_leave_nothing_is_a_mistake() {
    let rule =
        |key: &str| format!("[quantize.\"{key}\".config]\nname = \"integer\"\nweight_width = 8\n");
    let config = format!(
        "[quantize]\nby = \"regex_name\"\n{}{}",
        rule("seq_blocks_.*"),
        rule("seq_blocks_2")
    );
    let found = problems(&config);
    let message = "rule 'seq_blocks_2' is never used: rule 'seq_blocks_.*' comes first";
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with(message), "{found:?}");
}

/// The notes of passes over `jsc-tiny`.
fn notes(passes: &str) -> Vec<String> {
    let table = Table::parse(passes).unwrap();
    let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut graph = model("jsc-tiny", 3);
    let mut context = Context::new(&graph, None);
    let result = program.run(&mut graph, &mut context, |_, _, _| {});
    result.unwrap_or_else(|error| panic!("{error}"));
    context.notes
}

#[test]
fn an_input_width_that_changes_nothing_is_told() {
    let rule = |op: &str, name: &str| {
        let keys = match name {
            "integer" => "data_in_width = 4",
            _ => "data_in_exponent_width = 4\ndata_in_frac_width = 3",
        };
        let rule = format!("[quantize.{op}.config]\nname = \"{name}\"\n{keys}\n");
        format!("[quantize]\ninput_width = 8\n{rule}")
    };
    assert_eq!(notes(&rule("batch_norm1d", "integer")), [""; 0]);
    assert_eq!(notes(&rule("linear", "integer")), [""; 0]);
    let last =
        rule("seq_blocks_3", "integer").replace("[quantize]\n", "[quantize]\nby = \"name\"\n");
    assert_eq!(
        notes(&last),
        ["input_width: no node with a format reads an input of the network, so it does nothing"]
    );
    assert_eq!(
        notes(&rule("batch_norm1d", "mxfp")),
        ["input_width: seq_blocks_0: mxfp has no width to set"]
    );
    let none = rule("linear", "integer").replace("= 8", "= 0");
    assert_eq!(problems(&none), ["0: input_width: 0 is below 1"]);
}

#[test]
fn keys_that_do_nothing_are_told() {
    let keys = "name = \"integer\"\ndata_in_width = 8\nweight_width = 8\n";
    let notes = |rule: &str| notes(&format!("[quantize.{rule}.config]\n{keys}"));
    assert_eq!(
        notes("relu"),
        ["rule 'relu': none of its nodes has a weight, so its keys weight_… do nothing"]
    );
    assert_eq!(notes("linear"), [""; 0]);
    assert_eq!(notes("default"), [""; 0]);
}

/// Files of the original give one list of keys to formats of every kind.
#[test]
fn keys_that_mean_nothing_to_a_format_are_noted_and_left_out() {
    let rule = |keys: &str| {
        let keys = format!("name = \"integer\"\nweight_width = 8\n{keys}\n");
        notes(&format!("[quantize.linear.config]\n{keys}"))
    };
    assert_eq!(rule(""), [""; 0]);
    // A field of the original that speaks of no operand, and one of an operand that the format does not have.
    let config = "[quantize.linear.config]\nname = \"integer\"\nweight_width = 8\n";
    for key in ["width = 3", "threshold = 0.5", "dim = 1"] {
        assert_eq!(problems(&format!("{config}{key}\n")), [""; 0], "{key}");
    }
    assert_eq!(
        problems(&format!("{config}weight_exponent_width = 3\n")),
        [""; 0]
    );
}

/// Running statistics are no operand: the scale and the shift that are rounded follow from them.
#[test]
fn a_batch_norm_rounds_its_scale_and_its_shift() {
    let mut graph = model("jsc-toy", 3);
    let rule =
        "[quantize.batch_norm1d.config]\nname = \"integer\"\nweight_width = 8\nbias_width = 8\n";
    let reports = run(
        &mut graph,
        &jets(),
        0,
        &format!("{rule}[check_quantization]\n"),
    );
    for node in graph
        .nodes()
        .iter()
        .filter(|node| node.op.name() == "batch_norm1d")
    {
        let ports: Vec<&str> = node.formats.keys().map(String::as_str).collect();
        assert_eq!(ports, ["bias", "weight"], "{}", node.name);
    }
    assert!(reports[1].report.is_good, "{}", reports[1].report.to_text());
}

/// Files of the original have -1 where a statistic was not taken.
#[test]
fn a_statistic_below_zero_is_noted_and_left_out() {
    for (value, is_noted) in [("-1", true), ("-0.5", true), ("1", false), ("0.25", false)] {
        let text = format!(
            "[quantize.linear.config]\nname = \"ternary\"\nweight_width = 2\nweight_mean = {value}\n"
        );
        let program = Program::read(&Table::parse(&text).unwrap());
        let program = program.unwrap_or_else(|problems| panic!("{problems:?}"));
        let is_told = |note: &String| note.contains(&format!("{value} is not a magnitude"));
        assert_eq!(
            program.notes().iter().any(is_told),
            is_noted,
            "{:?}",
            program.notes()
        );
    }
}
