//! The steps of a program and the values between them, before anything has a place in memory: one step per node or
//! fused group, steps where ports have masks and formats, copies where a step would read a buffer twice.

use crate::EngineError;
use crate::fuse::{Fusion, fuse};
use crate::ops::batch_norm::{Moments, channel_layout};
use crate::ops::mask::Mask;
use crate::ops::permute::Copy;
use crate::ops::quantize::Quantize;
use crate::ops::reorder::Reorder;
use crate::ops::{self, Lowered, Site};
use crate::options::PlanOptions;
use crate::order::{self, Order};
use crate::rounding::DataRounding;
use crate::state::State;
use crate::step::Step;
use ir::{DType, Node, NodeId, Op, Value, Verified};
use std::collections::HashMap;

/// Steps and values of a program.
#[derive(Default)]
pub(super) struct Schedule {
    pub slots: Vec<Slot>,
    pub storages: Vec<Storage>,
    pub steps: Vec<UnplacedStep>,
    /// Slots of the placeholders.
    pub inputs: Vec<usize>,
    /// Slots of the results; no two share a storage.
    pub outputs: Vec<usize>,
    /// Slots of the observed ports.
    pub observed: Vec<usize>,
}

/// A value inside the program. Several slots may share one storage: a reshape is only a new shape.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// As the graph has it, whatever the order.
    pub shape: Vec<usize>,
    pub order: Order,
    pub storage: usize,
}

/// A buffer with room for a value, and for its gradient when it needs one.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    pub len: usize,
    pub needs_grad: bool,
    /// The step that makes it; none for inputs.
    pub made_by: Option<usize>,
}

/// A step whose operands, given as slots, have no place in memory yet.
pub(super) struct UnplacedStep {
    pub step: Box<dyn Step>,
    /// The node that it is part of.
    pub node: NodeId,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

impl Schedule {
    pub fn new(
        verified: &Verified,
        options: &PlanOptions,
        state: &State,
        rows: usize,
    ) -> Result<Self, EngineError> {
        let (fusions, orders) = (
            fuse(verified, options),
            order::choose(verified, state, options),
        );
        let mut builder = ScheduleBuilder {
            verified,
            options,
            state,
            rows,
            fusions: &fusions,
            orders: &orders,
            schedule: Self::default(),
            values: HashMap::new(),
            moments: HashMap::new(),
            reordered: HashMap::new(),
            current: NodeId(0),
        };
        for (id, node) in verified.graph().iter() {
            builder.current = id;
            builder.node(id, node)?;
        }
        Ok(builder.finish())
    }

    /// The buffer of a slot.
    pub fn storage(&self, slot: usize) -> usize {
        self.slots[slot].storage
    }

    fn new_slot(
        &mut self,
        (shape, order): (Vec<usize>, Order),
        needs_grad: bool,
        made_by: Option<usize>,
    ) -> usize {
        let len = shape.iter().product();
        self.storages.push(Storage {
            len,
            needs_grad,
            made_by,
        });
        self.slots.push(Slot {
            shape,
            order,
            storage: self.storages.len() - 1,
        });
        self.slots.len() - 1
    }
}

/// A schedule being built, node after node.
struct ScheduleBuilder<'a> {
    verified: &'a Verified<'a>,
    options: &'a PlanOptions,
    state: &'a State,
    rows: usize,
    fusions: &'a [Fusion],
    orders: &'a [Order],
    schedule: Schedule,
    values: HashMap<Value, usize>,
    /// By norms that training folds: the moments that they normalise by.
    moments: HashMap<NodeId, usize>,
    /// The slots of values in the order that their makers did not give them.
    reordered: HashMap<Value, usize>,
    /// The node whose steps are being added.
    current: NodeId,
}

impl ScheduleBuilder<'_> {
    fn node(&mut self, id: NodeId, node: &Node) -> Result<(), EngineError> {
        match &node.op {
            Op::Placeholder(_) => {
                let is_float = self.verified.ty(id.into()).dtype == DType::F32;
                let shape = self.shapes(id, node)?.remove(0);
                let needs_grad = self.options.gradients.inputs && is_float;
                let slot = self
                    .schedule
                    .new_slot((shape, Order::Planes), needs_grad, None);
                self.schedule.inputs.push(slot);
                self.define(id, node, vec![slot]);
            }
            Op::Output(_) => {
                let slots = self.read(node, Order::Planes);
                self.schedule.outputs = self.without_duplicates(slots);
            }
            _ => self.operator(id, node)?,
        }
        Ok(())
    }

    fn operator(&mut self, id: NodeId, node: &Node) -> Result<(), EngineError> {
        if let Some(maker) = self.fusions[id.index()].made_by {
            let slot = self.values[&Value::from(maker)];
            self.define(id, node, vec![slot]);
            return Ok(());
        }
        let shapes = self.shapes(id, node)?;
        let order = self.orders[id.index()];
        let inputs = self.read(node, order);
        let outputs = match self.lower(id, node, &inputs, &shapes)? {
            Lowered::SameElements => {
                let input = self.rounded(id, node, inputs)[0];
                vec![self.reshape(input, shapes[0].clone())]
            }
            Lowered::Step(step) => {
                let mut inputs = self.rounded(id, node, inputs);
                self.moments_of_product(id, node, &inputs, &shapes);
                inputs.extend(self.moments.get(&id));
                self.emit_in(order, step, inputs, shapes)
            }
            Lowered::RoundingStep(step) => self.emit_in(order, step, inputs, shapes),
        };
        self.define(id, node, outputs);
        Ok(())
    }

    fn lower(
        &self,
        id: NodeId,
        node: &Node,
        inputs: &[usize],
        shapes: &[Vec<usize>],
    ) -> Result<Lowered, EngineError> {
        ops::lower(&self.site(id, node, inputs, shapes))
    }

    fn site<'s>(
        &'s self,
        id: NodeId,
        node: &'s Node,
        inputs: &[usize],
        shapes: &[Vec<usize>],
    ) -> Site<'s> {
        Site {
            id,
            node,
            verified: self.verified,
            state: self.state,
            inputs: inputs
                .iter()
                .map(|&slot| self.schedule.slots[slot].shape.clone())
                .collect(),
            outputs: shapes.to_vec(),
            mode: self.options.mode,
            may_use_bytes: self.options.may_use_bytes(),
            may_fuse: self.options.fuse,
            fusion: &self.fusions[id.index()],
            order: self.orders[id.index()],
            has_gradients: self.options.gradients.any(),
            batch: self.options.rows,
            rows: self.rows,
        }
    }

    /// Of a layer whose weight takes in a norm: the moments of its product with the weight as it is trained, which its norm
    /// normalises by. Nothing flows back through these steps.
    fn moments_of_product(
        &mut self,
        id: NodeId,
        node: &Node,
        inputs: &[usize],
        shapes: &[Vec<usize>],
    ) {
        let site = self.site(id, node, inputs, shapes);
        let Some((norm, product)) = site.norm_in_weight().zip(ops::lower_product(&site)) else {
            return;
        };
        let order = site.order;
        let layout = channel_layout(&shapes[0], order);
        let product = self.emit_aside(order, product, inputs.to_vec(), shapes[0].clone());
        let (step, shape) = (Box::new(Moments(layout)), vec![2, layout.channels]);
        let moments = self.emit_aside(Order::Planes, step, vec![product], shape);
        self.moments.insert(norm, moments);
    }

    /// The slots of a node's data inputs in an order, each behind a masking step where its port has a mask.
    fn read(&mut self, node: &Node, order: Order) -> Vec<usize> {
        let ports = node.inputs.iter().zip(node.data_ports());
        let read = ports.map(|(&value, port)| {
            let slot = self.ordered(value, order);
            let Some(mask) = node.masks.get(&port) else {
                return slot;
            };
            let shape = self.schedule.slots[slot].shape.clone();
            let step = Mask { mask: mask.clone() };
            self.emit(Box::new(step), vec![slot], vec![shape])[0]
        });
        read.collect()
    }

    /// The slot of a value in an order: its own, or one behind a change of order that all such readers share.
    fn ordered(&mut self, value: Value, order: Order) -> usize {
        let slot = self.values[&value];
        let Slot {
            shape, order: own, ..
        } = self.schedule.slots[slot].clone();
        if own == order || shape.len() < 3 {
            return slot;
        }
        if let Some(&slot) = self.reordered.get(&value) {
            return slot;
        }
        let is_pixel = shape[2..].iter().product::<usize>() == 1;
        let other = if is_pixel || shape[1] == 1 {
            // One pixel an image, or one channel a pixel: both orders are the same.
            let same = self.reshape(slot, shape);
            self.schedule.slots[same].order = order;
            same
        } else {
            let step = Box::new(Reorder::new(&shape, order));
            self.emit_in(order, step, vec![slot], vec![shape])[0]
        };
        self.reordered.insert(value, other);
        other
    }

    /// The inputs, each behind a rounding step where its port has a format.
    fn rounded(&mut self, id: NodeId, node: &Node, inputs: Vec<usize>) -> Vec<usize> {
        let ports = inputs.into_iter().zip(node.data_ports());
        let rounded = ports
            .zip(&node.inputs)
            .map(|((slot, port), &value)| self.round(id, node, (&port, value), slot));
        rounded.collect()
    }

    /// The slot behind a rounding step, if the port has a format.
    fn round(
        &mut self,
        id: NodeId,
        node: &Node,
        (port, value): (&str, Value),
        slot: usize,
    ) -> usize {
        let ty = self.verified.ty(value);
        let Some(rounding) = DataRounding::of(id, node, port, ty, self.rows, self.state) else {
            return slot;
        };
        let shape = self.schedule.slots[slot].shape.clone();
        self.emit(Box::new(Quantize(rounding)), vec![slot], vec![shape])[0]
    }

    /// A second shape of the same elements.
    fn reshape(&mut self, slot: usize, shape: Vec<usize>) -> usize {
        let Slot { order, storage, .. } = self.schedule.slots[slot];
        self.schedule.slots.push(Slot {
            shape,
            order,
            storage,
        });
        self.schedule.slots.len() - 1
    }

    /// A step gets each buffer once: a second reading of the same one goes through a copy.
    fn without_duplicates(&mut self, inputs: Vec<usize>) -> Vec<usize> {
        let mut distinct: Vec<usize> = Vec::with_capacity(inputs.len());
        for slot in inputs {
            let storage = self.schedule.storage(slot);
            let seen = distinct
                .iter()
                .any(|&other| self.schedule.storage(other) == storage);
            distinct.push(if seen {
                let shape = self.schedule.slots[slot].shape.clone();
                self.emit(Box::new(Copy), vec![slot], vec![shape])[0]
            } else {
                slot
            });
        }
        distinct
    }

    /// A step whose results have the order of its first input.
    fn emit(
        &mut self,
        step: Box<dyn Step>,
        inputs: Vec<usize>,
        shapes: Vec<Vec<usize>>,
    ) -> Vec<usize> {
        let first = inputs.first().map(|&slot| self.schedule.slots[slot].order);
        self.emit_in(first.unwrap_or_default(), step, inputs, shapes)
    }

    fn emit_in(
        &mut self,
        order: Order,
        step: Box<dyn Step>,
        inputs: Vec<usize>,
        shapes: Vec<Vec<usize>>,
    ) -> Vec<usize> {
        let inputs = self.without_duplicates(inputs);
        let storages = &self.schedule.storages;
        let from_inputs = inputs
            .iter()
            .any(|&slot| storages[self.schedule.storage(slot)].needs_grad);
        let needs_grad = self.options.gradients.any() && (from_inputs || step.is_trained());
        self.push(order, step, inputs, shapes, needs_grad)
    }

    /// A step that gradients pass by.
    fn emit_aside(
        &mut self,
        order: Order,
        step: Box<dyn Step>,
        inputs: Vec<usize>,
        shape: Vec<usize>,
    ) -> usize {
        self.push(order, step, inputs, vec![shape], false)[0]
    }

    fn push(
        &mut self,
        order: Order,
        step: Box<dyn Step>,
        inputs: Vec<usize>,
        shapes: Vec<Vec<usize>>,
        needs_grad: bool,
    ) -> Vec<usize> {
        let schedule = &mut self.schedule;
        let made_by = Some(schedule.steps.len());
        let outputs = shapes
            .into_iter()
            .map(|shape| schedule.new_slot((shape, order), needs_grad, made_by));
        let outputs: Vec<usize> = outputs.collect();
        schedule.steps.push(UnplacedStep {
            step,
            node: self.current,
            inputs,
            outputs: outputs.clone(),
        });
        outputs
    }

    /// Makes `slots` the results of a node, rounded where the node's results have formats.
    fn define(&mut self, id: NodeId, node: &Node, slots: Vec<usize>) {
        for (output, mut slot) in slots.into_iter().enumerate() {
            let value = Value {
                node: id,
                output: output as u16,
            };
            slot = self.round(id, node, (&format!("data_out_{output}"), value), slot);
            self.values.insert(value, slot);
        }
    }

    fn shapes(&self, id: NodeId, node: &Node) -> Result<Vec<Vec<usize>>, EngineError> {
        let too_large = || EngineError::TooLarge {
            node: node.name.clone(),
            rows: self.options.rows,
        };
        let bound = self
            .verified
            .outputs(id)
            .iter()
            .map(|ty| ty.shape.bind(self.rows));
        bound.collect::<Option<_>>().ok_or_else(too_large)
    }

    fn finish(mut self) -> Schedule {
        let graph = self.verified.graph();
        let ports = self.options.observe.iter();
        let values: Vec<Value> = ports.filter_map(|port| port.value(graph)).collect();
        for value in values {
            if self.values.contains_key(&value) {
                let slot = self.ordered(value, Order::Planes);
                self.schedule.observed.push(slot);
            }
        }
        self.schedule
    }
}
