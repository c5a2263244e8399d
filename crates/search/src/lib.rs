//! Search over number formats: spaces, samplers, studies and their storage.
#![forbid(unsafe_code)]
