//! The model zoo: graphs with PyTorch's parameter names and initialisation.
#![forbid(unsafe_code)]
