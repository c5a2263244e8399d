//! The program `ch`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ch::run(std::env::args_os()))
}
