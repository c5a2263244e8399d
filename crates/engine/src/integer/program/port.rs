//! Values as ports see them: rounded, masked, mapped.

use super::super::error::Refusal;
use super::super::grid::Grids;
use super::super::range::CodeRange;
use super::super::stage::Stage;
use super::build::Builder;
use super::value::{Floats, Known, Place};
use super::{ProgramStep, Source};
use ir::Node;

impl Builder<'_> {
    /// The node's data inputs, each rounded to the format of its port and masked.
    pub(super) fn operands(&mut self, node: &Node) -> Result<Vec<Known>, Refusal> {
        let ports = node.data_ports();
        let pairs = node.inputs.iter().zip(ports);
        pairs
            .map(|(value, port)| {
                let rounded = self.at_port(node, &port, self.values[value].clone())?;
                self.masked(node, &port, rounded)
            })
            .collect()
    }

    /// The value as the port sees it.
    pub(super) fn at_port(
        &mut self,
        node: &Node,
        port: &str,
        known: Known,
    ) -> Result<Known, Refusal> {
        match Grids::of(node, port, &known.shape)? {
            Some(grids) => self.round(node, known, &grids),
            None => Ok(known),
        }
    }

    /// The codes, zero where the mask of a data input is. Rounding before it gives the same as rounding after it: zero is
    /// a code of every fixed-point format.
    pub(super) fn masked(
        &mut self,
        node: &Node,
        port: &str,
        known: Known,
    ) -> Result<Known, Refusal> {
        let Some(mask) = node.masks.get(port) else {
            return Ok(known);
        };
        let (_, range) = known.codes(port)?;
        let keep: Vec<i64> = mask.values().iter().map(|&keep| keep as i64).collect();
        let stage = Stage::Affine {
            offset: vec![0; keep.len()],
            scale: keep,
            inner: 1,
            frac: range.frac,
        };
        self.extend(node, known, stage)
    }

    fn round(&mut self, node: &Node, known: Known, grids: &Grids) -> Result<Known, Refusal> {
        let range = grids.range()?;
        match &known.place {
            Place::Floats(floats) => {
                let source = match floats {
                    Floats::Input(input) => Source::Encode {
                        input: *input,
                        grids: grids.clone(),
                    },
                    Floats::Constant(values) => {
                        Source::Constant(grids.encode(values, range).collect())
                    }
                };
                Ok(self.push_step(node, source, Vec::new(), range, known.shape))
            }
            Place::Codes { range: from, .. } => {
                let on_grid = grids.single().is_some()
                    && from.frac == range.frac
                    && from.min >= range.min
                    && from.max <= range.max;
                if on_grid {
                    Ok(known)
                } else {
                    let stage = grids.round(from.frac, range);
                    self.extend(node, known, stage)
                }
            }
        }
    }

    pub(super) fn extend_all(
        &mut self,
        node: &Node,
        known: Known,
        stages: Vec<Stage>,
    ) -> Result<Known, Refusal> {
        stages
            .into_iter()
            .try_fold(known, |known, stage| self.extend(node, known, stage))
    }

    /// Maps the elements of a value: in the step that makes it when nobody else reads it, in a new one otherwise.
    fn extend(&mut self, node: &Node, known: Known, stage: Stage) -> Result<Known, Refusal> {
        let Place::Codes { step, range } = known.place else {
            return Ok(known);
        };
        let result = stage.range(range)?;
        let known = if known.is_sole {
            known
        } else {
            self.push_step(node, Source::Copy, vec![step], range, known.shape)
        };
        let Place::Codes { step, .. } = known.place else {
            return Ok(known);
        };
        let host = &mut self.program.steps[step];
        host.stages.push(stage);
        host.ranges.push(result);
        let place = Place::Codes {
            step,
            range: result,
        };
        Ok(Known { place, ..known })
    }

    pub(super) fn push_step(
        &mut self,
        node: &Node,
        source: Source,
        inputs: Vec<usize>,
        range: CodeRange,
        shape: Vec<usize>,
    ) -> Known {
        let step = self.program.steps.len();
        self.program.steps.push(ProgramStep {
            node: node.name.clone(),
            source,
            inputs,
            stages: Vec::new(),
            ranges: vec![range],
            shape: shape.clone(),
        });
        Known {
            shape,
            place: Place::Codes { step, range },
            is_sole: true,
        }
    }
}
