//! Latency, throughput, scores and memory of the network on this machine.

use crate::observe::check_width;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use data::SplitName;
use ir::{Graph, verify};
use measure::{Latency, Measurement, Schedule, process_peak};
use report::{Column, Table};
use scores::Scores;
use serde_json::Value as Json;

mod measure;
mod scores;

/// `[passes.runtime_analysis]`: see [`Pass::DOC`].
pub struct RuntimeAnalysis {
    num_batches: usize,
    num_warmup_batches: usize,
    /// Rows of a batch; that of the run if not given.
    batch_size: Option<usize>,
    split: SplitName,
    is_classification: bool,
    /// Remarks on keys without effect.
    notes: Vec<String>,
}

/// Keys that the original's pass gets from its program, with the reason why they change nothing here.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("model", "the network is the one that the passes run on"),
    ("dataset", "the rows are those of the run's dataset"),
    ("data_module", "the rows are those of the run's dataset"),
    ("num_workers", "rows are read from memory"),
    ("tokenizer", "texts are not decoded"),
    ("decoder", "texts are not decoded"),
    ("beam_width", "texts are not decoded"),
    ("padding_value", "texts are not decoded"),
    (
        "sample_rate",
        "the real-time factor of audio is not computed",
    ),
];

/// The original's names of devices; true where it is the one that the network runs on.
const ACCELERATORS: &[(&str, bool)] = &[
    ("cpu", true),
    ("auto", true),
    ("gpu", false),
    ("cuda", false),
    ("mps", false),
];

/// The original's names of tasks; true where outputs are scores of classes.
const TASKS: &[(&str, bool)] = &[
    ("cls", true),
    ("classification", true),
    ("ctc", false),
    ("lm", false),
    ("language_modeling", false),
    ("detection", false),
    ("instance-segmentation", false),
];

/// The fields of the original that nothing here can measure, and the reason.
const NOT_MEASURED: [&str; 2] = ["Average GPU Power Usage", "Inference Energy Consumption"];
const NO_ENERGY: &str = "Average GPU Power Usage and Inference Energy Consumption are not measured: \
                         the network runs on the CPU, and energy counters are not read";

impl Pass for RuntimeAnalysis {
    const NAME: &'static str = "runtime_analysis";
    const ABOUT: &'static str = "latency, throughput, scores and memory on this machine";
    const DOC: &'static str = "\
What it does: runs the network in evaluation mode, batch after batch, and reports the average, median and 90th, 95th and 99th
percentile of the latency of a batch, rows per second, memory, and on rows of a dataset accuracy, loss, and precision, recall
and F1 score weighted by the rows of each class. Precision, recall and F1 score are those of all rows together. The latency of
a batch begins with its rows in memory and ends with the outputs.

Example:
  [passes.runtime_analysis]
  num_batches = 20
  num_GPU_warmup_batches = 5
  test = true

Config: num_batches, batches that are timed, default 500; num_GPU_warmup_batches or num_warmup_batches, batches that run
before them, default 5; batch_size, rows of a batch, default the batch_size of the run; test, the test rows if true and the
validation rows if false, default true; task, scores are made for cls alone; accelerator, the CPU whatever it names. Keys that
the original's program fills in (model, dataset, data_module, num_workers, tokenizer, decoder, beam_width, padding_value,
sample_rate) are accepted.

Reads: num_batches times batch_size rows; random ones without a dataset, and then there are no scores. Where there are fewer
rows they are timed again until there are num_batches, but scored once. A last batch with fewer rows is scored and not timed.
Writes: nothing.

Limits: power and energy are not measured. Formats are simulated in floats, so that the latency of a quantised network is
that of the simulation and not that of hardware for its formats. Activation memory is that of one batch in 32 bits.
Differs from MASE: warm-up batches come on top of num_batches, and the accuracy is the share of right rows, as in ch test,
instead of the mean over batches of the mean over classes.";

    fn read(reader: &mut Reader) -> Self {
        let mut notes = Vec::new();
        for (key, reason) in WITHOUT_EFFECT {
            if reader.item(key).is_some() {
                notes.push(format!("{key} has no effect: {reason}"));
            }
        }
        if reader.choice("accelerator", ACCELERATORS) == Some(false) {
            notes.push("accelerator has no effect: the network runs on the CPU".to_owned());
        }
        let is_classification = reader.choice("task", TASKS).unwrap_or(true);
        if !is_classification {
            notes.push("task is not cls: times are measured, but there are no scores".to_owned());
        }
        let is_test = reader.flag("test").unwrap_or(true);
        Self {
            num_batches: reader.count("num_batches").unwrap_or(500),
            num_warmup_batches: read_warmup(reader, &mut notes),
            batch_size: reader.count("batch_size"),
            split: if is_test {
                SplitName::Test
            } else {
                SplitName::Val
            },
            is_classification,
            notes,
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        context.notes.extend_from_slice(&self.notes);
        let verified = verify(graph)?;
        let schedule = Schedule {
            num_batches: self.num_batches,
            num_warmup_batches: self.num_warmup_batches,
            batch_size: self.batch_size.unwrap_or(context.run_batch_size),
            threads: context.threads,
        };
        let wanted = self.num_batches.saturating_mul(schedule.batch_size);
        let Some(rows) = context.rows_if_any(self.split, wanted)? else {
            let measurement = measure::on_random_rows(&verified, schedule, context.seed)?;
            let report = self.report(&measurement, None, schedule, "random");
            return Ok(
                report.with_text("no dataset: the rows were random, and there are no scores")
            );
        };
        check_width(&verified, &rows)?;
        let mut scores = None;
        if self.is_classification {
            scores = Scores::of(&verified, &rows);
            if scores.is_none() {
                let message = "the network does not return a score for each class of the rows, so there is no accuracy";
                context.notes.push(message.to_owned());
            }
        }
        let measurement = measure::on_rows(graph, &rows, schedule, scores.as_mut())?;
        let rows = self.split.long_name();
        Ok(self.report(&measurement, scores.as_ref(), schedule, rows))
    }
}

/// The batches before the ones that are timed, by either of two keys.
fn read_warmup(reader: &mut Reader, notes: &mut Vec<String>) -> usize {
    let mut count = |key| reader.whole(key, 0..=i64::from(u32::MAX));
    let (general, original) = (count("num_warmup_batches"), count("num_GPU_warmup_batches"));
    if let (Some(general), Some(_)) = (general, original) {
        notes.push(format!(
            "num_GPU_warmup_batches has no effect: num_warmup_batches = {general} is given"
        ));
    }
    general.or(original).map_or(5, |count| count as usize)
}

impl RuntimeAnalysis {
    fn report(
        &self,
        measurement: &Measurement,
        scores: Option<&Scores>,
        schedule: Schedule,
        rows: &str,
    ) -> PassReport {
        let mut fields = Fields::default();
        if let Some(scores) = scores {
            let name = match self.split {
                SplitName::Test => "Average Test Accuracy",
                _ => "Average Validation Accuracy",
            };
            fields.add_shown(name, "Average Accuracy", scores.accuracy(), "");
            fields.add("Average Precision", scores.precision(), "");
            fields.add("Average Recall", scores.recall(), "");
            fields.add("Average F1 Score", scores.f1(), "");
            fields.add("Average Loss", scores.loss(), "");
        }
        let latency = Latency::of(&measurement.milliseconds);
        fields.add("Average Latency", latency.average, "ms");
        fields.add("Median Latency", latency.median, "ms");
        fields.add("P90 Latency", latency.p90, "ms");
        fields.add("P95 Latency", latency.p95, "ms");
        fields.add("P99 Latency", latency.p99, "ms");
        let per_second = measurement.batch_size as f64 * 1e3 / latency.average;
        fields.add("Throughput", per_second, "rows/s");
        fields.add_count("Parameter Memory", measurement.parameter_bytes, "bytes");
        fields.add_count("Activation Memory", measurement.activation_bytes, "bytes");
        if let Some(kilobytes) = process_peak() {
            fields.add_count("Peak Process Memory", kilobytes, "kB");
        }
        for name in NOT_MEASURED {
            fields.table.push([name, "not measured", ""]);
            fields.facts.push((name, Json::Null));
        }
        let text = format!(
            "{} batches of {} {rows} rows, after {} to warm up, on {} {}",
            schedule.num_batches,
            measurement.batch_size,
            schedule.num_warmup_batches,
            schedule.threads,
            if schedule.threads == 1 {
                "thread"
            } else {
                "threads"
            },
        );
        let mut report = PassReport::default();
        for (name, value) in fields.facts {
            report = report.with_fact(name, value);
        }
        report
            .with_fact("num_batches", schedule.num_batches)
            .with_fact("batch_size", measurement.batch_size)
            .with_fact("threads", schedule.threads)
            .with_table("runtime", fields.table)
            .with_text(format!("{text}\n{NO_ENERGY}"))
    }
}

/// The results by the original's names: a table for people, facts for programs.
struct Fields {
    table: Table,
    facts: Vec<(&'static str, Json)>,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            table: Table::with_columns(&[
                Column::words("Metric (Per Batch)", "the original's name of it"),
                Column::numbers("Value", "five digits of it"),
                Column::words("Unit", "its unit"),
            ]),
            facts: Vec::new(),
        }
    }
}

impl Fields {
    fn add(&mut self, name: &'static str, value: f64, unit: &str) {
        self.add_shown(name, name, value, unit);
    }

    /// A field that the original shows by another name than it returns it by.
    fn add_shown(&mut self, shown: &str, name: &'static str, value: f64, unit: &str) {
        self.table.push([shown, &five_digits(value), unit]);
        self.facts.push((name, value.into()));
    }

    fn add_count(&mut self, name: &'static str, count: u64, unit: &str) {
        self.table.push([name, &count.to_string(), unit]);
        self.facts.push((name, count.into()));
    }
}

/// A number with five significant digits.
fn five_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let decimals = (4 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_significant_digits() {
        let cases = [
            (0.0, "0"),
            (0.5, "0.50000"),
            (1.0, "1.0000"),
            (0.001_234_567, "0.0012346"),
            (12.345_678, "12.346"),
            (123_456.7, "123457"),
        ];
        for (value, text) in cases {
            assert_eq!(five_digits(value), text);
        }
    }
}
