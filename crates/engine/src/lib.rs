//! Compiles a verified graph into a plan and runs it: forward, backward, exact integers.
#![forbid(unsafe_code)]
