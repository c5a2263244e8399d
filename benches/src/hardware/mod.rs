//! Jet classifiers as hardware, here and by da4ml and alkaid: the same function, the same synthesis.
//!
//! Two networks are `w6a6_dense.npz` and `w6a6_pruned.npz` in the folder that `MASE_HARDWARE_DATA` names (16-64-32-32-5,
//! weights and activations of six bits, ties rounded up), five are random and sparse (`sparse.rs`). LUTs are yosys' for `xcup`; CPU
//! seconds of one thread. `devices.rs` measures clocks, bitstreams and simulation, `estimates.rs` the estimates without tools.

mod devices;
mod estimates;
mod network;
mod sparse;

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::print;
use anyhow::{Context, Result, bail};
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::print::verilog;
use hw::prove::{checked_forms, elements, prove};
use hw::rtl::Rtl;
use hw::simulate::Scratch;
use hw::solve::Effort;
use hw::synth::{Area, Design, Netlist, Target, synthesize};
use hw::tools::{Toolbox, YOSYS};
use network::Network;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The other sides, as their Python is asked and as they are called.
const SIDES: [(&str, &str); 2] = [("da4ml", "da4ml 0.6.0"), ("alkaid", "alkaid 0.8.2")];
/// Levels of adders in a stage here, and the delay of a stage there, as they count it.
const LEVELS: f32 = 5.2;
const DELAY: u32 = 5;
/// Networks of the folder.
const NETWORKS: [&str; 2] = ["w6a6_dense", "w6a6_pruned"];
/// Networks whose LUTs are counted by the stock flow of a yosys on the path too: it needs long for large ones.
const STOCK: usize = 3;
/// The network, the side and the figures of a row.
const COLUMNS: [&str; 11] = [
    "network",
    "side",
    "LUT",
    "with INV",
    "FF",
    "cycles",
    "stock LUT",
    "solve ms",
    "proof s",
    "check s",
    "interpreter M rows/s",
];
/// Turns of what is timed; the fastest counts.
const TURNS: usize = 5;

/// Everything.
pub fn run() -> Result<()> {
    areas()?;
    devices()?;
    estimates::run()
}

/// Clocks, bitstreams and simulation alone.
pub fn devices() -> Result<()> {
    devices::run(data().as_deref())
}

/// Estimates alone.
pub fn estimates() -> Result<()> {
    estimates::run()
}

/// Area, solving and proofs alone.
pub fn areas() -> Result<()> {
    let folder = data().context(
        "MASE_HARDWARE_DATA must name the folder with w6a6_dense.npz and w6a6_pruned.npz",
    )?;
    let mut files = Vec::new();
    for name in NETWORKS {
        files.push((name.to_owned(), folder.join(format!("{name}.npz")), false));
    }
    compare(&files)?;
    sparse()
}

/// The folder of the jet classifiers, if it is named.
fn data() -> Option<PathBuf> {
    std::env::var_os("MASE_HARDWARE_DATA").map(PathBuf::from)
}

/// The random sparse networks alone.
pub fn sparse() -> Result<()> {
    let scratch = Scratch::new()?;
    let mut files = Vec::new();
    for (at, weights) in sparse::WEIGHTS.into_iter().enumerate() {
        let file = scratch.file(&format!("sparse_{weights}.npz"));
        sparse::write(&file, weights)?;
        files.push((format!("random, {weights} weights"), file, at < STOCK));
    }
    compare(&files)
}

/// Prints lines for networks, each with its file, and if the stock flow is to count it too: one for each side.
fn compare(files: &[(String, PathBuf, bool)]) -> Result<()> {
    let mut peer = match Peer::da4ml() {
        Ok(peer) => Some(peer),
        Err(error) => {
            println!("left out: da4ml and alkaid: {error}");
            None
        }
    };
    let mut rows = Vec::new();
    for (name, file, is_stock) in files {
        let network = Network::read(file, true)?;
        let even = Network::read(file, false)?;
        for (label, network, effort) in [
            ("ours", &network, Effort::Normal),
            ("ours, best", &network, Effort::Best { seed: 0 }),
            ("ours, ties to even", &even, Effort::Normal),
        ] {
            rows.push(ours(network, [name, label], effort, *is_stock)?);
        }
        if let Some(peer) = &mut peer {
            for side in SIDES {
                rows.push(theirs(peer, side, name, file, *is_stock)?);
            }
        }
        print(&COLUMNS, &rows);
        rows.clear();
    }
    Ok(())
}

fn ours(
    network: &Network,
    [name, label]: [&str; 2],
    effort: Effort,
    is_stock: bool,
) -> Result<Vec<String>> {
    let program = network.program()?;
    let style = Style::Pipelined { levels: LEVELS };
    let (solve, emission) = fastest(|| Ok(Emission::of(&program, style, effort)?))?;
    let (evaluate, got) = fastest(|| Ok(emission.evaluate(&network.x)))?;
    if got != network.results(&program) {
        bail!("{name}: the netlist is another function");
    }
    let text = verilog(&emission.net, &emission.ports);
    let proof = proof(&text, &emission, &program)?;
    let seconds = |of: fn(&[f64; 2]) -> f64| match proof.as_ref().map(of) {
        None => "no yosys".to_owned(),
        Some(seconds) if seconds.is_nan() => "refused".to_owned(),
        Some(seconds) => format!("{seconds:.3}"),
    };
    let scratch = Scratch::new()?;
    let sources = vec![scratch.write("net.sv", text)?];
    let stock = stock(&sources, is_stock)?;
    let area = area(sources)?;
    Ok(vec![
        name.to_owned(),
        label.to_owned(),
        area.lut.to_string(),
        (area.lut + area.inv).to_string(),
        area.ff.to_string(),
        emission.net.latency.to_string(),
        stock,
        format!("{:.1}", solve.cpu * 1e3),
        seconds(|both| both[0]),
        seconds(|both| both[1]),
        format!("{:.2}", network.rows() as f64 / evaluate.cpu / 1e6),
    ])
}

fn theirs(
    peer: &mut Peer,
    (side, label): (&str, &str),
    name: &str,
    file: &Path,
    is_stock: bool,
) -> Result<Vec<String>> {
    let scratch = Scratch::new()?;
    let folder = scratch.file(side);
    let request = format!("{side} {} {} {DELAY}", file.display(), folder.display());
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
    let stock = stock(&sources, is_stock)?;
    let area = area(sources)?;
    Ok(vec![
        name.to_owned(),
        label.to_owned(),
        area.lut.to_string(),
        (area.lut + area.inv).to_string(),
        area.ff.to_string(),
        stages.to_string(),
        stock,
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

/// LUTs by the stock flow of the yosys on the path, where they are asked for.
fn stock(sources: &[PathBuf], is_wanted: bool) -> Result<String> {
    let tools = Toolbox::new(None);
    let Ok(yosys) = tools.find(&YOSYS) else {
        return Ok("no yosys".to_owned());
    };
    if !is_wanted {
        return Ok("–".to_owned());
    }
    let scratch = Scratch::new()?;
    let json = scratch.file("netlist.json");
    let mut script: Vec<String> = sources
        .iter()
        .map(|source| format!("read_verilog -sv {}", source.display()))
        .collect();
    script.push("synth_xilinx -family xcup -flatten -top net".to_owned());
    script.push(format!("write_json {}", json.display()));
    let script = script.join("; ");
    let mut command = yosys.command();
    tools.run_ok(YOSYS.name, command.args(["-q", "-p", &script]))?;
    let netlist = Netlist::parse(&std::fs::read_to_string(&json)?, "net");
    let area = Area::of(&netlist.map_err(anyhow::Error::msg)?);
    Ok(area.lut.to_string())
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
    // What the proof refuses the check may show: one is enough.
    let (proof, proved) = fastest(|| Ok(prove(&Rtl::read(&bytes)?, ports, program).is_ok()))?;
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
    let proof = if proved { proof.cpu } else { f64::NAN };
    Ok(Some([proof, check.cpu]))
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
