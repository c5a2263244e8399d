//! Quantised networks as hardware, with open tools only.
//!
//! A network whose every operand is fixed point becomes a netlist of additions of shifted values ([`net`]), which is printed as
//! SystemVerilog, simulated, proved for every input, synthesised and packed for a board. What a folder of emitted hardware
//! looks like from outside is [`ports`]; what is known of it is [`report`](mod@report), which people see as [`page`](mod@page).
#![forbid(unsafe_code)]

pub mod bitstream;
pub mod boards;
pub mod check;
pub mod elements;
pub mod emit;
pub mod estimate;
pub mod folder;
pub mod lower;
pub mod net;
pub mod page;
pub mod ports;
pub mod print;
pub mod prove;
pub mod report;
pub mod rtl;
pub mod schedule;
pub mod simulate;
pub mod solve;
pub mod synth;
pub mod tools;
pub mod vectors;
pub mod width;
pub mod wrap;
