//! The config files that come with the program, where a test runs commands that name them.

use std::fs;
use std::path::Path;

/// Copies the folder `configs` of the project into another one.
pub fn copy_configs(to: &Path) {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    copy(&configs, &to.join("configs"));
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the target folder is writable");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the target folder is writable");
        }
    }
}
