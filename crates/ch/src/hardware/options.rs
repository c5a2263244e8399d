//! Options of the hardware commands. The command line and the tables of a config file share them.

use super::{find_board, find_target};
use crate::command_line::whole;
use crate::rows::{Part, SPLIT_HELP};
use hw::boards::Board;
use hw::emit::Style;
use hw::schedule::DEFAULT_LEVELS;
use hw::solve::Effort;
use hw::synth::Target;

/// Options of `ch emit` and `[emit]`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Hardware")]
pub struct EmitOptions {
    /// Registers: a row every cycle, or none [pipelined]
    #[arg(long, value_enum)]
    pub style: Option<Layout>,
    /// Levels of adders between registers, at most [2.2]
    #[arg(long, value_name = "K", value_parser = levels)]
    pub levels: Option<f32>,
    /// Cut the pipeline for a clock of so many MHz, by the delays of the target
    #[arg(long, value_name = "MHZ", value_parser = megahertz, conflicts_with = "levels")]
    pub clock: Option<f32>,
    /// The device that LUTs are estimated for [xcup]; `ch list targets` names all
    #[arg(long, value_name = "T", value_parser = target)]
    pub target: Option<&'static Target>,
    /// Results: the codes, or the place of the largest of them [codes]
    #[arg(long = "output", value_enum)]
    pub output: Option<Results>,
    /// Work for a smaller netlist: none, one order of sharing, many orders [normal]
    #[arg(long, value_enum)]
    pub effort: Option<Work>,
    /// Give integers of so many bits to every port that needs a format and has none
    #[arg(long, value_name = "W", value_parser = whole::<u32>(1, Some(63)))]
    pub quantize_rest: Option<u32>,
    /// Refuse a netlist that is estimated to be larger [200000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, None))]
    pub max_luts: Option<u64>,
    #[arg(long, value_name = "WORD", help = SPLIT_HELP)]
    pub split: Option<Part>,
    /// Rows that the netlist is compared on and that simulations get, at most; if not given, all
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, None))]
    pub rows: Option<usize>,
}

impl EmitOptions {
    /// These options, and those of a file where they say nothing.
    #[must_use]
    pub fn over(self, file: Self) -> Self {
        let has_cut = self.levels.is_some() || self.clock.is_some();
        let (levels, clock) = if has_cut {
            (self.levels, self.clock)
        } else {
            (file.levels, file.clock)
        };
        Self {
            style: self.style.or(file.style),
            levels,
            clock,
            target: self.target.or(file.target),
            output: self.output.or(file.output),
            effort: self.effort.or(file.effort),
            quantize_rest: self.quantize_rest.or(file.quantize_rest),
            max_luts: self.max_luts.or(file.max_luts),
            split: self.split.or(file.split),
            rows: self.rows.or(file.rows),
        }
    }

    /// The device.
    pub fn target(&self) -> &'static Target {
        self.target.unwrap_or(&hw::synth::TARGETS[0])
    }

    /// The cut into clock cycles.
    pub fn style(&self) -> Result<Style, hw::schedule::ClockError> {
        if self.style == Some(Layout::Combinational) {
            return Ok(Style::Combinational);
        }
        let levels = match self.clock {
            Some(megahertz) => hw::schedule::levels_for(self.target(), megahertz)?,
            None => self.levels.unwrap_or(DEFAULT_LEVELS),
        };
        Ok(Style::Pipelined { levels })
    }

    /// The work for a smaller netlist.
    pub fn effort(&self, seed: u64) -> Effort {
        match self.effort.unwrap_or(Work::Normal) {
            Work::Fast => Effort::Fast,
            Work::Normal => Effort::Normal,
            Work::Best => Effort::Best { seed },
        }
    }
}

/// Options of `ch simulate` and `[simulate]`.
#[derive(Clone, Debug, clap::Args)]
pub struct SimulateOptions {
    /// The simulator; Verilator builds a program first and then runs all rows at once
    #[arg(long, value_enum, default_value_t = Simulator::Icarus)]
    pub with: Simulator,
    /// Rows to run, at most; if not given, all with Verilator, 500 with Icarus, 100 of gates
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, None))]
    pub rows: Option<usize>,
    /// Simulate the netlist after synthesis, with yosys' models of its cells
    #[arg(long)]
    pub gates: bool,
    /// The target of --gates; if not given, that of `ch emit`
    #[arg(long, value_name = "T", requires = "gates", value_parser = target)]
    pub target: Option<&'static Target>,
}

/// Options of `[prove]`, which has none.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ProveOptions {}

/// Options of `ch synth` and `[synth]`.
#[derive(Clone, Debug, clap::Args)]
pub struct SynthOptions {
    /// The family of devices: `ch list targets`; if not given, that of `ch emit`
    #[arg(long, value_name = "T", value_parser = target)]
    pub target: Option<&'static Target>,
    /// Place and route too, between registers, for the clock and the longest path
    #[arg(long)]
    pub place: bool,
    /// Seeds of the placer to try
    #[arg(long, value_name = "N", default_value = "3", requires = "place", value_parser = whole::<u64>(1, Some(1000)))]
    pub seeds: u64,
}

/// Options of `ch bitstream` and `[bitstream]`.
#[derive(Clone, Debug, clap::Args)]
pub struct BitstreamOptions {
    /// The board: `ch list boards`
    #[arg(long, value_name = "NAME", value_parser = board)]
    pub board: &'static Board,
    /// Seeds of the placer to try; the fastest is packed
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>(1, Some(1000)))]
    pub seeds: u64,
}

/// Registers, as an option names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    Combinational,
    Pipelined,
}

/// Results, as an option names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Results {
    Codes,
    Argmax,
}

/// Work, as an option names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Work {
    Fast,
    Normal,
    Best,
}

/// A simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Simulator {
    Icarus,
    Verilator,
}

fn levels(text: &str) -> Result<f32, String> {
    between(text, 0.5, 1000.0)
}

fn megahertz(text: &str) -> Result<f32, String> {
    between(text, 0.1, 2000.0)
}

fn between(text: &str, min: f32, max: f32) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(format!("it is not a number from {min} to {max}")),
    }
}

fn target(name: &str) -> Result<&'static Target, String> {
    find_target(name).map_err(|error| error.to_string())
}

fn board(name: &str) -> Result<&'static Board, String> {
    find_board(name).map_err(|error| error.to_string())
}
