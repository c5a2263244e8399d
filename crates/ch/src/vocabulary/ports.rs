//! The names of ports.

/// Every port, in the order in which metadata has them.
pub static PORTS: &[(&str, &str)] = &[
    (
        "data_in_0",
        "the first value a node reads; its format rounds the value before the operator uses it",
    ),
    (
        "data_in_1",
        "the second value a node reads, such as the right operand of add or matmul",
    ),
    (
        "data_in_2",
        "the third value a node reads, such as the values of an attention",
    ),
    (
        "weight",
        "the weight of a layer; its format rounds it before the operator uses it",
    ),
    ("bias", "what a layer adds to its result"),
    (
        "running_mean",
        "the mean that a batch norm has seen in training and uses in evaluation",
    ),
    (
        "running_var",
        "the variance that a batch norm has seen in training and uses in evaluation",
    ),
    ("value", "the tensor that a constant holds"),
    (
        "data_out_0",
        "the first result of a node; its format rounds the result after it was computed",
    ),
    (
        "data_out_1",
        "the second result of a node, such as the second piece of a chunk",
    ),
];

#[cfg(test)]
mod tests {
    use super::PORTS;

    #[test]
    fn every_parameter_of_every_model_is_a_known_port() {
        for entry in models::MODELS {
            let graph = models::build(entry.name, &models::ModelInfo::default()).unwrap();
            for (port, ..) in graph.nodes().iter().flat_map(ir::Node::param_specs) {
                assert!(
                    PORTS.iter().any(|(name, _)| *name == port),
                    "{}: {port}",
                    entry.name
                );
            }
        }
    }
}
