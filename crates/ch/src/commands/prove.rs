//! `ch prove DIR`: emitted hardware computes its network for every input.

use crate::hardware::{self, Workbench, checked};
use crate::output::{Output, OutputArgs, json_text};
use anyhow::{Context, Result, bail};
use engine::integer::Program;
use hw::prove::{Certificate, Proof, checked_forms, elements, prove, read};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Bytes of the stack that proofs run on; only what is used becomes memory.
const DEEP_STACK: usize = 1 << 28;

/// Arguments of `ch prove`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of `ch emit`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Check certificate.json against the files, by other means than the proof's, without writing
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

/// Adds the end of a proof to the reports of the folder; what was proved stands in the certificate.
fn record(bench: &mut Workbench, check: bool, reader: &str, reason: Option<&str>) {
    let kind = if check { "check" } else { "prove" };
    let tool = format!(concat!("mase ", env!("CARGO_PKG_VERSION"), ", {}"), reader);
    let facts = match reason {
        Some(reason) => json!({ "reason": format!("not proved: {reason}") }),
        None => json!({}),
    };
    bench.record_rung((kind, ""), &tool, reason.is_none(), facts);
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
    if let Some(known) = &known {
        let ports = &bench.emitted.ports;
        let result = on_deep_stack(|| known.check(&rtl, ports, &program))?;
        let seconds = start.elapsed().as_secs_f64();
        let reason = result.err().map(|error| error.to_string());
        record(bench, check, &tool.label(), reason.as_deref());
        return match reason {
            None => held(output, known, seconds),
            Some(reason) => refused(output, &reason),
        };
    }
    let elements = elements(&bench.emitted.netlist()?);
    let ports = &bench.emitted.ports;
    let proof = on_deep_stack(|| prove(&rtl, ports, &program))?;
    let seconds = start.elapsed().as_secs_f64();
    let forms = match on_deep_stack(|| checked_forms(&rtl, ports, &program, &elements))? {
        Ok(forms) => forms,
        Err(error) => {
            let reason = error.to_string();
            record(bench, check, &tool.label(), Some(&reason));
            return refused(output, &reason);
        }
    };
    // A certificate that holds is a proof, whether or not another was found.
    let proof = proof.unwrap_or_else(|_| Proof::of(&bench.emitted.ports, forms.len()));
    let certificate = Certificate::of(&bench.emitted, &proof, &tool.label(), elements, forms)?;
    certificate.write(&bench.emitted)?;
    record(bench, check, &tool.label(), None);
    proved(output, &certificate, seconds)
}

/// Runs on a stack that holds forms within forms as deep as a text can nest them.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    let builder = std::thread::Builder::new().stack_size(DEEP_STACK);
    std::thread::scope(|scope| {
        let thread = builder
            .spawn_scoped(scope, work)
            .context("a thread cannot be started")?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn proved(output: OutputArgs, certificate: &Certificate, seconds: f64) -> Result<Output> {
    if output.json {
        return Ok(json_text(
            &json!({ "proved": true, "seconds": seconds, "certificate": certificate }),
        )?
        .into());
    }
    let Certificate {
        words,
        input_bits,
        outputs,
        latency,
        ..
    } = certificate;
    let text = format!(
        "proved for all 2^{input_bits} inputs: {words} words, {outputs} outputs, latency {latency} cycles; certificate.json  {seconds:.2} s\n"
    );
    Ok(text.into())
}

/// A certificate that the independent check found right.
fn held(output: OutputArgs, certificate: &Certificate, seconds: f64) -> Result<Output> {
    let (words, elements) = (certificate.forms.len(), certificate.elements.len());
    if output.json {
        return Ok(json_text(&json!({
            "holds": true, "seconds": seconds, "words": words, "elements": elements,
        }))?
        .into());
    }
    let text = format!(
        "certificate.json holds for all 2^{} inputs: {words} words, {elements} elements, {} outputs  {seconds:.2} s\n",
        certificate.input_bits, certificate.outputs
    );
    Ok(text.into())
}

fn refused(output: OutputArgs, reason: &str) -> Result<Output> {
    let text = if output.json {
        json_text(&json!({ "proved": false, "reason": reason }))?
    } else {
        format!("not proved: {reason}\n")
    };
    Ok(checked(text, false))
}
