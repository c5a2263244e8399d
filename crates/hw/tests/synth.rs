//! Synthesis and placement of small networks by the tools themselves.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod emitted;

use emitted::{combinational, edit, pipelined, there};
use hw::simulate::Scratch;
use hw::synth::{
    Area, Design, Placement, Target, by_layer, floor_picture, gates, net_design, place, synthesize,
    timing_top,
};
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

#[test]
fn gates_compute_what_the_text_does() {
    let tools = Toolbox::new(None);
    let (right, wrong) = (pipelined("synth_gates"), combinational("synth_gates_wrong"));
    edit(&wrong, "? 3'd0 :", "? 3'd1 :");
    for target in ["ecp5", "ice40"] {
        let target = Target::find(target).unwrap();
        let Some(outcome) = there(gates(&right, &tools, target, None)) else {
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
    let outcome = gates(&wrong, &tools, target, None).unwrap();
    assert_eq!(outcome.first.unwrap().element, "y[2]");
}

#[test]
fn placement_gives_a_clock_and_a_path_of_nodes() {
    let tools = Toolbox::new(None);
    let fixture = pipelined("synth_place");
    for target in ["ecp5", "ice40"] {
        let target = Target::find(target).unwrap();
        let scratch = Scratch::new().unwrap();
        let top = scratch
            .write("timing_top.sv", timing_top(&fixture.ports))
            .unwrap();
        let design = Design {
            target,
            top: "timing_top",
            sources: vec![fixture.net(), top],
        };
        let Some(synthesis) = there(synthesize(&design, &tools, &scratch)) else {
            return;
        };
        let choices = Placement {
            device: target.device.unwrap(),
            json: &synthesis.json,
            pins: None,
            clock_mhz: 200.0,
            seed: 1,
            nodes: &[],
        };
        let Some(placed) = there(place(&choices, &tools, &scratch)) else {
            return;
        };
        let placed = placed.unwrap();
        assert!(
            placed.fmax_mhz > 10.0 && placed.fmax_mhz < 2000.0,
            "{placed:?}"
        );
        let sum: f64 = placed.critical_path.iter().map(|step| step.delay_ns).sum();
        assert!((sum - 1000.0 / placed.fmax_mhz).abs() < 0.2, "{placed:?}");
        assert!(
            placed
                .critical_path
                .iter()
                .any(|step| step.layer.starts_with("fc")),
            "{placed:?}"
        );
        let text = std::fs::read_to_string(&placed.design).unwrap();
        let picture = floor_picture(&text, &["fc1".to_owned(), "fc2".to_owned()], &[]).unwrap();
        assert!(picture.contains("<title>fc1: ") && picture.contains("<title>fc2: "));
    }
}
