//! Networks, rows to run them on, and passes over them.

use config::Table;
use data::{Dataset, OpenOptions, Rows};
use engine::{Input, Network, PlanOptions, Port};
use ir::Graph;
use passes::{Context, Program, RunError, StepReport};

/// Eight bits, four of them behind the point, for every operand.
pub const INTEGER: &str = "name = \"integer\"\ndata_in_width = 8\ndata_in_frac_width = 4\nweight_width = 8\n\
                       weight_frac_width = 4\nbias_width = 8\nbias_frac_width = 4\n";

/// A network of the zoo with starting weights.
pub fn model(name: &str, seed: u64) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(seed);
    graph
}

/// Jets that the program makes.
pub fn jets() -> Dataset {
    data::open("jsc-sim", &OpenOptions::default()).unwrap()
}

/// Runs the passes of a config.
pub fn try_run<'d>(
    graph: &mut Graph,
    data: impl Into<Option<&'d Dataset>>,
    seed: u64,
    passes: &str,
) -> Result<Vec<StepReport>, RunError> {
    let table = Table::parse(passes).unwrap();
    let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = Context::new(graph, data.into());
    context.seed = seed;
    program.run(graph, &mut context, |_, _, _| {})
}

/// Runs the passes of a config, which must not fail.
pub fn run<'d>(
    graph: &mut Graph,
    data: impl Into<Option<&'d Dataset>>,
    seed: u64,
    passes: &str,
) -> Vec<StepReport> {
    try_run(graph, data, seed, passes).unwrap_or_else(|error| panic!("{error}"))
}

/// The reports of `jsc-tiny` before and after its layer is quantised; `first` is the pass with its keys, `second` its key.
pub fn around_quantizing(first: &str, second: &str) -> Vec<StepReport> {
    let passes = format!("{first}[quantize.linear.config]\n{INTEGER}[{second}]\n");
    run(&mut model("jsc-tiny", 0), None, 0, &passes)
}

/// A single result of the pass with this key.
pub fn fact(reports: &[StepReport], key: &str, name: &str) -> f64 {
    let step = reports.iter().find(|step| step.key == key).unwrap();
    step.report.facts[name].as_f64().unwrap()
}

/// Training rows with these values.
pub fn dataset(sample_shape: Vec<usize>, values: Vec<f32>) -> Dataset {
    let width = sample_shape.iter().product();
    let labels = vec![0; values.len() / width];
    let rows = Rows {
        values,
        labels,
        width,
    };
    Dataset::of_rows("rows", sample_shape, rows)
}

/// Quantises the layers of these types: so many bits for inputs and weights, 16 for biases.
pub fn quantize(types: &[&str], bits: u32) -> String {
    let rule = |op: &&str| {
        format!(
            "[quantize.{op}.config]\nname = \"integer\"\ndata_in_width = {bits}\nweight_width = {bits}\nbias_width = 16\n"
        )
    };
    let rules: String = types.iter().map(rule).collect();
    format!("[quantize]\nby = \"type\"\n{rules}")
}

/// Rows of noise in the shape of a network's input.
pub fn noise(graph: &Graph, count: usize) -> Dataset {
    let verified = ir::verify(graph).unwrap();
    let placeholder = verified.placeholders()[0];
    let sample = verified.ty(placeholder.into()).shape.sample().unwrap();
    let random = random::Random::new(11, "rows");
    let len = count * sample.iter().product::<usize>();
    let values = (0..len).map(|k| random.normal(k as u64) + 0.3).collect();
    dataset(sample, values)
}

/// The values at a port over all training rows.
pub fn values_at(graph: &Graph, data: &Dataset, node: &str, port: &str) -> Vec<f32> {
    let port = Port {
        node: graph.find(node).unwrap(),
        port: port.to_owned(),
    };
    let mut all = Vec::new();
    passes::observe(graph, &[port], &data.train, 1, |_, _, values| {
        all.extend_from_slice(values);
    })
    .unwrap();
    all
}

/// The first output for 200 test rows.
pub fn outputs(graph: &Graph, data: &Dataset) -> Vec<f32> {
    let mut network = Network::new(graph.clone(), 1).unwrap();
    let input = Input::Gather {
        values: data.test.rows(),
        indices: &data.test.indices()[..200],
    };
    let plan = network.run(PlanOptions::eval(200), &[input]);
    plan.unwrap().output(0)
}

/// The problems of a config, at reading or, with the graph, at running.
pub fn problems(passes: &str) -> Vec<String> {
    let table = Table::parse(passes).unwrap();
    let found = match Program::read(&table) {
        Err(problems) => problems,
        Ok(program) => {
            let mut graph = model("jsc-toy", 3);
            let mut context = Context::new(&graph, None);
            match program.run(&mut graph, &mut context, |_, _, _| {}) {
                Err(RunError::Config { problems, .. }) => problems,
                Err(error) => panic!("{error}"),
                Ok(_) => Vec::new(),
            }
        }
    };
    let at = |problem: config::Problem| format!("{}: {}", &passes[problem.span], problem.message);
    found.into_iter().map(at).collect()
}

/// The same numbers but for the rounding of other sums.
pub fn assert_near(got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len());
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{a}, {b}");
    }
}
