//! The numbers of the labs: counts, costs and types of quantised networks.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::Table;
use ir::Graph;
use passes::{Context, Program, StepReport};

const INTEGER: &str = "name = \"integer\"\ndata_in_width = 8\ndata_in_frac_width = 4\nweight_width = 8\n\
                       weight_frac_width = 4\nbias_width = 8\nbias_frac_width = 4\n";

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(0);
    graph
}

fn run(graph: &mut Graph, passes: &str) -> Vec<StepReport> {
    let table = Table::parse(passes).unwrap();
    let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = Context::new(graph, None);
    program.run(graph, &mut context, |_, _, _| {}).unwrap()
}

fn fact(reports: &[StepReport], key: &str, name: &str) -> u64 {
    let step = reports.iter().find(|step| step.key == key).unwrap();
    step.report.facts[name].as_u64().unwrap()
}

#[test]
fn operations_of_jsc_tiny_before_and_after_quantising() {
    let mut graph = model("jsc-tiny");
    let passes = format!(
        "[count_flops]\nbatch_size = 8\n[count_bitops]\nbatch_size = 8\n[quantize]\nby = \"type\"\n\
         [quantize.linear.config]\n{INTEGER}[count_flops_2]\n[count_bitops_2]\n"
    );
    let reports = run(&mut graph, &passes);
    assert_eq!(fact(&reports, "count_flops", "total_flops"), 1320);
    assert_eq!(fact(&reports, "count_flops_2", "total_flops"), 680);
    assert_eq!(fact(&reports, "count_bitops", "total_bitops"), 1_205_504);
    assert_eq!(fact(&reports, "count_bitops_2", "total_bitops"), 575_744);
}

#[test]
fn histogram_of_the_net_with_1407_parameters() {
    let mut graph = model("jsc-lab1");
    assert_eq!(graph.trained_parameter_count(), 1407);
    let passes = format!(
        "[quantize]\nby = \"type\"\n[quantize.default.config]\nname = \"NA\"\n[quantize.linear.config]\n{INTEGER}"
    );
    let reports = run(&mut graph, &passes);
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
fn opcodes_and_layers_of_jsc_tiny() {
    let reports = run(&mut model("jsc-tiny"), "[report_graph_analysis_pass]\n");
    let text = reports[0].report.to_text();
    assert!(text.contains(
        "{'placeholder': 1, 'get_attr': 0, 'call_function': 0, 'call_method': 0, 'call_module': 4, 'output': 1}"
    ));
    assert!(text.contains(
        "[BatchNorm1d(16, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True), ReLU(inplace=True), \
         Linear(in_features=16, out_features=5, bias=True), ReLU(inplace=True)]"
    ));
}

#[test]
fn metadata_of_a_linear_before_and_after() {
    let mut graph = model("jsc-tiny");
    let before = metadata(&graph);
    run(
        &mut graph,
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
fn what_saturates_at_results_and_inputs_is_seen() {
    let data = data::open("jsc-sim", &data::OpenOptions::default()).unwrap();
    let mut graph = model("jsc-tiny");
    let passes = "[quantize]\n[quantize.linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 8\n\
                  data_out_width = 3\ndata_out_frac_width = 2\n[quantize.relu.config]\nname = \"integer\"\ndata_in_width = 8\n\
                  data_in_frac_width = 4\n[check_quantization]\n";
    let program = Program::read(&Table::parse(passes).unwrap())
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = Context::new(&graph, Some(&data));
    let reports = program.run(&mut graph, &mut context, |_, _, _| {}).unwrap();
    let report = &reports[1].report;
    assert!(report.is_good, "{}", report.to_text());
    let (_, table) = report.tables().next().unwrap();
    let cell = |node: &str, port: &str, column: usize| {
        let row = table
            .rows
            .iter()
            .find(|row| row[0] == node && row[1] == port)
            .unwrap();
        row[column].trim_end_matches('%').parse::<f64>().unwrap()
    };
    // Three bits reach from -1 to 0.75, and the layer's results do not.
    assert!(
        cell("seq_blocks_2", "data_out_0", 6) > 1.0 && cell("seq_blocks_2", "data_out_0", 7) > 0.25
    );
    // Half of what relu reads is negative, and dropped; what is left fits.
    assert!(
        cell("seq_blocks_1", "data_in_0", 6) < 5.0,
        "{}",
        table.to_text()
    );
}

#[test]
fn metadata_that_says_nothing_to_the_program_is_refused() {
    let folder = std::env::temp_dir().join(format!("mase-meta-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("meta.toml");
    let cases = [
        (
            "[seq_blocks_2.comon.args.weight]\nformat = \"integer(8, 4)\"\n",
            "unknown part 'comon'; did you mean 'common'?",
        ),
        (
            "[seq_blocks_2.common.args.weight]\ntype = \"integer\"\nprecision = [8, 4]\n",
            "has type 'integer' but no format",
        ),
    ];
    for (text, expected) in cases {
        std::fs::write(&path, text).unwrap();
        let mut graph = model("jsc-tiny");
        let passes = format!(
            "[load_node_meta_param]\nload_path = {:?}\n",
            path.display().to_string()
        );
        let program = Program::read(&Table::parse(&passes).unwrap())
            .unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut context = Context::new(&graph, None);
        let error = program
            .run(&mut graph, &mut context, |_, _, _| {})
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
