//! Reports to show: a small one with all there can be, and grids of any size.

use serde_json::{Value as Json, json};

/// A diff with groups, profiles, two runs of training, names that would break a page, and numbers that are none.
pub fn sample() -> Json {
    json!({
        "version": 1, "title": "small against small quantised", "program": "mase 0.1.0",
        "facts": [
            { "name": "model", "after": "small", "about": "the network" },
            { "name": "accuracy", "before": 0.75, "after": 0.74, "about": "share of rows that are right" },
            { "name": "loss", "before": "nan", "after": "inf", "about": "mean over the rows" },
        ],
        "sentences": ["accuracy fell by 1 %"],
        "terms": { "sqnr": "signal to noise", "linear": "a matrix product", "constructor": "no trap" },
        "graph": graph(),
        "ports": ports(),
        "training": training(),
        "search": { "page": "search.html", "trials": 12, "best": "accuracy 0.74" },
    })
}

fn graph() -> Json {
    let nodes = json!([
        node(
            "x",
            "placeholder",
            "input",
            &[],
            json!({ "sqnr": "inf", "error": 0 })
        ),
        node(
            "block_fc",
            "linear",
            "product",
            &[0],
            json!({ "group": 0, "state": "changed", "sqnr": 31.25, "formats": formats() })
        ),
        node(
            "block_relu",
            "relu",
            "activation",
            &[1],
            json!({ "group": 0, "sqnr": 30.0 })
        ),
        node(
            "</script><!--",
            "custom",
            "opaque",
            &[2],
            json!({ "state": "added", "sqnr": "nan", "bits": null })
        ),
        node(
            "<img src=x onerror=alert(1)>",
            "batch_norm1d",
            "norm",
            &[2],
            json!({ "state": "removed", "sqnr": null })
        ),
        node(
            "fc/b",
            "linear",
            "product",
            &[3],
            json!({ "state": "changed", "sqnr": 12.5, "formats": formats() })
        ),
        node(
            &"long".repeat(75),
            "output",
            "output",
            &[5],
            json!({ "sqnr": 12.75 })
        ),
    ]);
    json!({
        "name": "small", "is_diff": true, "limited": null,
        "groups": [{ "name": "block", "parent": null, "closed": false }],
        "nodes": nodes,
        "views": [
            view(&[0, 1, 2, 3, 4, 5, 6], &[[0, 1], [1, 2], [2, 3], [2, 4], [3, 5], [5, 6]], &[]),
            view(&[0, -1, 3, 4, 5, 6], &[[0, 1], [1, 2], [1, 3], [2, 4], [4, 5]], &[0]),
        ],
    })
}

fn formats() -> Json {
    json!([
        { "port": "data_in_0", "format": "integer(8, 4)", "before": "float32" },
        { "port": "weight", "format": "integer(8, 4)", "before": "float32" },
        { "port": "bias", "format": "integer(16, 8)" },
    ])
}

/// A node with what it has beside the usual.
fn node(name: &str, op: &str, kind: &str, inputs: &[usize], more: Json) -> Json {
    let mut node = json!({
        "name": name, "op": op, "kind": kind, "target": null, "group": null, "shape": "8×64", "state": "same",
        "inputs": inputs, "formats": [], "text": format!("%{name} = {op}()"), "attributes": [["bias", "true"]],
        "bits": 8, "parameters": 1280, "bytes": 5120, "macs": 10240, "bitops": 655_360,
        "before": { "bits": 32, "parameters": 1280, "bytes": 20480, "macs": 10240, "bitops": 10_485_760 },
        "cost": "8 · 64 · 20 = 10,240", "sparsity": 0.125, "sqnr": null, "error": 0.25, "time": 0.1, "changes": [],
    });
    let Json::Object(more) = more else {
        panic!("{more} is no object")
    };
    node.as_object_mut().unwrap().extend(more);
    node
}

/// Boxes below each other, and straight edges between them.
fn view(references: &[i64], edges: &[[usize; 2]], closed: &[usize]) -> Json {
    let y = |k: usize| 40.0 + 90.0 * k as f64;
    let place = |(k, reference): (usize, &i64)| json!([reference, 150.0, y(k), 200.0, 54.0]);
    let boxes: Vec<Json> = references.iter().enumerate().map(place).collect();
    let edge =
        |&[from, to]: &[usize; 2]| json!([from, to, 150.0, y(from) + 27.0, 150.0, y(to) - 27.0]);
    let edges: Vec<Json> = edges.iter().map(edge).collect();
    json!({ "closed": closed, "width": 300, "height": y(references.len()), "boxes": boxes, "edges": edges })
}

fn ports() -> Json {
    let counts: Vec<usize> = (0..64).map(|bin| bin * (64 - bin)).collect();
    let port = |node: usize, port: &str| {
        json!({
            "node": node, "port": port, "count": 43680, "min": -2.0, "max": 2.0, "mean": 0.01, "deviation": 0.8,
            "quantiles": [0.0, 0.001, 0.2, 0.5, 0.9, 1.9, 2.0], "zeros": 0.001, "nans": 0,
            "histogram": { "low": -2.0, "high": 2.0, "counts": counts },
            "logarithmic": { "low": -8, "high": 1, "counts": [1, 2, 4, 8, 16, 32, 64, 128, 256] },
            "format": "integer(8, 4)", "range": [-8.0, 7.9375], "step": 0.0625, "saturated": 0.005, "zeroed": 0.02,
            "rounded": counts, "before": { "format": "float32", "range": null, "step": null, "saturated": null, "zeroed": null },
        })
    };
    let mut broken = port(5, "bias");
    broken["mean"] = json!("nan");
    broken["max"] = json!("inf");
    broken["quantiles"] = json!([0.0, "nan", 0.2, 0.5, 0.9, "inf", "inf"]);
    broken["logarithmic"] = Json::Null;
    json!([port(1, "data_in_0"), port(5, "weight"), broken])
}

fn training() -> Json {
    let run = |name: &str| {
        json!({ "name": name, "best_epoch": 3, "columns": {
            "epoch": [1, 2, 3], "train_loss": [2.0, 1.0, 0.5], "train_accuracy": [0.3, 0.5, 0.7],
            "val_loss": [2.1, "nan", 0.7], "val_accuracy": [0.3, 0.4, 0.6], "learning_rate": [0.1, 0.01, 0.001],
        } })
    };
    json!({ "runs": [run("first"), run("second <b>")] })
}

/// A graph of so many nodes in rows of ten, each with an edge from the node above it and from its left neighbour.
pub fn grid(count: usize) -> Json {
    let place = |k: usize| {
        (
            120.0 + 240.0 * (k % 10) as f64,
            40.0 + 90.0 * (k / 10) as f64,
        )
    };
    let nodes = (0..count).map(|k| {
        let (op, kind) = [
            ("linear", "product"),
            ("relu", "activation"),
            ("add", "arithmetic"),
            ("reshape", "shape"),
        ][k % 4];
        let formats = if k % 4 == 0 { formats() } else { json!([]) };
        node(
            &format!("stage{}_node{k}", k / 100),
            op,
            kind,
            &[],
            json!({ "formats": formats, "sqnr": (k % 50) as f64 }),
        )
    });
    let boxes = (0..count).map(|k| json!([k, place(k).0, place(k).1, 200.0, 54.0]));
    let edges = (10..count).flat_map(|k| {
        let edge = |from: usize| {
            let ([x, y], [u, v]) = (<[f64; 2]>::from(place(from)), <[f64; 2]>::from(place(k)));
            json!([from, k, x, y + 27.0, u, v - 27.0])
        };
        [
            edge(k - 10),
            edge(if k % 10 == 0 { k - 10 } else { k - 11 }),
        ]
    });
    json!({ "version": 1, "title": "grid", "graph": {
        "name": "grid", "is_diff": false, "limited": null, "groups": [], "nodes": nodes.collect::<Vec<_>>(),
        "views": [{ "closed": [], "width": 2400, "height": 90 * count.div_ceil(10) + 40,
            "boxes": boxes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>() }],
    } })
}
