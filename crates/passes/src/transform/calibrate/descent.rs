//! Coordinate descent on the positions of points.
//!
//! A move shifts the point of a port, or of an input and the weight it meets, by one. Segment after segment every move is
//! tried, and one that lowers the loss clearly stays; a sweep that finds none is the last. While the moves of a segment
//! are tried the network in front of it is not run, and what is behind it is not compiled again.

use super::point::{moved, position};
use super::target::Target;
use crate::PassError;
use crate::transform::walk::{Part, Walk, live_inputs, outputs};
use format::Format;
use ir::{Graph, NodeId};

/// The share of the loss that a move must take off to stay.
const CLEAR: f64 = 1e-3;
/// Sweeps at most.
const MAX_SWEEPS: usize = 12;
/// A move whose loss on the first blocks is above that of the present formats by this share is not tried on the others.
const HOPELESS: f64 = 0.05;

/// Shifts of all formats at once that a descent may start from, besides none. Outliers pull the point of least squared
/// error to coarser steps than the loss asks for, so that finer inputs are what is tried most.
const SHIFTS: [Shift; 8] = [
    Shift::new(0, 0),
    Shift::new(1, 0),
    Shift::new(2, 0),
    Shift::new(-1, 0),
    Shift::new(0, 1),
    Shift::new(0, -1),
    Shift::new(1, 1),
    Shift::new(1, -1),
];
/// The number of these, those of least loss, that are descended from.
const DESCENTS: usize = 3;

/// Positions that all formats are moved by.
#[derive(Clone, Copy)]
struct Shift {
    /// Of values that flow.
    data: i64,
    /// Of weights.
    weight: i64,
}

impl Shift {
    const fn new(data: i64, weight: i64) -> Self {
        Self { data, weight }
    }

    fn of(self, port: &Movable) -> (Movable, i64) {
        let step = match port.port.as_str() {
            port if port.starts_with("data_") => self.data,
            "weight" => self.weight,
            _ => 0,
        };
        (port.clone(), step)
    }
}

/// A port whose format has a point.
#[derive(Clone, Debug)]
pub struct Movable {
    pub node: NodeId,
    pub port: String,
}

/// The formats of some ports.
type Formats = Vec<(Movable, Format)>;

/// The formats that ports have.
fn formats(graph: &Graph, ports: &[Movable]) -> Formats {
    let format = |port: &Movable| graph.node(port.node).formats[&port.port].clone();
    ports
        .iter()
        .map(|port| (port.clone(), format(port)))
        .collect()
}

/// A descent from the formats that a graph has.
pub struct Descent<'a, 'w> {
    graph: &'a mut Graph,
    walk: &'a mut Walk<'w>,
    target: &'a Target,
    /// By segment, its ports.
    ports: Vec<Vec<Movable>>,
    /// By segment, compiled with its present formats.
    parts: Vec<Part>,
    /// By block, with the present formats.
    losses: Vec<f64>,
    evaluations: usize,
    max_evaluations: usize,
}

impl<'a, 'w> Descent<'a, 'w> {
    pub fn new(
        graph: &'a mut Graph,
        walk: &'a mut Walk<'w>,
        target: &'a Target,
        ports: &[Movable],
        max_evaluations: usize,
    ) -> Result<Self, PassError> {
        let of_segment = |segment: usize| {
            let own = |port: &&Movable| walk.segments[segment].contains(port.node);
            ports.iter().filter(own).cloned().collect()
        };
        let segments = 0..walk.segments.len();
        let ports = segments.clone().map(of_segment).collect();
        let mut descent = Self {
            ports,
            parts: Vec::new(),
            losses: Vec::new(),
            graph,
            walk,
            target,
            evaluations: 0,
            max_evaluations,
        };
        descent.start()?;
        Ok(descent)
    }

    /// The loss with the present formats.
    pub fn loss(&self) -> f64 {
        self.losses.iter().sum()
    }

    /// The number of losses that were measured.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// True when no further losses may be measured but those that end the search.
    fn is_spent(&self) -> bool {
        self.evaluations >= self.max_evaluations
    }

    /// Compiles the network as it is now, and measures it.
    pub fn start(&mut self) -> Result<(), PassError> {
        self.walk.rewind();
        let segments = 0..self.walk.segments.len();
        self.parts = segments
            .map(|segment| self.walk.part(segment, self.graph))
            .collect::<Result<_, _>>()?;
        self.losses = self.measure(None)?.expect("nothing is compared with");
        Ok(())
    }

    /// Descends from several starts; the best end stays.
    pub fn search(&mut self) -> Result<(), PassError> {
        let all = self.ports.concat();
        let origin = formats(self.graph, &all);
        let mut starts = Vec::new();
        for shift in SHIFTS {
            self.exchange(origin.clone());
            let steps: Vec<(Movable, i64)> = all.iter().map(|port| shift.of(port)).collect();
            let is_affordable = starts.is_empty() || !self.is_spent();
            if let Some(shifted) = self.shifted(&steps).filter(|_| is_affordable) {
                self.exchange(shifted);
                self.start()?;
                starts.push((self.loss(), formats(self.graph, &all)));
            }
        }
        starts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut best = (f64::INFINITY, origin);
        for (_, start) in starts.into_iter().take(DESCENTS) {
            self.exchange(start);
            self.start()?;
            self.run()?;
            if self.loss() < best.0 {
                best = (self.loss(), formats(self.graph, &all));
            }
        }
        self.exchange(best.1);
        self.start()
    }

    /// Sweeps until no move lowers the loss.
    pub fn run(&mut self) -> Result<(), PassError> {
        let mut unchanged = 0;
        for _ in 0..MAX_SWEEPS {
            self.walk.rewind();
            while self.walk.at < self.ports.len() {
                unchanged = if self.improve_segment()? {
                    0
                } else {
                    unchanged + 1
                };
                if unchanged == self.ports.len() {
                    return Ok(());
                }
                let at = self.walk.at;
                self.walk.advance_through(&mut self.parts[at])?;
            }
        }
        Ok(())
    }

    /// Tries the moves of the segment ahead; a move that stays is repeated. True if one stayed.
    fn improve_segment(&mut self) -> Result<bool, PassError> {
        let mut is_changed = false;
        for steps in moves(&self.ports[self.walk.at]) {
            while self.try_move(&steps)? {
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// The formats after a move; nothing when one of them cannot be had.
    fn shifted(&self, steps: &[(Movable, i64)]) -> Option<Formats> {
        let shifted = |(port, step): &(Movable, i64)| {
            let format = &self.graph.node(port.node).formats[&port.port];
            let format = moved(format, position(format)? + step)?;
            Some((port.clone(), format))
        };
        steps.iter().map(shifted).collect()
    }

    /// Makes a move when it lowers the loss clearly; true if it did.
    fn try_move(&mut self, steps: &[(Movable, i64)]) -> Result<bool, PassError> {
        let Some(formats) = self.shifted(steps).filter(|_| !self.is_spent()) else {
            return Ok(false);
        };
        let old = self.exchange(formats);
        let part = self.walk.part(self.walk.at, self.graph)?;
        if let Some(losses) = self.measure(Some(part))? {
            self.losses = losses;
            return Ok(true);
        }
        self.exchange(old);
        Ok(false)
    }

    /// Gives ports formats; those that they had.
    fn exchange(&mut self, formats: Formats) -> Formats {
        let exchange = |(port, format): (Movable, Format)| {
            let formats = &mut self.graph.node_mut(port.node).formats;
            let old = formats.insert(port.port.clone(), format);
            (port, old.expect("the port has a format"))
        };
        formats.into_iter().map(exchange).collect()
    }

    /// The losses of the blocks from the segment ahead on, which `candidate` stands in for. A candidate stays in its
    /// place if its loss is clearly below the present one; otherwise nothing changes, and there is no result.
    fn measure(&mut self, candidate: Option<Part>) -> Result<Option<Vec<f64>>, PassError> {
        self.evaluations += 1;
        let at = self.walk.at;
        let is_compared = candidate.is_some();
        let old = candidate.map(|part| std::mem::replace(&mut self.parts[at], part));
        let mut losses = Vec::new();
        let mut is_better = true;
        for block in 0..self.walk.blocks().len() {
            losses.push(self.measure_block(block)?);
            if is_compared && is_hopeless(&losses, &self.losses) {
                is_better = false;
                break;
            }
        }
        if is_compared && is_better {
            let sum: f64 = losses.iter().sum();
            is_better = sum < self.loss() * (1.0 - CLEAR);
        }
        if let Some(old) = old.filter(|_| !is_better) {
            self.parts[at] = old;
        }
        Ok(is_better.then_some(losses))
    }

    fn measure_block(&mut self, block: usize) -> Result<f64, PassError> {
        let rows = self.walk.blocks().nth(block).map_or(0, <[u32]>::len);
        let mut ahead = self.parts[self.walk.at..].iter_mut();
        let first = ahead.next().expect("a network has a segment");
        let mut plan = self.walk.run(first, block)?;
        for part in ahead {
            let live = outputs(plan);
            plan = part.run(&live_inputs(&live), rows, &self.walk.pool)?;
        }
        Ok(self.target.loss(block, plan))
    }
}

/// True when a candidate with these losses on the first blocks need not see the others, which have these at present.
fn is_hopeless(losses: &[f64], present: &[f64]) -> bool {
    let so_far: f64 = losses.iter().sum();
    let as_far: f64 = present[..losses.len()].iter().sum();
    so_far > as_far * (1.0 + HOPELESS) || so_far >= present.iter().sum()
}

/// Shifts of the ports of a segment: single ones, and for a weight with the input it meets, both.
fn moves(ports: &[Movable]) -> Vec<Vec<(Movable, i64)>> {
    let single = ports
        .iter()
        .flat_map(|port| [1, -1].map(|step| vec![(port.clone(), step)]));
    let meets = |weight: &&Movable, input: &&Movable| {
        weight.port == "weight" && input.port == "data_in_0" && weight.node == input.node
    };
    let pairs = ports.iter().flat_map(|weight| {
        let inputs = ports.iter().filter(move |input| meets(&weight, input));
        inputs.flat_map(|input| {
            [(1, 1), (1, -1), (-1, 1), (-1, -1)].map(|(of_weight, of_input)| {
                vec![(weight.clone(), of_weight), (input.clone(), of_input)]
            })
        })
    });
    single.chain(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(node: u32, port: &str) -> Movable {
        Movable {
            node: NodeId(node),
            port: port.to_owned(),
        }
    }

    #[test]
    fn every_port_moves_alone_and_a_weight_with_the_input_it_meets() {
        let ports = [
            port(1, "data_in_0"),
            port(1, "weight"),
            port(1, "bias"),
            port(2, "data_in_0"),
            port(3, "data_in_1"),
            port(3, "weight"),
        ];
        let shown = |steps: &Vec<(Movable, i64)>| {
            let step = |(at, step): &(Movable, i64)| format!("{}.{} {step:+}", at.node.0, at.port);
            steps.iter().map(step).collect::<Vec<_>>().join(", ")
        };
        let found: Vec<String> = moves(&ports).iter().map(shown).collect();
        let names = [
            "1.data_in_0",
            "1.weight",
            "1.bias",
            "2.data_in_0",
            "3.data_in_1",
            "3.weight",
        ];
        let alone = names
            .iter()
            .flat_map(|name| [format!("{name} +1"), format!("{name} -1")]);
        let signs = ["++", "+-", "-+", "--"].map(|signs| signs.split_at(1));
        let both = signs.map(|(a, b)| format!("1.weight {a}1, 1.data_in_0 {b}1"));
        assert_eq!(found, alone.chain(both).collect::<Vec<_>>());
    }

    #[test]
    fn a_candidate_is_hopeless_when_it_is_clearly_worse_so_far_or_as_bad_as_all_blocks() {
        let present = [1.0, 1.0, 2.0];
        for (losses, wanted) in [
            (&[1.04][..], false),
            (&[1.06], true),
            (&[1.06, 0.9], false),
            (&[0.5, 1.7], true),
            (&[1.0, 1.0, 1.99], false),
            (&[1.0, 1.0, 2.0], true),
        ] {
            assert_eq!(is_hopeless(losses, &present), wanted, "{losses:?}");
        }
        // As bad as all blocks together before it is seen on all of them.
        assert!(is_hopeless(&[1.0], &[1.0, 0.0]));
    }

    #[test]
    fn a_shift_of_all_formats_moves_values_and_weights_each_by_its_own() {
        let shift = Shift::new(2, -3);
        for (name, step) in [
            ("data_in_0", 2),
            ("data_out_0", 2),
            ("weight", -3),
            ("bias", 0),
        ] {
            assert_eq!(shift.of(&port(1, name)).1, step, "{name}");
        }
    }
}
