//! Lets symbols of Python stay open until it loads the library, on platforms whose linker must be asked.
fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
