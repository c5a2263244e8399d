graph "formats" {
  x: i64[N, 4] = placeholder { data_out_0: integer(8, 4) }
  a = embedding(x: integer(8, 4)) { num_embeddings = 4, embedding_dim = 2, wieght: integer(8, 4), data_out_1: integer(8, 4) }
  b = relu(a) { data_in_00: integer(8, 4), data_in_1: integer(8, 4) }
  return b
}
----
x (placeholder): data_out_0: has a format, but holds i64 instead of f32
a (embedding): data_in_0: has a format, but holds i64 instead of f32
a (embedding): data_out_1: has a format, but there is no such port
a (embedding): wieght: has a format, but there is no such port
b (relu): data_in_00: has a format, but there is no such port
b (relu): data_in_1: has a format, but there is no such port
