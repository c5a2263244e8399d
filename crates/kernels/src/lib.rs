//! Dense kernels on slices, chosen for the machine at run time.
