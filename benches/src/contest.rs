//! A table of networks that we, PyTorch and another library run in turns, with one and with two threads.

use crate::peer::Peer;
use crate::table::print;
use anyhow::Result;

/// The last columns of every table.
const WALL: [&str; 3] = ["wall ours", "wall PyTorch", "wall ratio"];

/// Turns of each side; the best counts.
pub const TURNS: usize = 5;

/// One line of a table: a network and the amount of work.
#[derive(Clone, Copy)]
pub struct Contest {
    pub network: &'static str,
    /// Rows of a batch.
    pub rows: usize,
    /// Repetitions of one turn on our side.
    pub ours: usize,
    /// Repetitions of one turn on another side.
    pub theirs: usize,
}

impl Contest {
    pub const fn new(network: &'static str, rows: usize, ours: usize, theirs: usize) -> Self {
        Self {
            network,
            rows,
            ours,
            theirs,
        }
    }
}

/// The other sides of a table.
pub struct Rivals {
    pub torch: Peer,
    /// JAX or ONNX Runtime.
    pub other: Peer,
}

/// Prints the table for one and two threads; `other` starts the library beside PyTorch, `line` measures one contest,
/// `columns` stand behind our own time.
pub fn print_tables(
    [what, unit]: [&str; 2],
    columns: &[&str],
    contests: &[Contest],
    other: impl Fn(usize) -> Result<Peer>,
    line: impl Fn(&mut Rivals, Contest, usize) -> Result<Vec<String>>,
) -> Result<()> {
    for threads in [1, 2] {
        let mut rivals = Rivals {
            torch: Peer::start(threads)?,
            other: other(threads)?,
        };
        let rows = contests
            .iter()
            .filter(|contest| is_asked_for(contest.network))
            .map(|&contest| line(&mut rivals, contest, threads));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        println!(
            "{what}, {threads} thread(s): microseconds of CPU (and wall) per {unit}, best of {TURNS} turns"
        );
        let header = [&["network", "batch", "ours"], columns, &WALL].concat();
        print(&header, &rows);
    }
    Ok(())
}

/// True for a network that `BENCH_NETWORKS` names, separated by commas; for every one without it.
pub fn is_asked_for(network: &str) -> bool {
    std::env::var("BENCH_NETWORKS")
        .map_or(true, |names| names.split(',').any(|name| name == network))
}
