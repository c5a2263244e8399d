//! `ch compare A B [DATASET]`: two networks side by side.

use crate::network::{self, Opener, SampleArgs};
use crate::output::{Output, OutputArgs, Stream, fit, json_text};
use crate::source::BatchArgs;
use anyhow::Result;
use passes::compare::Compare;

/// Arguments of `ch compare`.
#[derive(clap::Args)]
pub struct Args {
    /// The first network: a model, a graph (.mg, .mz, .onnx, .pt2) or a checkpoint
    #[arg(value_name = "A")]
    a: String,
    /// The second network: a model, a graph (.mg, .mz, .onnx, .pt2) or a checkpoint
    #[arg(value_name = "B")]
    b: String,
    /// Rows to run both on; random numbers if not given
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// The model of a checkpoint that holds weights alone
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    sample: SampleArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Compares.
pub fn run(args: &Args) -> Result<Output> {
    let opener = Opener {
        model: args.model.as_deref(),
        seed: args.sample.seed,
        batch_axis: args.batch.batch_axis,
        output: args.output,
    };
    let dataset = args.dataset.as_deref();
    let data = dataset.map(|name| opener.dataset(&args.a, name, &args.sample.data));
    let data = data.transpose()?;
    let info = network::sizes(data.as_ref());
    let (a, b) = (opener.open(&args.a, &info)?, opener.open(&args.b, &info)?);
    network::check_same_inputs((&args.a, &a), (&args.b, &b))?;
    let rows = opener.rows(&a, data.as_ref(), args.sample.num_samples as usize)?;
    network::check_width((&args.a, &a), &rows)?;
    let compare = Compare {
        a: (&args.a, &a),
        b: (&args.b, &b),
        rows: &rows,
        threads: 1,
    };
    let report = compare.report()?;
    let text = if args.output.json {
        json_text(&report.to_json())?
    } else {
        fit::report(&report, Stream::Out, |_| "--json".to_owned())
    };
    Ok(text.into())
}
