//! `ch prove DIR`: emitted hardware computes its network for every input.

use crate::hardware::{self, Workbench, checked};
use crate::output::{Output, OutputArgs, json_text};
use anyhow::{Context, Result, bail};
use engine::integer::Program;
use hw::prove::{Certificate, Proof, ProveError, prove, read};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `ch prove`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of `ch emit`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Check that the files are those of certificate.json, and prove them again without writing
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Proves; a module that does something else fails the check.
pub fn run(args: &Args) -> Result<Output> {
    prove_folder(&args.dir, args.check, args.output)
}

/// Proves a folder, or checks the proof that it holds.
pub fn prove_folder(dir: &Path, check: bool, output: OutputArgs) -> Result<Output> {
    hardware::run(dir, output, |bench| prove_module(check, output, bench))
}

fn prove_module(check: bool, output: OutputArgs, bench: &mut Workbench) -> Result<Output> {
    let known = check
        .then(|| Certificate::read(&bench.emitted))
        .transpose()?;
    if let Some(known) = &known
        && let Some(file) = known.changed(&bench.emitted)?
    {
        let text = format!(
            "{file} is not the file that certificate.json is about; `ch prove` without --check proves it\n"
        );
        return Ok(checked(text, false));
    }
    let network = bench.emitted.path.join("network.mz");
    if !network.is_file() {
        bail!("{}: is not there; `ch emit` writes it", network.display());
    }
    let bytes = std::fs::read(&network).with_context(|| network.display().to_string())?;
    let (graph, _) = passes::interface::read_graph_file(&network, &bytes)?;
    let verified = ir::verify(&graph)?;
    let state = engine::State::new(&verified)?;
    let program =
        Program::of(&verified, &state, 1).context("the network cannot run in integers")?;
    let (rtl, tool, _) = read(&bench.emitted, &bench.tools)?;
    let start = Instant::now();
    let proof = prove(&rtl, &bench.emitted.ports, &program);
    let seconds = start.elapsed().as_secs_f64();
    match proof {
        Ok(proof) => proved(
            output,
            bench,
            &proof,
            known.as_ref(),
            &tool.label(),
            seconds,
        ),
        Err(error) => refused(output, &error),
    }
}

fn proved(
    output: OutputArgs,
    bench: &Workbench,
    proof: &Proof,
    known: Option<&Certificate>,
    reader: &str,
    seconds: f64,
) -> Result<Output> {
    let certificate = Certificate::of(&bench.emitted, proof, reader)?;
    match known {
        Some(known) => {
            let same = |own: &Certificate| (own.input_bits, own.outputs, own.latency);
            if same(known) != same(&certificate) {
                let text =
                    "certificate.json claims other inputs, results or cycles than were proved\n";
                return Ok(checked(text.to_owned(), false));
            }
        }
        None => certificate.write(&bench.emitted)?,
    }
    if output.json {
        return Ok(json_text(
            &json!({ "proved": true, "seconds": seconds, "certificate": certificate }),
        )?
        .into());
    }
    let Proof {
        words,
        input_bits,
        outputs,
        latency,
        ..
    } = proof;
    let file = if known.is_some() {
        "certificate.json holds"
    } else {
        "certificate.json"
    };
    let text = format!(
        "proved for all 2^{input_bits} inputs: {words} words, {outputs} outputs, latency {latency} cycles; {file}  {seconds:.2} s\n"
    );
    Ok(text.into())
}

fn refused(output: OutputArgs, error: &ProveError) -> Result<Output> {
    let text = if output.json {
        json_text(&json!({ "proved": false, "reason": error.to_string() }))?
    } else {
        format!("not proved: {error}\n")
    };
    Ok(checked(text, false))
}
