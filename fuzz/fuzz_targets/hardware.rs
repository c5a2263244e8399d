//! Any bytes as the files between the tools for hardware: vectors, ports, and the netlists that yosys and nextpnr write.
#![no_main]

use hw::folder::parse_ports;
use hw::simulate::{harness, testbench};
use hw::synth::{Area, Netlist, by_layer, floor_picture};
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
    if let Ok(ports) = parse_ports(text) {
        drop((testbench(&ports), harness(&ports), stream(&ports)));
        if let Ok(serial) = Serial::new(&ports, 8) {
            drop(serial.print());
        }
    }
});
