//! Any bytes as the files between the tools for hardware: vectors, ports, the netlists that yosys and nextpnr write, waveforms, and
//! the facts and pictures that reports are made of.
#![no_main]

use hw::folder::parse_ports;
use hw::ports::{Ports, packed};
use hw::report::markdown;
use hw::simulate::{Wave, harness, testbench};
use hw::synth::{Area, Floor, Netlist, by_layer, floor_picture};
use hw::vectors::Vectors;
use hw::wrap::{Serial, stream};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(vectors) = Vectors::from_bytes(data) {
        let again = Vectors::from_bytes(&vectors.to_bytes());
        assert_eq!(again, Ok(vectors));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(netlist) = Netlist::parse(text, "net") {
        let layers = by_layer(&netlist, &[]);
        assert_eq!(layers.iter().map(|layer| layer.area.lut).sum::<u64>(), Area::of(&netlist).lut);
    }
    drop(floor_picture(text, &[], &[]));
    if let Some(floor) = Floor::from_svg(text) {
        let again = Floor::from_svg(&floor.to_svg(&[]));
        assert_eq!(again, Some(floor));
    }
    let ports = Ports { inputs: packed([("x[0]".to_owned(), 0, -8, 7)]), outputs: packed([("y[0]".to_owned(), 0, 0, 3)]), latency: 1 };
    drop(Wave::read(text, &ports));
    if let Ok(facts) = serde_json::from_str(text) {
        drop(markdown(&facts, &ports, None, None));
    }
    if let Ok(ports) = parse_ports(text) {
        drop((testbench(&ports), harness(&ports), stream(&ports)));
        if let Ok(serial) = Serial::new(&ports, 8) {
            drop(serial.print());
        }
    }
});
