//! Boards that a bitstream can be made for: part, package, pins of the serial line, clock.

use crate::synth::{Device, ECP5, ICE40, Target};
use crate::tools::{ECPPACK, ICEPACK, Tool};
use std::fmt::Write;

/// A board with a serial line to its host.
#[derive(Debug)]
pub struct Board {
    /// The name in options and reports.
    pub name: &'static str,
    /// The board, in words.
    pub about: &'static str,
    /// The family of its device.
    pub target: &'static str,
    /// Part, package and speed.
    pub device: Device,
    /// The packer of its bitstreams.
    pub packer: &'static Tool,
    /// The end of a bitstream's name.
    pub suffix: &'static str,
    /// The frequency of its clock.
    pub clock_hz: u32,
    /// Pins of the ports of the serial wrapper.
    pub pins: &'static [(&'static str, &'static str)],
    /// A board of the same family with more room, where there is one in the table.
    pub larger: Option<&'static str>,
}

/// Bits per second of the serial line.
pub const BAUD: u32 = 115_200;

/// Every board.
pub static BOARDS: &[Board] = &[
    Board {
        name: "ulx3s-85f",
        about: "Radiona ULX3S with an ECP5 LFE5U-85F, clock 25 MHz",
        target: "ecp5",
        device: Device {
            options: &["--85k", "--package", "CABGA381", "--speed", "6"],
            ..ECP5
        },
        packer: &ECPPACK,
        suffix: "bit",
        clock_hz: 25_000_000,
        // The port rx listens to what the USB bridge sends.
        pins: &[("clk", "G2"), ("rx", "M1"), ("tx", "L4")],
        larger: None,
    },
    Board {
        name: "hx8k-b-evn",
        about: "Lattice iCE40-HX8K breakout board, clock 12 MHz",
        target: "ice40",
        device: Device {
            options: &["--hx8k", "--package", "ct256"],
            ..ICE40
        },
        packer: &ICEPACK,
        suffix: "bin",
        clock_hz: 12_000_000,
        pins: &[("clk", "J3"), ("rx", "B10"), ("tx", "B12")],
        larger: Some("ulx3s-85f"),
    },
    Board {
        name: "icebreaker",
        about: "1BitSquared iCEBreaker with an iCE40-UP5K, clock 12 MHz",
        target: "ice40",
        device: Device {
            options: &["--up5k", "--package", "sg48"],
            ..ICE40
        },
        packer: &ICEPACK,
        suffix: "bin",
        clock_hz: 12_000_000,
        pins: &[("clk", "35"), ("rx", "6"), ("tx", "9")],
        larger: Some("hx8k-b-evn"),
    },
];

impl Board {
    /// The board of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        BOARDS.iter().find(|board| board.name == name)
    }

    /// The family of its device.
    pub fn family(&self) -> Option<&'static Target> {
        Target::find(self.target)
    }

    /// The clock in MHz.
    pub fn clock_mhz(&self) -> f64 {
        f64::from(self.clock_hz) / 1e6
    }

    /// Cycles of a bit of the serial line, to the nearest.
    pub fn divisor(&self) -> u32 {
        (self.clock_hz + BAUD / 2) / BAUD
    }

    /// The name of its file of pins.
    pub fn constraints_name(&self) -> String {
        let end = if self.target == "ecp5" { "lpf" } else { "pcf" };
        format!("{}.{end}", self.name)
    }

    /// The file of pins: LPF for ECP5, PCF for iCE40.
    pub fn constraints(&self) -> String {
        let mut text = format!("# {}\n", self.about);
        let clock = self.clock_mhz();
        for (port, pin) in self.pins {
            let _ = match self.target {
                "ecp5" => writeln!(
                    text,
                    "LOCATE COMP \"{port}\" SITE \"{pin}\";\nIOBUF PORT \"{port}\" IO_TYPE=LVCMOS33;"
                ),
                _ => writeln!(text, "set_io {port} {pin}"),
            };
        }
        let _ = match self.target {
            "ecp5" => writeln!(text, "FREQUENCY PORT \"clk\" {clock} MHZ;"),
            _ => writeln!(text, "set_frequency clk {clock}"),
        };
        text
    }
}

/// The clock of the network itself for Vivado, `constraints/net.xdc`.
pub fn xdc(clock_mhz: f64) -> String {
    format!(
        "create_clock -period {:.3} -name clk [get_ports clk]\n",
        1000.0 / clock_mhz
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_has_a_family_and_the_pins_of_the_wrapper() {
        for board in BOARDS {
            assert!(
                board.family().is_some_and(|target| target.device.is_some()),
                "{}",
                board.name
            );
            let ports: Vec<&str> = board.pins.iter().map(|(port, _)| *port).collect();
            assert_eq!(ports, ["clk", "rx", "tx"]);
            assert!(board.larger.is_none_or(|name| Board::find(name).is_some()));
            // A byte of ten bits drifts by less than a quarter of one.
            let drift = (f64::from(board.divisor() * BAUD) / f64::from(board.clock_hz) - 1.0).abs();
            assert!(drift < 0.02, "{}: {drift}", board.name);
        }
    }

    #[test]
    fn constraints_are_those_of_the_family() {
        let text = Board::find("ulx3s-85f").unwrap().constraints();
        assert!(
            text.contains("LOCATE COMP \"tx\" SITE \"L4\";\nIOBUF PORT \"tx\" IO_TYPE=LVCMOS33;\n"),
            "{text}"
        );
        assert!(text.ends_with("FREQUENCY PORT \"clk\" 25 MHZ;\n"), "{text}");
        let text = Board::find("icebreaker").unwrap().constraints();
        assert_eq!(text.lines().nth(1), Some("set_io clk 35"));
        assert_eq!(
            xdc(200.0),
            "create_clock -period 5.000 -name clk [get_ports clk]\n"
        );
    }
}
