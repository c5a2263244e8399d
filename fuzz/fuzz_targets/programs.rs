//! Any bytes as an exported program: reading and importing never panic, and a graph that comes of it obeys the rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (program, tensors) = match interop::pt2::decode(data) {
        Err(problem) => return drop(problem.to_string()),
        Ok(read) => read,
    };
    match exchange::aten::import_with_opaque("fuzz", &program, tensors) {
        Err(problem) => drop(problem.to_string()),
        Ok(imported) => drop(ir::verify(&imported.graph).expect("an import is verified")),
    }
});
