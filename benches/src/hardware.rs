//! Two jet classifiers as hardware, here and by da4ml and alkaid: the same function, the same synthesis.
//!
//! The networks are `w6a6_dense.npz` and `w6a6_pruned.npz` in the folder that `MASE_HARDWARE_DATA` names (16-64-32-32-5,
//! weights and activations of six bits, ties rounded up). LUTs are yosys' for `xcup`; CPU seconds of one thread.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::print;
use anyhow::{Context, Result, bail};
use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::print::verilog;
use hw::prove::{checked_forms, elements, prove};
use hw::rtl::Rtl;
use hw::simulate::Scratch;
use hw::solve::Effort;
use hw::synth::{Area, Design, Target, synthesize};
use hw::tools::Toolbox;
use interop::npy::{Numbers, Values};
use ir::{Graph, Tensor, verify};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The other sides, as their Python is asked and as they are called.
const SIDES: [(&str, &str); 2] = [("da4ml", "da4ml 0.6.0"), ("alkaid", "alkaid 0.8.2")];
/// Networks, levels of adders in a stage here, and the delay of a stage there, as they count it.
const NETWORKS: [(&str, f32, u32); 2] = [("w6a6_dense", 5.2, 5), ("w6a6_pruned", 5.2, 5)];
/// Turns of what is timed; the fastest counts.
const TURNS: usize = 5;

/// Prints a line for each network and side.
pub fn run() -> Result<()> {
    let folder = std::env::var_os("MASE_HARDWARE_DATA")
        .map(PathBuf::from)
        .context(
            "MASE_HARDWARE_DATA must name the folder with w6a6_dense.npz and w6a6_pruned.npz",
        )?;
    let mut peer = match Peer::da4ml() {
        Ok(peer) => Some(peer),
        Err(error) => {
            println!("left out: da4ml and alkaid: {error}");
            None
        }
    };
    let mut rows = Vec::new();
    for (name, levels, delay) in NETWORKS {
        let file = folder.join(format!("{name}.npz"));
        let network = Network::read(&file)?;
        for (label, effort) in [
            ("ours", Effort::Normal),
            ("ours, best", Effort::Best { seed: 0 }),
        ] {
            rows.push(network.ours(name, label, levels, effort)?);
        }
        if let Some(peer) = &mut peer {
            for side in SIDES {
                rows.push(theirs(peer, side, name, &file, delay)?);
            }
        }
    }
    let columns = [
        "network",
        "side",
        "LUT",
        "with INV",
        "FF",
        "cycles",
        "solve ms",
        "proof s",
        "check s",
        "interpreter M rows/s",
    ];
    print(&columns, &rows);
    Ok(())
}

/// A network in integers, with rows and their results.
struct Network {
    graph: Graph,
    x: Vec<i64>,
    y: Vec<i64>,
    inputs: usize,
}

impl Network {
    fn read(file: &Path) -> Result<Self> {
        let arrays = interop::npz::read_arrays(file, None)?.arrays;
        let get = |name: &str| {
            let found = arrays.iter().find(|(own, _)| own == name);
            let (_, numbers) =
                found.with_context(|| format!("{}: no array {name}", file.display()))?;
            Ok::<_, anyhow::Error>((numbers.shape.clone(), whole(numbers)))
        };
        let layers = arrays
            .iter()
            .filter(|(name, _)| name.starts_with('W'))
            .count();
        let shifts = get("shifts")?.1;
        let mut text = "graph \"jets\" {\n x: f32[N, 16] = placeholder\n".to_owned();
        let mut from = "x: integer(8, 0)".to_owned();
        let mut frac = 0;
        let mut params = Vec::new();
        for layer in 0..layers {
            let (shape, weights) = get(&format!("W{layer}"))?;
            let bias = get(&format!("B{layer}"))?.1;
            let [outputs, inputs] = shape[..] else {
                bail!("{}: W{layer} is no matrix", file.display());
            };
            writeln!(
                text,
                " fc{layer} = linear({from}) {{ target = \"fc{layer}\", in_features = {inputs}, out_features = {outputs}, \
                 weight: integer(6, 0), bias: integer(20, {frac}) }}"
            )?;
            let weights = weights.iter().map(|&code| code as f32).collect();
            let step = 2_f32.powi(-frac);
            let bias: Vec<f32> = bias.iter().map(|&code| code as f32 * step).collect();
            params.push((
                Tensor::new(vec![outputs, inputs], weights).context("weights")?,
                Tensor::new(vec![outputs], bias).context("biases")?,
            ));
            if let Some(shift) = shifts.get(layer) {
                frac -= *shift as i32;
                writeln!(text, " r{layer} = relu(fc{layer})")?;
                from =
                    format!("r{layer}: integer(6, {frac}, signed = false, rounding = nearest_up)");
            }
        }
        writeln!(text, " return fc{}\n}}", layers - 1)?;
        let mut graph = Graph::parse(&text)?;
        for (layer, (weight, bias)) in params.into_iter().enumerate() {
            let id = graph.find(&format!("fc{layer}")).context("a layer")?;
            let own = &mut graph.node_mut(id).params;
            own.insert("weight".into(), weight);
            own.insert("bias".into(), bias);
        }
        let (shape, x) = get("x")?;
        Ok(Self {
            graph,
            x,
            y: get("y")?.1,
            inputs: shape[1],
        })
    }

    fn ours(&self, name: &str, label: &str, levels: f32, effort: Effort) -> Result<Vec<String>> {
        let verified = verify(&self.graph)?;
        let state = State::new(&verified)?;
        let program = Program::of(&verified, &state, 1)?;
        let style = Style::Pipelined { levels };
        let (solve, emission) = fastest(|| Ok(Emission::of(&program, style, effort)?))?;
        let (evaluate, got) = fastest(|| Ok(emission.evaluate(&self.x)))?;
        if got != self.y {
            bail!("{name}: the netlist is another function");
        }
        let text = verilog(&emission.net, &emission.ports);
        let proof = proof(&text, &emission, &program)?;
        let seconds = |of: fn(&[f64; 2]) -> f64| {
            let own = proof.as_ref().map(|both| format!("{:.3}", of(both)));
            own.unwrap_or_else(|| "no yosys".to_owned())
        };
        let scratch = Scratch::new()?;
        let sources = vec![scratch.write("net.sv", text)?];
        let area = area(sources)?;
        let rows = (self.x.len() / self.inputs) as f64;
        Ok(vec![
            name.to_owned(),
            label.to_owned(),
            area.lut.to_string(),
            (area.lut + area.inv).to_string(),
            area.ff.to_string(),
            emission.net.latency.to_string(),
            format!("{:.1}", solve.cpu * 1e3),
            seconds(|both| both[0]),
            seconds(|both| both[1]),
            format!("{:.2}", rows / evaluate.cpu / 1e6),
        ])
    }
}

fn theirs(
    peer: &mut Peer,
    (side, label): (&str, &str),
    name: &str,
    file: &Path,
    delay: u32,
) -> Result<Vec<String>> {
    let scratch = Scratch::new()?;
    let folder = scratch.file(side);
    let request = format!("{side} {} {} {delay}", file.display(), folder.display());
    let [seconds, stages] = peer.numbers(&request)?;
    let mut sources = Vec::new();
    for place in ["src", "src/static"] {
        for entry in std::fs::read_dir(folder.join(place))? {
            let path = entry?.path();
            // The wrapper is another top, and a table without its file cannot be read; these networks have none.
            let is_left_out = ["net_wrapper.v", "lookup_table.v"].map(|name| path.ends_with(name));
            if path.extension() == Some("v".as_ref()) && !is_left_out.contains(&true) {
                sources.push(path);
            }
        }
    }
    sources.sort();
    let area = area(sources)?;
    Ok(vec![
        name.to_owned(),
        label.to_owned(),
        area.lut.to_string(),
        (area.lut + area.inv).to_string(),
        area.ff.to_string(),
        stages.to_string(),
        format!("{:.1}", seconds * 1e3),
        "–".to_owned(),
        "–".to_owned(),
        "–".to_owned(),
    ])
}

/// The area for `xcup`.
fn area(sources: Vec<PathBuf>) -> Result<Area> {
    let target = Target::find("xcup").context("the target is in the table")?;
    let design = Design {
        target,
        top: "net",
        sources,
    };
    let scratch = Scratch::new()?;
    let synthesis = synthesize(&design, &Toolbox::new(None), &scratch)?;
    Ok(Area::of(&synthesis.netlist("net")?))
}

/// Our own seconds of a proof and of the check of its certificate, behind yosys' reading; none without yosys.
fn proof(text: &str, emission: &Emission, program: &Program) -> Result<Option<[f64; 2]>> {
    let scratch = Scratch::new()?;
    let source = scratch.write("net.sv", text)?;
    let json = scratch.file("net.json");
    let script = format!(
        "read_verilog -sv {}; hierarchy -top net; proc -norom; opt_clean; write_json {}",
        source.display(),
        json.display()
    );
    let Ok(status) = Command::new("yosys").args(["-q", "-p", &script]).status() else {
        return Ok(None);
    };
    if !status.success() {
        bail!("yosys could not read the text");
    }
    let bytes = std::fs::read(&json)?;
    let ports = &emission.ports;
    let (proof, _) = fastest(|| Ok(prove(&Rtl::read(&bytes)?, ports, program)?))?;
    let elements = elements(&emission.net);
    let checked = || {
        Ok(checked_forms(
            &Rtl::read(&bytes)?,
            ports,
            program,
            &elements,
        )?)
    };
    let (check, _) = fastest(checked)?;
    Ok(Some([proof.cpu, check.cpu]))
}

/// The fastest of several turns, and the result of the last.
fn fastest<T>(mut turn: impl FnMut() -> Result<T>) -> Result<(Spent, T)> {
    let mut best = Spent::FOREVER;
    let mut last = None;
    for _ in 0..TURNS {
        best = best.best(time(|| last = Some(turn())));
    }
    Ok((best, last.context("there is a turn")??))
}

/// The numbers of an array of integers.
fn whole(numbers: &Numbers) -> Vec<i64> {
    match &numbers.values {
        Values::I64(values) => values.clone(),
        Values::F32(values) => values.iter().map(|&value| value as i64).collect(),
    }
}
