//! A case: a graph in text form, its parameters, the rows it runs on, and the passes to run.
//!
//! Everything but the graph stands in comments, so that a case is a `.mg` file:
//!
//! ```text
//! # run: prune
//! # config:
//! #   [passes.prune.weight]
//! #   sparsity = 0.5
//! # rows = 1 0.5, -1 0.25
//! # fc.weight = 1 -2 3 -4
//! graph "net" { … }
//! ```
//!
//! Without `config` the pass runs with its defaults; a config may run other passes before it. Parameters and rows that
//! are not given follow from a seed. They are multiples of 1/32 and 1/8, whose products and sums are exact, so that a
//! result has the same digits on every machine.

use config::Table;
use data::{Dataset, Rows};
use ir::{Graph, Tensor, verify};
use models::weights::tensors_of;
use passes::{Context, OutputFile, Program, RunError, Section, StepReport};
use random::Random;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rows of the dataset, unless a case gives its own.
const ROWS: usize = 8;
/// Values of a parameter that are shown.
const SHOWN: usize = 16;
/// Lines of a file that is shown.
const MAX_LINES: usize = 60;

/// A graph with its parameters, rows to run it on, and the passes to run.
pub struct Case {
    config: String,
    graph: Graph,
    data: Dataset,
}

impl Case {
    /// Reads a case of a pass.
    pub fn parse(pass: &str, text: &str) -> Self {
        let comments = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix('#'));
        let mut config = String::new();
        let mut given: BTreeMap<&str, &str> = BTreeMap::new();
        for comment in comments {
            match comment.strip_prefix("   ") {
                Some(line) => config.extend([line, "\n"]),
                None => given.extend(comment.trim().split_once(" = ")),
            }
        }
        if config.is_empty() {
            config = format!("[passes.{pass}]\n");
        }
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let rows = given.remove("rows").map(numbers);
        set_tensors(&mut graph, &given);
        let data = dataset(&graph, rows);
        Self {
            config,
            graph,
            data,
        }
    }

    /// The same graph and rows under another config.
    pub fn with_config(self, config: String) -> Self {
        Self { config, ..self }
    }

    /// Runs the passes: the graph and its tensors where they changed, the report of the last pass, and its files.
    pub fn run(&self) -> String {
        let mut context = Context::new(&self.graph, Some(&self.data));
        let mut graph = self.graph.clone();
        let program = match read(&self.config) {
            Ok(program) => program,
            Err(problems) => return problems,
        };
        let mut written: [Vec<OutputFile>; 2] = Default::default();
        let remember = |_: &StepReport, _: &Graph, context: &mut Context| {
            written.swap(0, 1);
            written[1].clone_from(&context.files);
        };
        let reports = match program.run(&mut graph, &mut context, remember) {
            Ok(reports) => reports,
            Err(RunError::Config { pass, problems }) => {
                let lines = problems.iter().map(|p| format!("{pass}: {}\n", p.message));
                return lines.collect();
            }
            Err(error) => return format!("{error}\n"),
        };
        let mut report = reports.last().expect("a pass ran").report.clone();
        hide_times(&mut report.sections);
        let mut parts = vec![changes(&self.graph, &graph), report.to_text()];
        parts.push(context.notes.iter().fold(String::new(), |mut text, note| {
            let _ = writeln!(text, "note: {note}");
            text
        }));
        let [earlier, all] = written;
        let own = all.iter().filter(|file| !earlier.contains(file));
        parts.extend(own.map(file));
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }

    /// The statements of the graph after the passes, without its braces and only where one changed, and its changed tensors.
    pub fn changed_statements(&self) -> String {
        let mut graph = self.graph.clone();
        let program = read(&self.config).unwrap_or_else(|problems| panic!("{problems}"));
        let mut context = Context::new(&graph, Some(&self.data));
        let result = program.run(&mut graph, &mut context, |_, _, _| {});
        result.unwrap_or_else(|error| panic!("{error}"));
        let mut text = graph.to_string();
        if text == self.graph.to_string() {
            text.clear();
        }
        let body = text.lines().filter(|line| line.starts_with("  "));
        let lines = body.flat_map(|line| [&line[2..], "\n"]);
        lines.collect::<String>() + &changed_tensors(&self.graph, &graph)
    }
}

fn read(config: &str) -> Result<Program, String> {
    let table = Table::parse(config).map_err(|problem| format!("{}\n", problem.message))?;
    let (_, passes) = table.get("passes").expect("a config has [passes.NAME]");
    let passes = passes.as_table().expect("[passes.NAME] is a table");
    Program::read(passes).map_err(|problems| {
        let lines = problems.iter().map(|p| p.message.clone() + "\n");
        lines.collect()
    })
}

/// Hides times, which differ from run to run, and leaves out the memory of the process, which not every system tells.
fn hide_times(sections: &mut [Section]) {
    for section in sections {
        let Section::Table { table, .. } = section else {
            continue;
        };
        let find = |heading: &str| table.headings.iter().position(|other| other == heading);
        let (time, value, unit) = (find("Milliseconds"), find("Value"), find("Unit"));
        let has_unit = |row: &[String], units: &[&str]| {
            unit.is_some_and(|unit| units.contains(&row[unit].as_str()))
        };
        table.rows.retain(|row| !has_unit(row, &["kB"]));
        for row in &mut table.rows {
            let timed = value.filter(|_| has_unit(row, &["ms", "rows/s"]));
            for column in time.into_iter().chain(timed) {
                "-".clone_into(&mut row[column]);
            }
        }
    }
}

fn changes(before: &Graph, after: &Graph) -> String {
    let mut text = if after.to_string() == before.to_string() {
        String::new()
    } else {
        after.to_string()
    };
    text += &changed_tensors(before, after);
    for node in after.nodes() {
        for (port, found) in &node.statistics {
            let names: Vec<&str> = found.keys().map(String::as_str).collect();
            let _ = writeln!(
                text,
                "# statistics of {}: {}",
                node.param_path(port),
                names.join(", ")
            );
        }
    }
    if text.is_empty() {
        "# the graph is as it was\n".to_owned()
    } else {
        text
    }
}

/// A line for every parameter and mask that is new or has other values.
fn changed_tensors(before: &Graph, after: &Graph) -> String {
    let old = tensors_of(before);
    let mut text = String::new();
    for tensor in tensors_of(after) {
        if old.contains(&tensor) {
            continue;
        }
        let shown = tensor.values.iter().take(SHOWN).map(|&value| short(value));
        let more = if tensor.values.len() > SHOWN {
            " …"
        } else {
            ""
        };
        let values = shown.collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "# {} = {values}{more}", tensor.name);
    }
    text
}

/// At most four digits behind the point.
fn short(value: f32) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// The name of a file, and its text where it is small.
fn file(file: &OutputFile) -> String {
    let name = file.path.display();
    match std::str::from_utf8(&file.bytes) {
        Ok(text) if text.lines().count() <= MAX_LINES => {
            format!("file {name}:\n{}\n", text.trim_end())
        }
        Ok(text) => format!("file {name}: {} lines\n", text.lines().count()),
        _ => format!("file {name}: {} bytes\n", file.bytes.len()),
    }
}

fn numbers(text: &str) -> Vec<f32> {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    words
        .map(|word| word.parse().unwrap_or_else(|_| panic!("a number: {word}")))
        .collect()
}

/// Gives every parameter its values: those of the case, or multiples of 1/32 from a seed.
fn set_tensors(graph: &mut Graph, given: &BTreeMap<&str, &str>) {
    let mut set = Vec::new();
    let verified = verify(graph).unwrap_or_else(|error| panic!("{error}"));
    for (id, node) in graph.iter() {
        for (port, shape, ..) in node.param_specs() {
            let path = node.param_path(port);
            let values = given.get(path.as_str()).map_or_else(
                || seeded(&path, port, shape.iter().product()),
                |text| numbers(text),
            );
            set.push((
                id,
                port.to_owned(),
                tensor(&path, shape.clone(), values),
                false,
            ));
            let path = node.mask_path(port);
            if let Some(text) = given.get(path.as_str()) {
                set.push((
                    id,
                    port.to_owned(),
                    tensor(&path, shape, numbers(text)),
                    true,
                ));
            }
        }
        for (port, ty) in node.data_ports().into_iter().zip(verified.input_types(id)) {
            let path = node.mask_path(&port);
            if let Some(text) = given.get(path.as_str()) {
                let shape = ty.shape.sample().expect("inputs have rows");
                set.push((id, port, tensor(&path, shape, numbers(text)), true));
            }
        }
    }
    let known: Vec<&str> = given.keys().copied().collect();
    let used = set.iter().map(|(id, port, _, is_mask)| {
        let node = graph.node(*id);
        if *is_mask {
            node.mask_path(port)
        } else {
            node.param_path(port)
        }
    });
    let used: Vec<String> = used.collect();
    for name in known {
        assert!(used.iter().any(|path| path == name), "there is no {name}");
    }
    for (id, port, tensor, is_mask) in set {
        if is_mask {
            graph.node_mut(id).set_mask(&port, tensor);
        } else {
            graph.node_mut(id).params.insert(port, tensor);
        }
    }
}

fn tensor(path: &str, shape: Vec<usize>, values: Vec<f32>) -> Tensor {
    let count = values.len();
    Tensor::new(shape, values).unwrap_or_else(|| panic!("{path} does not have {count} values"))
}

/// Multiples of 1/32 from -1 to 1; variances are positive.
fn seeded(path: &str, port: &str, count: usize) -> Vec<f32> {
    let random = Random::new(1, path);
    let value = |k: u64| match port {
        "running_var" => (random.bits(k) % 64 + 8) as f32 / 32.0,
        _ => (random.bits(k) % 65) as f32 / 32.0 - 1.0,
    };
    (0..count as u64).map(value).collect()
}

/// The given rows, or multiples of 1/8 from -2 to 2.
fn dataset(graph: &Graph, rows: Option<Vec<f32>>) -> Dataset {
    let verified = verify(graph).unwrap_or_else(|error| panic!("{error}"));
    let input = verified.placeholders()[0];
    let shape = verified.ty(input.into()).shape.sample();
    let sample_shape = shape.expect("the input has rows");
    let width = sample_shape.iter().product();
    let random = Random::new(1, "rows");
    let value = |k: usize| (random.bits(k as u64) % 33) as f32 / 8.0 - 2.0;
    let values = rows.unwrap_or_else(|| (0..ROWS * width).map(value).collect());
    let count = values.len() / width;
    let rows = Rows {
        values,
        labels: vec![0; count],
        width,
    };
    Dataset::of_rows("rows", sample_shape, rows)
}
