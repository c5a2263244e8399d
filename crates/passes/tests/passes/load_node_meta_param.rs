//! Metadata that cannot be used is refused.

use crate::network::{model, try_run};

#[test]
fn metadata_that_says_nothing_to_the_program_is_refused() {
    let folder = std::env::temp_dir().join(format!("mase-meta-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("meta.toml");
    let cases = [
        (
            "[seq_blocks_2.comon.args.weight]\nformat = \"integer(8, 4)\"\n",
            "unknown part 'comon'; did you mean 'common'?",
        ),
        (
            "[seq_blocks_2.common.args.weight]\ntype = \"integer\"\nprecision = [8, 4]\n",
            "has type 'integer' but no format",
        ),
    ];
    for (text, expected) in cases {
        std::fs::write(&path, text).unwrap();
        let mut graph = model("jsc-tiny", 0);
        let passes = format!(
            "[load_node_meta_param]\nload_path = {:?}\n",
            path.display().to_string()
        );
        let error = try_run(&mut graph, None, 0, &passes)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
