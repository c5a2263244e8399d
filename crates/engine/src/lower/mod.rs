//! From a verified graph to a program, in four stages: an outline of steps and values (`outline`), gradients wired
//! backwards (`gradients`), a place in the arena for every buffer (`layout`), and all of it put together (`assemble`).

mod assemble;
mod gradients;
mod layout;
mod outline;

use crate::EngineError;
use crate::options::PlanOptions;
use crate::shard::Program;
use crate::state::State;
use gradients::GradientFlow;
use ir::Verified;
use layout::Layout;
use outline::Outline;

/// Compiles the graph for `rows` of the rows of a batch.
pub(crate) fn lower(
    verified: &Verified,
    options: &PlanOptions,
    state: &State,
    rows: usize,
) -> Result<Program, EngineError> {
    let outline = Outline::new(verified, options, state, rows)?;
    let gradients = GradientFlow::new(&outline, options.gradients.any());
    let layout = Layout::new(&outline, &gradients);
    Ok(assemble::assemble(outline, &gradients, &layout, rows))
}
