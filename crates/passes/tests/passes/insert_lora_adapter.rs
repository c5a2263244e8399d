//! Adapters change nothing until they are trained.

use crate::network::{assert_near, jets, model, outputs, run};

#[test]
fn outputs_stay_as_they_were() {
    let data = jets();
    for config in [
        "rank = 2\n",
        "rank = 3\nlora_alpha = 8\nlora_dropout = 0.5\n",
    ] {
        let mut graph = model("jsc-s", 3);
        let before = outputs(&graph, &data);
        let n_layers = graph
            .nodes()
            .iter()
            .filter(|n| n.op.name() == "linear")
            .count();
        let passes = format!("[insert_lora_adapter]\n{config}");
        let reports = run(&mut graph, None, 0, &passes);
        let (_, adapters) = reports[0].report.tables().next().unwrap();
        assert_eq!(adapters.rows.len(), n_layers);
        assert_near(&outputs(&graph, &data), &before);
    }
}
