//! Synthesis and placement of small networks by the tools themselves.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod emitted;

use emitted::{combinational, edit, pipelined, there};
use hw::estimate::{estimate, random_network};
use hw::print::verilog;
use hw::simulate::{Icarus, Scratch};
use hw::synth::{Area, Design, Target, by_layer, clocks, gates, net_design, synthesize};
use hw::tools::Toolbox;

/// Adders of the pipelined network, in bits: 15 differences of 7, and 15 of the sum of 10.
const ADDER_BITS: u64 = 15 * 7 + 15 * 10;

#[test]
fn area_is_that_of_the_adders_and_registers() {
    let tools = Toolbox::new(None);
    let fixture = pipelined("synth_area");
    for target in ["ecp5", "ice40", "xcup"] {
        let target = Target::find(target).unwrap();
        let scratch = Scratch::new().unwrap();
        let Some(synthesis) = there(synthesize(&net_design(&fixture, target), &tools, &scratch))
        else {
            return;
        };
        let netlist = synthesis.netlist("net").unwrap();
        let area = Area::of(&netlist);
        assert_eq!(area.ff, 15 * 14 + 30, "{}", target.name);
        assert_eq!((area.dsp, area.ram), (0, 0), "{}", target.name);
        assert!(area.other.is_empty(), "{:?}", area.other);
        // A LUT for each bit of an adder, and on iCE40 one to invert a subtrahend: nothing was merged, nothing multiplied.
        assert!(
            area.lut <= ADDER_BITS * 3 / 2 && area.lut > ADDER_BITS / 2,
            "{}: {area:?}",
            target.name
        );
        let layers = by_layer(&netlist, &[]);
        let names: Vec<&str> = layers.iter().map(|layer| layer.layer.as_str()).collect();
        assert_eq!(names, ["fc1", "fc2"], "{}", target.name);
        assert_eq!(layers[0].area.ff, 15 * 14);
        assert_eq!(
            layers.iter().map(|layer| layer.area.lut).sum::<u64>(),
            area.lut
        );
    }
}

/// Synthesis may share registers of equal bits, and finds no more to drop: flip-flops are known without it.
#[test]
fn registers_hold_the_bits_that_are_read() {
    let tools = Toolbox::new(None);
    let target = Target::find("ecp5").unwrap();
    for index in [0, 4] {
        let (net, ports) = random_network(3, index);
        let scratch = Scratch::new().unwrap();
        let design = Design {
            target,
            top: "net",
            sources: vec![scratch.write("net.sv", verilog(&net, &ports)).unwrap()],
        };
        let Some(synthesis) = there(synthesize(&design, &tools, &scratch)) else {
            return;
        };
        let (ff, own) = (
            Area::of(&synthesis.netlist("net").unwrap()).ff,
            net.register_bits(),
        );
        assert!(ff <= own && ff * 10 >= own * 9, "{ff} of {own}");
    }
}

#[test]
fn gates_compute_what_the_text_does() {
    let tools = Toolbox::new(None);
    let (right, wrong) = (pipelined("synth_gates"), combinational("synth_gates_wrong"));
    edit(&wrong, "? 3'd0 :", "? 3'd1 :");
    for target in ["ecp5", "ice40"] {
        let target = Target::find(target).unwrap();
        let Some((outcome, _)) = there(gates(&right, &tools, target, &Icarus::default())) else {
            return;
        };
        assert_eq!(
            (outcome.rows, outcome.differing),
            (200, 0),
            "{}",
            target.name
        );
    }
    let target = Target::find("xcup").unwrap();
    let (outcome, _) = gates(&wrong, &tools, target, &Icarus::default()).unwrap();
    assert_eq!(outcome.first.unwrap().element, "y[2]");
}

#[test]
fn placement_gives_clocks_and_a_path_of_nodes() {
    let tools = Toolbox::new(None);
    let fixture = pipelined("synth_place");
    let layers = ["fc1".to_owned(), "fc2".to_owned()];
    for (target, seeds) in [("ecp5", 1), ("ice40", 2)] {
        let target = Target::find(target).unwrap();
        let Some(clocks) = there(clocks(&fixture, &tools, target, seeds, &layers)) else {
            return;
        };
        let clocks = clocks.unwrap();
        assert_eq!(clocks.seeds.len() as u64, seeds);
        let [min, median, max] = [clocks.min_mhz, clocks.median_mhz, clocks.max_mhz];
        assert!(
            10.0 < min && min <= median && median <= max && max < 2000.0,
            "{clocks:?}"
        );
        for placed in &clocks.seeds {
            let delays = placed.critical_path.iter().map(|step| step.delay_ns);
            assert!(
                (delays.sum::<f64>() - 1000.0 / placed.fmax_mhz).abs() < 0.2,
                "{placed:?}"
            );
            assert!(
                placed
                    .critical_path
                    .iter()
                    .any(|step| step.layer.starts_with("fc")),
                "{placed:?}"
            );
            assert!(
                placed
                    .utilization
                    .iter()
                    .all(|usage| usage.used > 0 && usage.used <= usage.available)
            );
        }
        let picture = &clocks.picture;
        assert!(picture.contains("<title>fc1: ") && picture.contains("<title>fc2: "));
    }
}

#[test]
fn a_family_without_place_and_route_is_told() {
    let fixture = combinational("synth_no_place");
    let target = Target::find("xcup").unwrap();
    let error = clocks(&fixture, &Toolbox::new(None), target, 1, &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no open place and route for xcup; ecp5 and ice40 have one"
    );
}

/// Networks that no calibration has seen.
#[test]
fn estimates_are_near_what_yosys_finds() {
    let tools = Toolbox::new(None);
    let target = Target::find("ice40").unwrap();
    for index in 0..2 {
        let (net, ports) = random_network(1000, index);
        let scratch = Scratch::new().unwrap();
        let design = Design {
            target,
            top: "net",
            sources: vec![scratch.write("net.sv", verilog(&net, &ports)).unwrap()],
        };
        let Some(synthesis) = there(synthesize(&design, &tools, &scratch)) else {
            return;
        };
        let measured = Area::of(&synthesis.netlist("net").unwrap());
        let estimate = estimate(&net, target.name).unwrap();
        let error = estimate.lut.abs_diff(measured.lut) as f64 / measured.lut as f64;
        assert!(error <= 0.15, "{estimate:?} {measured:?}");
    }
}
