//! Files that others wrote.
#![forbid(unsafe_code)]
