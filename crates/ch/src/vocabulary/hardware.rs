//! Keys of the JSON about hardware, and the files of an emitted folder that simulation and synthesis read and write.

/// Every key with its meaning.
#[rustfmt::skip]
pub static KEYS: &[(&str, &str)] = &[
    // simulation
    ("tool", "the program that ran, with its version"),
    ("path", "the program that is run"),
    ("gates", "true when the netlist after synthesis was simulated, with models of its cells"),
    ("available_rows", "rows of the folder's vectors"),
    ("differing", "rows with an element that is not what the integer executor gives"),
    ("first", "the first element that differs: row, element, expected, got"),
    ("row", "the number of a row, from 0"),
    ("element", "an element of the output, as ports.json names it"),
    ("expected", "the code that the integer executor gives"),
    ("got", "the code that the simulation gives; x where bits have no value"),
    // area
    ("area", "cells by kind"),
    ("lut", "look-up tables; a carry cell of ECP5 counts as the two that it occupies"),
    ("inv", "inverters outside of LUTs; place and route may need a LUT for each"),
    ("carry", "carry cells"),
    ("ff", "flip-flops"),
    ("dsp", "multiplier blocks"),
    ("ram", "memories, and shift registers made of LUTs"),
    ("mux", "multiplexers between LUTs"),
    ("other", "cells of kinds that are none of the others"),
    ("lut_with_inv", "look-up tables, with one for each inverter"),
    ("layer", "the node of the graph that cells or signals belong to"),
    // place and route
    ("placement", "the network between registers, placed and routed with several seeds"),
    ("placed", "the placement that was packed"),
    ("seeds", "placements, one for each seed of the placer"),
    ("min_mhz", "the clock of the slowest seed, in MHz"),
    ("median_mhz", "the clock that half of the seeds reach, in MHz"),
    ("max_mhz", "the clock of the fastest seed, in MHz"),
    ("fmax_mhz", "the clock that a placement reaches, in MHz"),
    ("clock_mhz", "the clock of the board, in MHz"),
    ("critical_path", "the longest path from register to register, signal by signal"),
    ("signal", "a signal of rtl/net.sv"),
    ("delay_ns", "nanoseconds of a signal's wires and of the cells before them"),
    ("utilization", "the resources of the device that the design takes"),
    ("resource", "a kind of cell of the device, as nextpnr names it"),
    ("used", "how many of a resource the design takes"),
    ("available", "how many of a resource the device has"),
    // bitstreams
    ("board", "the board that a bitstream is for: `ch list boards`"),
    ("result", "done, or why there is no bitstream: differs, too_large, too_slow"),
    ("bytes", "the size of a file"),
    ("tools", "the programs that ran, with their versions"),
];

/// Every file with its meaning.
#[rustfmt::skip]
pub static FILES: &[(&str, &str)] = &[
    ("net.sv", "rtl/net.sv: the network as one module, with the packed ports x and y"),
    ("top_stream.sv", "rtl/top_stream.sv: the network with valid and ready, named as AXI-Stream has them"),
    ("top_serial.sv", "rtl/top_serial.sv: the network behind a serial line: the bits of x in bytes come in, the elements of y in whole bytes go out"),
    ("ports.json", "the elements of x and y: name, offset, width, sign, bits behind the point, smallest and largest code; the latency in cycles"),
    ("net_tb.sv", "tb/net_tb.sv: the testbench for Icarus"),
    ("harness.cpp", "tb/harness.cpp: the program around Verilator's model"),
    ("test_net.py", "tb/test_net.py: the testbench for cocotb: `python test_net.py`"),
    ("x.bin", "tb/x.bin: rows of input codes: MASEVEC1, rows u32, elements u16, bytes u16, then the codes, little-endian"),
    ("y.bin", "tb/y.bin: the codes that the integer executor gives for x.bin"),
    ("synth.json", "what `ch synth` found: cells by layer, clocks"),
    ("floor.svg", "the device after placing, its tiles coloured by layer"),
];
