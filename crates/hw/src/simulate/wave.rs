//! A waveform as reports draw it: the clock, and the codes of elements over time, from a file of value changes (VCD).

use crate::ports::{Element, Ports};
use serde::Serialize;
use std::collections::HashMap;

/// Changes that are read; a waveform of the ports of some rows has far fewer.
const MAX_CHANGES: usize = 4096;

/// Elements of a port that have a line.
const MAX_LINES: usize = 24;

/// The waveform of a network's ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wave {
    /// The last time, in units of the file.
    pub end: u64,
    /// Times and levels of the clock.
    pub clock: Vec<(u64, bool)>,
    /// Elements of `x`, then of `y`.
    pub lines: Vec<WaveLine>,
    /// Elements that have no line.
    pub left_out: usize,
}

/// The codes of an element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaveLine {
    /// The element.
    pub name: String,
    /// `x` or `y`.
    pub port: &'static str,
    /// The times at which it changes, with its code from then on; none where bits have no value.
    pub codes: Vec<(u64, Option<i64>)>,
}

impl Wave {
    /// The waveform of a file with the variables `clk`, `x` and `y`; none where it is not one.
    pub fn read(vcd: &str, ports: &Ports) -> Option<Self> {
        let changes = Changes::read(vcd)?;
        let clock = changes.of("clk")?.iter();
        let clock = clock.map(|(time, bits)| (*time, bits.first() == Some(&Some(true))));
        let mut wave = Self {
            end: changes.end,
            clock: clock.collect(),
            ..Self::default()
        };
        for (port, elements) in [("x", &ports.inputs), ("y", &ports.outputs)] {
            let own = changes.of(port)?;
            let live = elements.iter().filter(|element| element.width > 0);
            wave.left_out += live.clone().count().saturating_sub(MAX_LINES);
            wave.lines
                .extend(live.take(MAX_LINES).map(|element| WaveLine {
                    name: element.name.clone(),
                    port,
                    codes: codes(own, element),
                }));
        }
        Some(wave)
    }
}

/// Bits of a variable, lowest first.
type Bits = Vec<Option<bool>>;

/// The changes of a file, by variable.
struct Changes {
    variables: HashMap<String, Vec<(u64, Bits)>>,
    end: u64,
}

impl Changes {
    fn of(&self, variable: &str) -> Option<&[(u64, Bits)]> {
        self.variables.get(variable).map(Vec::as_slice)
    }

    fn read(vcd: &str) -> Option<Self> {
        let (head, body) = vcd.split_once("$enddefinitions")?;
        // An identifier may stand for several variables.
        let mut names: HashMap<&str, &str> = HashMap::new();
        for line in head.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["$var", _, _, id, name, ..] = words.as_slice() {
                names.insert(id, name);
            }
        }
        let mut own = Self {
            variables: HashMap::new(),
            end: 0,
        };
        let mut count = 0;
        let mut words = body.split_whitespace();
        while let Some(word) = words.next() {
            let (bits, id) = match word.split_at_checked(1)? {
                ("#", time) => {
                    own.end = own.end.max(time.parse().ok()?);
                    continue;
                }
                ("b" | "B", bits) => (bits, words.next()?),
                ("0" | "1" | "x" | "z" | "X" | "Z", id) => (&word[..1], id),
                // A keyword, or a real number.
                _ => continue,
            };
            let Some(name) = names.get(id) else { continue };
            count += 1;
            if count > MAX_CHANGES {
                return None;
            }
            let bit = |c: char| match c {
                '0' => Some(false),
                '1' => Some(true),
                _ => None,
            };
            let changes = own.variables.entry((*name).to_owned()).or_default();
            changes.push((own.end, bits.chars().rev().map(bit).collect()));
        }
        Some(own)
    }
}

/// The codes of an element in its port's bits, where they change.
fn codes(changes: &[(u64, Bits)], element: &Element) -> Vec<(u64, Option<i64>)> {
    let mut codes: Vec<(u64, Option<i64>)> = Vec::new();
    for (time, bits) in changes {
        // Upper bits that are not written are 0, or unknown if the highest one that is written is.
        let upper = bits.last().copied().flatten().map(|_| false);
        let bit = |at: u32| bits.get(at as usize).copied().unwrap_or(upper);
        let code = (0..element.width).try_fold(0_i64, |code, at| {
            let is_on = bit(element.offset + at)?;
            let is_sign = element.signed && at + 1 == element.width;
            let weight = 1_i64.checked_shl(at).unwrap_or(0);
            let weight = if is_sign {
                weight.wrapping_neg()
            } else {
                weight
            };
            Some(if is_on {
                code.wrapping_add(weight)
            } else {
                code
            })
        });
        if codes.last().is_none_or(|last| last.1 != code) {
            codes.push((*time, code));
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::packed;

    const VCD: &str = "$timescale 1ps $end\n$scope module net_tb $end\n$var reg 1 ! clk $end\n\
        $var wire 7 \" x [6:0] $end\n$var wire 2 # y [1:0] $end\n$upscope $end\n$enddefinitions $end\n\
        #0\n$dumpvars\n0!\nb1011 \"\nbx #\n$end\n#5000\n1!\nb10 #\n#9000\n0!\n#10000\nb1111011 \"\n";

    fn ports() -> Ports {
        let element = |name: &str, min, max| (name.to_owned(), 0, min, max);
        Ports {
            inputs: packed([element("x[0]", -4, 3), element("x[1]", 0, 15)]),
            outputs: packed([element("y[0]", 0, 3)]),
            latency: 1,
        }
    }

    #[test]
    fn elements_are_cut_from_their_ports() {
        let wave = Wave::read(VCD, &ports()).unwrap();
        assert_eq!(wave.end, 10000);
        assert_eq!(wave.clock, [(0, false), (5000, true), (9000, false)]);
        let codes: Vec<_> = wave
            .lines
            .iter()
            .map(|line| line.codes.as_slice())
            .collect();
        assert_eq!(codes[0], [(0, Some(3))]);
        assert_eq!(codes[1], [(0, Some(1)), (10000, Some(15))]);
        assert_eq!(codes[2], [(0, None), (5000, Some(2))]);
        assert_eq!(wave.left_out, 0);
    }

    #[test]
    fn what_is_no_waveform_has_none() {
        for hostile in [
            "",
            "$enddefinitions $end #1",
            &VCD.replace("clk", "clock"),
            &VCD.replace("#5000", "#x"),
            &(VCD.to_owned() + &"1!\n".repeat(MAX_CHANGES)),
            &VCD.replace("0!", "€"),
        ] {
            assert_eq!(Wave::read(hostile, &ports()), None, "{hostile}");
        }
    }
}
