//! The bytes of pages.

use crate::folder::Folder;
use crate::reported;
use std::fmt::Write;

/// A transformer of so many blocks with 19 nodes each.
fn transformer(blocks: usize) -> String {
    let mut text = "graph \"stack\" { tokens: i64[N, 16] = placeholder\n\
        embedding = embedding(tokens) { target = \"embedding\", num_embeddings = 64, embedding_dim = 16 }\n"
        .to_owned();
    let mut last = "embedding".to_owned();
    for block in 0..blocks {
        let norm = "normalized_shape = [16], eps = 1e-5";
        let split = "shape = [N, 16, 4, 4]";
        let turn = "dims = [0, 2, 1, 3]";
        let linear = |from: usize, to: usize| format!("in_features = {from}, out_features = {to}");
        let statements = [
            ("ln1", format!("layer_norm({last})"), norm.to_owned()),
            ("qkv", "linear(B_ln1)".to_owned(), linear(16, 48)),
            (
                "chunk",
                "chunk(B_qkv)".to_owned(),
                "chunks = 3, dim = -1".to_owned(),
            ),
            ("v0", "view(B_chunk)".to_owned(), split.to_owned()),
            ("q", "permute(B_v0)".to_owned(), turn.to_owned()),
            ("v1", "view(B_chunk.1)".to_owned(), split.to_owned()),
            ("k", "permute(B_v1)".to_owned(), turn.to_owned()),
            ("v2", "view(B_chunk.2)".to_owned(), split.to_owned()),
            ("v", "permute(B_v2)".to_owned(), turn.to_owned()),
            (
                "sdpa",
                "scaled_dot_product_attention(B_q, B_k, B_v)".to_owned(),
                "is_causal = true".to_owned(),
            ),
            ("turn", "permute(B_sdpa)".to_owned(), turn.to_owned()),
            (
                "join",
                "view(B_turn)".to_owned(),
                "shape = [N, 16, 16]".to_owned(),
            ),
            ("o", "linear(B_join)".to_owned(), linear(16, 16)),
            ("add1", format!("add({last}, B_o)"), String::new()),
            ("ln2", "layer_norm(B_add1)".to_owned(), norm.to_owned()),
            ("f1", "linear(B_ln2)".to_owned(), linear(16, 64)),
            ("gelu", "gelu(B_f1)".to_owned(), String::new()),
            ("f2", "linear(B_gelu)".to_owned(), linear(64, 16)),
            ("add2", "add(B_add1, B_f2)".to_owned(), String::new()),
        ];
        for (name, value, attributes) in statements {
            let is_layer = ["ln1", "qkv", "o", "ln2", "f1", "f2"].contains(&name);
            let target = is_layer.then(|| format!("target = \"blocks.{block}.{name}\", "));
            let inner = format!("{}{attributes}", target.unwrap_or_default());
            let value = value.replace("B_", &format!("b{block}_"));
            let _ = writeln!(text, "b{block}_{name} = {value} {{ {inner} }}");
        }
        last = format!("b{block}_add2");
    }
    format!("{text} return {last} }}")
}

#[test]
fn pages_are_small() {
    let folder = Folder::new("report_sizes");
    for (name, blocks) in [("thousand.mg", 52), ("thousands.mg", 263)] {
        std::fs::write(folder.join(name), transformer(blocks)).unwrap();
    }
    for (arguments, nodes, max) in [
        ("resnet18 --num-samples 2", 71, 400_000),
        ("thousand.mg --num-samples 4", 991, 1_000_000),
        ("thousands.mg --num-samples 4", 5000, 3_000_000),
    ] {
        let data = reported(arguments, &folder);
        assert_eq!(data["graph"]["nodes"].as_array().unwrap().len(), nodes);
        let bytes = std::fs::metadata(folder.join("r.html")).unwrap().len();
        println!("{arguments}: {bytes} bytes");
        assert!(bytes <= max, "{arguments}: {bytes} bytes");
        // A network of blocks can be closed to few boxes.
        let views = data["graph"]["views"].as_array().unwrap();
        let boxes = views.last().unwrap()["boxes"].as_array().unwrap().len();
        assert!(boxes < 20, "{arguments}: {boxes} boxes");
    }
}
