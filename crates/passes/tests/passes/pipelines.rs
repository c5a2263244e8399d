//! Pipelines of the program and of files.

use crate::network::{fact, jets, model};
use config::{Problem, Table};
use format::Format;
use passes::{Context, PASSES, PIPELINES, Program, default_config};
use std::collections::BTreeSet;

fn keys(program: &Result<Program, Vec<Problem>>) -> Vec<&str> {
    match program {
        Ok(program) => program.keys().collect(),
        Err(problems) => panic!("{problems:?}"),
    }
}

/// The problems of a config, each behind the text that it points at.
fn problems(text: &str) -> Vec<String> {
    let Err(problems) = Program::read(&Table::parse(text).unwrap()) else {
        panic!("no problems");
    };
    let shown = |p: Problem| format!("{}: {}", &text[p.span], p.message);
    problems.into_iter().map(shown).collect()
}

#[test]
fn every_pipeline_runs_on_what_it_finds() {
    let data = jets();
    for pipeline in PIPELINES {
        let mut graph = model("jsc-toy", 3);
        let mut context = Context::new(&graph, Some(&data));
        let program = Program::read_pipeline(None, pipeline.name);
        let steps: Vec<&str> = pipeline.steps.iter().map(|step| step.pass).collect();
        assert_eq!(keys(&program), steps);
        let program = program.unwrap_or_else(|problems| panic!("{problems:?}"));
        let reports = program.run(&mut graph, &mut context, |_, _, _| {});
        reports.unwrap_or_else(|error| panic!("{}: {error}", pipeline.name));
        assert!(pipeline.steps.iter().all(|step| !step.why.is_empty()));
    }
}

#[test]
fn names_are_unique_and_none_is_that_of_a_key() {
    let names: BTreeSet<&str> = PIPELINES.iter().map(|pipeline| pipeline.name).collect();
    assert_eq!(names.len(), PIPELINES.len());
    for entry in PASSES {
        assert!(!["pipeline", "pipelines"].contains(&entry.name));
        assert!(Table::parse(default_config(entry.name)).is_ok());
    }
}

#[test]
fn ptq_quantizes_to_eight_bits_and_loses_less_than_rounding() {
    let data = jets();
    let mut graph = model("jsc-s", 5);
    let mut context = Context::new(&graph, Some(&data));
    let program = Program::read_pipeline(None, "ptq").unwrap_or_else(|p| panic!("{p:?}"));
    let reports = program.run(&mut graph, &mut context, |_, _, _| {}).unwrap();
    assert!(fact(&reports, "fuse_batch_norm", "folded") >= 2.0);
    let [nearest, gptq] = ["loss_nearest", "loss_gptq"].map(|key| fact(&reports, "gptq", key));
    assert!(gptq < nearest);
    for node in graph.nodes().iter().filter(|n| n.op.name() == "linear") {
        for (port, width) in [("data_in_0", 8), ("weight", 8), ("bias", 16)] {
            let Format::Integer(format) = &node.formats[port] else {
                panic!("{port}")
            };
            assert_eq!(format.width, width, "{} {port}", node.name);
        }
    }
}

#[test]
fn tables_configure_steps_in_the_order_of_the_pipeline() {
    let text = "pipeline = \"ptq\"\n[calibrate]\nmethod = \"min_max\"\n\
                [quantize_transform_pass.linear.config]\nname = \"integer\"\nweight_width = 4\n";
    let program = Program::read(&Table::parse(text).unwrap());
    let steps = [
        "fuse_batch_norm",
        "quantize_transform_pass",
        "calibrate",
        "gptq",
        "correct_bias",
        "calibrate_2",
        "correct_bias_2",
    ];
    assert_eq!(keys(&program), steps);
    let mut graph = model("jsc-toy", 3);
    let data = jets();
    let mut context = Context::new(&graph, Some(&data));
    let program = program.unwrap_or_else(|problems| panic!("{problems:?}"));
    program.run(&mut graph, &mut context, |_, _, _| {}).unwrap();
    let layer = graph.nodes().iter().find(|n| n.op.name() == "linear");
    let formats = &layer.unwrap().formats;
    assert!(!formats.contains_key("data_in_0") && formats.contains_key("weight"));
}

#[test]
fn a_file_can_define_its_own() {
    let text = "[pipelines.mine]\nsteps = [\"count_flops\", \"quantize\", \"count_flops_2\"]\n\
                [count_flops_2]\nbatch_size = 1\n";
    let table = Table::parse(text).unwrap();
    let named = Program::read_pipeline(Some(&table), "mine");
    assert_eq!(keys(&named), ["count_flops", "quantize", "count_flops_2"]);
    let chosen = format!("pipeline = \"mine\"\n{text}");
    let chosen = Program::read(&Table::parse(&chosen).unwrap());
    assert_eq!(keys(&chosen), keys(&named));
    // Without a choice the tables run as they stand.
    assert_eq!(keys(&Program::read(&table)), ["count_flops_2"]);
}

#[test]
fn mistakes_are_reported_where_they_stand() {
    struct Case {
        text: &'static str,
        problem: &'static str,
    }
    let cases = [
        Case {
            text: "pipeline = \"ptk\"\n",
            problem: "\"ptk\": unknown pipeline 'ptk'; did you mean 'ptq'?",
        },
        Case {
            text: "pipeline = 8\n",
            problem: "8: pipeline: 8 is not the name of a pipeline",
        },
        Case {
            text: "pipeline = \"ptq\"\n[count_flops]\n",
            problem: "count_flops: 'count_flops' is not a step of pipeline 'ptq', which runs fuse_batch_norm, quantize, \
                      calibrate, gptq, correct_bias, \
             calibrate_2, correct_bias_2",
        },
        Case {
            text: "pipeline = \"ptq\"\n[calibrate]\nmethods = \"mse\"\n",
            problem: "methods: unknown key 'methods'; did you mean 'method'?",
        },
        Case {
            text: "pipeline = \"ptq\"\n[calibrat]\n",
            problem: "calibrat: unknown pass 'calibrat'; did you mean 'calibrate'?",
        },
        Case {
            text: "pipeline = \"mine\"\n[pipelines.mine]\nsteps = [\"quantise\"]\n",
            problem: "\"quantise\": unknown pass 'quantise'; did you mean 'quantize'?",
        },
        Case {
            text: "pipeline = \"mine\"\n[pipelines.mine]\nsteps = [\"verify\", \"verify\"]\n",
            problem: "\"verify\": step 'verify' is there twice; write 'verify_2' to run it again",
        },
        Case {
            text: "pipeline = \"mine\"\n[pipelines.mine]\nstep = []\nsteps = [\"verify\"]\n",
            problem: "step: unknown key 'step'; did you mean 'steps'?",
        },
        Case {
            text: "pipeline = \"mine\"\n[pipelines.mine]\nsteps = [\"save_mase_graph\"]\n",
            problem: "\"save_mase_graph\": save_dir is missing; name the folder to write graph.mz to",
        },
        Case {
            text: "pipeline = \"ptq\"\n[pipelines.ptq]\nsteps = [\"verify\"]\n",
            problem: "ptq: 'ptq' is a pipeline of the program; choose another name",
        },
        Case {
            text: "[pipelines.mine]\nsteps = [\"verify\"]\n",
            problem: ": there are no passes; choose a pipeline, pipeline = \"mine\"",
        },
    ];
    for case in cases {
        assert_eq!(problems(case.text), [case.problem], "{}", case.text);
    }
}

#[test]
fn the_page_lists_every_pipeline_with_its_steps() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/passes.md");
    let page = std::fs::read_to_string(page).unwrap();
    for pipeline in PIPELINES {
        let steps: Vec<String> = pipeline
            .steps
            .iter()
            .map(|s| format!("`{}`", s.pass))
            .collect();
        let row = format!("| `{}` | {} |", pipeline.name, steps.join(", "));
        assert!(page.contains(&row), "{row}");
    }
}
