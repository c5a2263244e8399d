//! From a verified graph to a program, in four stages: a schedule of steps and values (`schedule`), gradients wired
//! backwards (`gradients`), a place in the arena for every buffer (`layout`), and all of it put together (`assemble`).

mod assemble;
mod gradients;
mod layout;
mod schedule;

use crate::EngineError;
use crate::options::PlanOptions;
use crate::shard::Program;
use crate::state::State;
use gradients::GradientFlow;
use ir::Verified;
use layout::Layout;
use schedule::Schedule;

/// Compiles the graph for `rows` of the rows of a batch.
pub(crate) fn lower(
    verified: &Verified,
    options: &PlanOptions,
    state: &State,
    rows: usize,
) -> Result<Program, EngineError> {
    let schedule = Schedule::new(verified, options, state, rows)?;
    let gradients = GradientFlow::new(&schedule, options.gradients.any());
    let layout = Layout::new(&schedule, &gradients);
    Ok(assemble::assemble(schedule, &gradients, &layout, rows))
}
