//! Headings of the tables that passes, comparisons and searches print.

/// Every heading with the meaning of its column.
#[rustfmt::skip]
pub static COLUMNS: &[(&str, &str)] = &[
    // quantising
    ("Ori name", "the node before the passes; - for a new one"),
    ("New name", "the node after the passes"),
    ("MASE_TYPE", "how MASE classes the node: `ch list types`"),
    ("Mase_OP", "what the node computes: `ch list ops`"),
    ("Original type", "the class of the layer before quantising"),
    ("Quantized type", "the same with the format behind it: LinearInteger"),
    ("Changed", "whether the formats or the operator of a node changed"),
    ("Why", "the reason why a node is as it is"),
    ("Rule", "the key of a rule, or the name of a rule of the verifier"),
    ("On grid", "elements whose value is that of a code of the format, to the bit"),
    ("Codes used", "how many different codes occur"),
    ("Saturated", "the share of values beyond the largest or smallest value of the format"),
    ("Largest error", "the largest difference between a value and what is used in its place"),
    ("First codes", "the codes of the first elements, in bits"),
    // costs
    ("MACs", "multiply-accumulates of products, whatever the formats"),
    ("Weight bytes", "bytes of a node's parameters and buffers in their formats"),
    ("Bytes moved", "bytes that a node reads and writes: inputs, parameters, results"),
    ("Effective FLOPs", "FLOPs without those that meet a masked zero"),
    ("Average bits", "bits of an element, averaged over all elements"),
    // statistics and calibration
    ("Statistic", "what was measured: `ch list statistics`"),
    ("SQNR before", "signal-to-quantisation-noise ratio before the change, in dB"),
    ("SQNR after", "signal-to-quantisation-noise ratio after the change, in dB"),
    ("Sparsity", "the share of elements that are zero"),
    // comparing
    ("SQNR", "signal-to-quantisation-noise ratio, 10·log10(Σa²/Σ(a−b)²), in dB; exact when nothing differs"),
    ("SQNR dB", "signal-to-quantisation-noise ratio, 10·log10(Σa²/Σ(a−b)²); exact when nothing differs"),
    ("Cosine", "the cosine of the angle between two results as vectors; 1 when they point the same way"),
    ("Formats A", "the formats of the first network's ports"),
    ("Formats B", "the formats of the second network's ports"),
    // searching
    ("software_metrics", "what running the network measured: accuracy and loss"),
    ("hardware_metrics", "what follows from the graph and its formats"),
    ("scaled_metrics", "the objectives, each multiplied with its scale"),
    ("violation", "how far a trial is beyond its budgets, as shares of the limits; 0 when it keeps them"),
    ("sampled_config", "what a trial chose for every searched node"),
];
