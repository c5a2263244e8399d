# The smallest network of the labs: 16 features of a jet, 5 classes. N is the batch.
graph "jsc-tiny" {
  x: f32[N, 16] = placeholder
  seq_blocks_0 = batch_norm1d(x) { target = "seq_blocks.0", num_features = 16, eps = 1e-5, momentum = 0.1 }
  seq_blocks_1 = relu(seq_blocks_0) { target = "seq_blocks.1", inplace = true }
  # The input and the weights of this layer are rounded to 8 bits, 4 of them behind the point.
  seq_blocks_2 = linear(seq_blocks_1: integer(8, 4)) { target = "seq_blocks.2", in_features = 16, out_features = 5,
                                                        weight: integer(8, 4), bias: integer(8, 4) }
  seq_blocks_3 = relu(seq_blocks_2) { target = "seq_blocks.3", inplace = true, }
  return seq_blocks_3
}
----
graph "jsc-tiny" {
  x: f32[N, 16] = placeholder
  seq_blocks_0 = batch_norm1d(x) { target = "seq_blocks.0", num_features = 16, eps = 1e-5, momentum = 0.1 }
  seq_blocks_1 = relu(seq_blocks_0) { target = "seq_blocks.1", inplace = true }
  seq_blocks_2 = linear(seq_blocks_1: integer(8, 4)) {
    target = "seq_blocks.2", in_features = 16, out_features = 5, weight: integer(8, 4), bias: integer(8, 4),
  }
  seq_blocks_3 = relu(seq_blocks_2) { target = "seq_blocks.3", inplace = true }
  return seq_blocks_3
}
