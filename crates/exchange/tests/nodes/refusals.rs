//! Nodes that are not read, and why.

use super::{graph, line::Line, list};

/// Lines, and a part of the reason.
const CASES: &[(&str, &str)] = &[
    ("Relu:13 _", "input 0 is missing"),
    (
        "Size:13 x | Mul:13 n %0",
        "a size of the batch is not known",
    ),
    (
        "ReduceSum:13 n i64[1](1) keepdims=0",
        "expected f32, got i64[N, 3]",
    ),
    // pools and convolutions
    (
        "MaxPool:12 p kernel_shape=[2]",
        "kernel_shape = [2] does not fit its input",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,-1]",
        "kernel_shape = [2, -1] does not fit its input",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,16777216]",
        "kernel_shape = [2, 16777216] does not fit its input",
    ),
    (
        "Unsqueeze:11 p axes=[4] | MaxPool:12 %0 kernel_shape=[1,1,1]",
        "3 axes of space are not computed",
    ),
    (
        "MaxPool:12 p kernel_shape=[5,2] ceil_mode=1",
        "its window is larger than its input",
    ),
    (
        "MaxPool:12* p kernel_shape=[2,2] storage_order=1",
        "storage_order is not understood",
    ),
    (
        "AveragePool:19 p kernel_shape=[2,2] dilations=[1,2]",
        "an average over a dilated window is not computed",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,2] strides=[1,0]",
        "a stride or a dilation is 0",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,2] dilations=[0,1]",
        "a stride or a dilation is 0",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,2] strides=[1]",
        "strides = [1] is not 2 sizes",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,2] strides=[1,16777216]",
        "strides = [1, 16777216] is not 2 sizes",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,2] pads=[0,0,-1,0]",
        "pads = [0, 0, -1, 0] is not 4 sizes",
    ),
    (
        "MaxPool:12 p kernel_shape=[2,2] auto_pad='SAME'",
        "auto_pad = SAME is not known",
    ),
    (
        "Conv:11 p f32[3,4,2,3]~1 kernel_shape=[3,2]",
        "kernel_shape = [3, 2] is not that of the weight, [2, 3]",
    ),
    (
        "Conv:11 x f32[3,4,2,3]~1",
        "its weight has another number of axes than its input",
    ),
    (
        "Conv:11 x f32[3,2,2]~1 group=0",
        "group is not a positive number",
    ),
    ("Conv:11 n f32[3,2,2]~1", "takes f32, not i64"),
    (
        "ConvTranspose:11 x f32[2,3,2]~1 output_padding=[1,0]",
        "output_padding or output_shape is not one number for each axis",
    ),
    (
        "ConvTranspose:11 x f32[2,3,2]~1 output_shape=[4,1]",
        "output_padding or output_shape is not one number for each axis",
    ),
    (
        "ConvTranspose:11 x f32[2,3,2]~1 output_shape=[5]",
        "output_shape is larger than the result",
    ),
    (
        "ConvTranspose:11 x f32[2,3,2]~1 auto_pad='SAME_UPPER'",
        "auto_pad of a transposed convolution is not read",
    ),
    (
        "ConvTranspose:11 x f32[2,3,2]~1 pads=[0,1]",
        "it cuts more behind than in front",
    ),
    (
        "AveragePool:11 p kernel_shape=[2,2] pads=[0,0,20000,20000]",
        "it has too many windows",
    ),
    (
        "ConstantOfShape:9 i64[1](3) value=f32[2](1,2)",
        "a constant is filled with one number",
    ),
    (
        "ConstantOfShape:9 i64[1](3) value=i64[2](1,2)",
        "a constant is filled with one number",
    ),
    (
        "ConstantOfShape:9 i64[1](3) value=bool[2](1,1)",
        "a constant is filled with one number",
    ),
    ("Dropout:13* x | Not:1 %0.1", "Dropout"),
    // recurrent
    (
        "LSTM:14 m f32[1,8,3]~1 f32[1,8,2]~2",
        "its input is not of three axes",
    ),
    (
        "Transpose:14 X perm=[1,0,2] | LSTM:14 %0 f32[1,8,3]~1 f32[1,8,2]~2 direction='up'",
        "direction = up is not known",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 clip=1.0",
        "clip, input_forget and peepholes are not computed",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 input_forget=1",
        "clip, input_forget and peepholes are not computed",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 _ _ _ _ f32[1,6]~1",
        "clip, input_forget and peepholes are not computed",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 activations=['Sigmoid','Tanh','Relu']",
        "are not computed",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 activations=['Sigmoid','Tanh']",
        "are not computed",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 _ i32[2](2,1)",
        "sequences of different lengths are not computed",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 direction='bidirectional'",
        "input 1 is not of four gates for each direction",
    ),
    (
        "LSTM:14 X f32[1,6,3]~1 f32[1,8,2]~2",
        "input 1 is not of four gates for each direction",
    ),
    (
        "LSTM:14 X f32[8,3]~1 f32[1,8,2]~2",
        "input 1 is not of three axes",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 f32[1,8]~1",
        "input 3 is not two biases for each direction",
    ),
    (
        "LSTM:14 X f32[2,8,3]~1 f32[2,8,2]~2 f32[1,16]~1 direction='bidirectional'",
        "input 3 is not two biases for each direction",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 _ _ f32[1,2,2]~1",
        "it has one of two first states",
    ),
    (
        "LSTM:14 X f32[1,8,3]~1 f32[1,8,2]~2 _ _ f32[2,2]~1 f32[1,2,2]~1",
        "its first states are not of three axes",
    ),
    (
        "LSTM:14 X f32[2,8,3]~1 f32[2,8,2]~2 _ _ f32[1,2,2]~1 f32[1,2,2]~1 direction='bidirectional'",
        "its first states are not one for each direction",
    ),
    ("TopK:11* n i64[1](2)", "takes f32, not i64"),
    // QONNX's quantisers
    (
        "qonnx.Quant:1 x f32[2,3](1,2,3,4,5,6) f32[](0) f32[](4)",
        "its scales lie along several axes",
    ),
    (
        "qonnx.Quant:1 x f32[3](1,2,3) f32[2,1](0,1) f32[](4)",
        "its zero points lie along another axis than its scales",
    ),
    (
        "qonnx.Quant:1 x i64[](1) f32[](0) f32[](4)",
        "its scales are not floats",
    ),
    (
        "qonnx.Quant:1 x f32[](1) f32[](0) f32[](2.5)",
        "2.5 bits are not a width",
    ),
    (
        "qonnx.Quant:1 x f32[](1) f32[](0) f32[](0)",
        "0 bits are not a width",
    ),
    (
        "qonnx.Quant:1 x f32[](1) f32[](0) f32[](33)",
        "33 bits are not a width",
    ),
    (
        "qonnx.Quant:1 x f32[](1) f32[](1) f32[](1)",
        "two values about a zero point are not read",
    ),
    (
        "qonnx.Quant:1 x f32[](0.5) f32[](-2) f32[](8) signed=0",
        "zero_point -2 is outside 0 to 255",
    ),
    (
        "qonnx.Quant:1 x f32[](1) f32[](0) f32[](4) rounding_mode='odd'",
        "rounding_mode = ODD is not understood",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4) f32[](3) f32[](7) f32[](448) saturation=0",
        "a float that does not saturate",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4) f32[](3) f32[](7) f32[](448) rounding_mode='FLOOR'",
        "a float that does not saturate",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4.5) f32[](3) f32[](7) f32[](448)",
        "4.5 is no number of bits",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4) f32[](3) f32[](256) f32[](448)",
        "256 is no number of bits",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](9) f32[](3) f32[](7) f32[](448)",
        "no format has 9 bits of exponent, 3 of fraction, bias 7 and the largest value 448",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4) f32[](23) f32[](7) f32[](448)",
        "no format has 4 bits of exponent, 23 of fraction",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4) f32[](0) f32[](7) f32[](448)",
        "no format has 4 bits of exponent, 0 of fraction",
    ),
    (
        "qonnx.FloatQuant:1 x f32[](1) f32[](4) f32[](3) f32[](7) f32[](440)",
        "the largest value 440",
    ),
    (
        "qonnx.Trunc:1 x f32[](0.25) f32[](0) f32[](8) f32[](5) rounding_mode='UP'",
        "it truncates by up",
    ),
    // axes
    (
        "Expand:13 m i64[2](2,3)",
        "axis 0 of size 1 does not expand to 2",
    ),
    (
        "Expand:13 M i64[2](4,3)",
        "axis 0 of size 2 does not expand to 4",
    ),
    ("Flatten:13 x axis=4", "axis = 4 is out of range"),
    ("Squeeze:13 x i64[1](1)", "axis 1 has the size 2, not 1"),
    ("Unsqueeze:13 x i64[1](5)", "an axis is out of range"),
    ("Unsqueeze:13 x i64[2](1,1)", "an axis is named twice"),
    (
        "Reshape:13 m i64[3](0,3,0)",
        "axis 2 keeps a size that its input has not",
    ),
    (
        "DepthToSpace:13 p blocksize=0",
        "its blocks do not fit its input",
    ),
    (
        "DepthToSpace:13 p blocksize=1025",
        "its blocks do not fit its input",
    ),
    (
        "DepthToSpace:13 x blocksize=1",
        "its blocks do not fit its input",
    ),
    (
        "DepthToSpace:13 p blocksize=2 mode='ABC'",
        "mode = ABC is not understood",
    ),
    // cutting and joining
    ("Split:13* x i64[2](1,1)", "it cuts the batch"),
    (
        "Split:13* x i64[2](1,2) axis=1",
        "its parts have 3 elements of 2",
    ),
    (
        "Split:13* x i64[1](2) axis=1",
        "it has 1 parts and 2 results",
    ),
    (
        "Split:13* x i64[2](-1,3) axis=1",
        "a part has a negative size",
    ),
    (
        "Split:18* x num_outputs=3 axis=1",
        "num_outputs = 3 is more than it has",
    ),
    ("Slice:13 x i64[1](1) i64[1](9)", "it cuts the batch"),
    (
        "Slice:13 x i64[1](0) i64[1](999999999)",
        "it cuts the batch",
    ),
    (
        "Slice:13 x i64[1](1) i64[1](1) i64[1](1)",
        "its result is empty",
    ),
    (
        "Slice:13 x i64[1](0) i64[1](1) i64[1](1) i64[1](0)",
        "its step is 0",
    ),
    (
        "Slice:13 x i64[1](0) i64[2](1,1)",
        "its lists have different lengths",
    ),
    (
        "Slice:13 m i64[3](0,0,0) i64[3](1,1,1) i64[3](1,1,1)",
        "it cuts more axes than its input has",
    ),
    (
        "Gather:13 x i64[1](3) axis=2",
        "index 3 is out of range for an axis of size 3",
    ),
    (
        "Gather:13 x i64[1](-4) axis=2",
        "index -4 is out of range for an axis of size 3",
    ),
    ("Tile:13 x i64[3](1,0,1)", "0 repetitions are not read"),
    ("Tile:13 x i64[3](1,65,1)", "65 repetitions are not read"),
    (
        "Pad:13 x i64[6](0,0,1,0,0,2) mode='wrap'",
        "mode = wrap is not computed",
    ),
    (
        "Pad:13 x i64[4](0,1,0,1)",
        "its pads are not two for each axis",
    ),
    (
        "Pad:13 x i64[6](0,0,-1,0,0,0)",
        "negative padding is not computed",
    ),
    (
        "Resize:13 p _ f32[4](1,1,2,2) mode='cubic'",
        "mode = cubic is not computed",
    ),
    (
        "Resize:13 p _ f32[3](1,2,2)",
        "its scales or sizes do not fit its axes",
    ),
    (
        "Resize:13 p _ f32[4](2,1,1,1)",
        "its scales or sizes do not fit its axes",
    ),
    (
        "Resize:13 p _ f32[4](1,1,0.1,1)",
        "its scales or sizes do not fit its axes",
    ),
    (
        "Resize:13 p _ f32[4](1,1,1.3,1.3) mode='linear'",
        "linear interpolation is computed of the last two of four axes",
    ),
    (
        "Resize:13 p _ f32[4](1,2,1,1) mode='linear'",
        "linear interpolation is computed of the last two of four axes",
    ),
    (
        "Resize:13 p _ f32[4](1,1,2,2) mode='linear' coordinate_transformation_mode='asymmetric'",
        "coordinates by asymmetric are not computed",
    ),
    (
        "Resize:18 p _ f32[4](1,1,2,2) antialias=1",
        "antialias and kept aspect ratios",
    ),
    // numbers
    ("ArgMax:13 x", "its axis is the batch"),
    (
        "ArgMax:13 n axis=1",
        "a place among integers is not computed",
    ),
    ("Hardmax:13 x axis=0", "its axis is the batch"),
    ("CumSum:14 x i64[](0)", "its axis is the batch"),
    ("CumSum:14 n i64[](1)", "sums of integers"),
    (
        "Div:13 n i64[](2)",
        "a division of integers is not computed",
    ),
    ("Pow:13 n i64[](2)", "a power of integers is not computed"),
    (
        "Mod:13 n i64[](2)",
        "a remainder of computed values is not computed",
    ),
    (
        "Dropout:13 x f32[](0.5) bool[](1)",
        "it drops elements in evaluation too",
    ),
    ("Cast:13 m to=10", "a cast to float16 rounds"),
    ("Cast:13 n to=3", "a cast to int8 wraps"),
    ("Cast:13 m to=99", "to = 99 is no known type"),
    ("Cast:13 f32[1](300) to=2", "a cast to uint8 wraps"),
    ("LpNormalization:1 x p=3", "p = 3 is not understood"),
    (
        "LRN:13 p size=0",
        "its window, or its channels, are not 1 to 4096",
    ),
    (
        "LRN:13 p size=4097",
        "its window, or its channels, are not 1 to 4096",
    ),
    (
        "GroupNormalization:21 p f32[1](1) f32[1](1) num_groups=3",
        "3 groups do not divide 4 channels",
    ),
    (
        "LayerNormalization:17 x f32[2,2,3]~1 axis=0",
        "it normalises over the batch",
    ),
    (
        "BatchNormalization:14 m f32[3](1,2,3) f32[3](0,0,0) f32[3](0,0,0) f32[3](1,1,1) training_mode=1",
        "it normalises by the statistics of the batch",
    ),
    (
        "BatchNormalization:7 m f32[3](1,2,3) f32[3](0,0,0) f32[3](0,0,0) f32[3](1,1,1) spatial=0",
        "it normalises every element on its own",
    ),
    ("Gemm:13 m f32[3]~1", "its weight is not a matrix"),
    ("EyeLike:9 m", "its size is not known"),
    ("Trilu:14 m", "the size of the triangle is not known"),
    ("Trilu:14 V", "a triangle needs two axes"),
    ("Attention:23 x x x", "the number of its heads is missing"),
    ("Attention:23 p p p softcap=1.0", "softcap is not computed"),
    (
        "Attention:23 p p p _ p p",
        "keys and values of earlier steps",
    ),
    (
        "Attention:23 p p p f32[4,4]~1 is_causal=1",
        "a mask beside a causal one",
    ),
];

#[test]
fn nodes_that_are_not_read_have_a_reason() {
    let (inputs, _) = list();
    let said = |line: &str| match graph(&Line::read(line), &inputs) {
        Ok(imported) => imported.graph.to_string(),
        Err(problem) => problem,
    };
    let wrong = CASES.iter().filter_map(|(line, reason)| {
        let said = said(line);
        (!said.contains(reason)).then(|| format!("{line}: {said}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
