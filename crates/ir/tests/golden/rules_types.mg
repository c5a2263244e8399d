# A node whose inputs are wrong already is not blamed.
graph "types" {
  x: f32[N, 16] = placeholder
  y: f32[M, 16] = placeholder
  wrong = linear(x) { in_features = 8, out_features = 4 }
  reads_wrong = relu(wrong)
  image: f32[N, 3, 8, 8] = placeholder
  window = conv2d(image) { in_channels = 3, out_channels = 4, kernel_size = 9 }
  channels = conv2d(image) { in_channels = 4, out_channels = 4, kernel_size = 3 }
  groups = conv2d(image) { in_channels = 3, out_channels = 4, kernel_size = 3, groups = 2 }
  padded = avg_pool2d(image) { kernel_size = 2, padding = 2 }
  shapes = add(x, image)
  vector = mean(x) { dim = [0] }
  product = matmul(vector, x)
  arity = add(x)
  none = cat()
  number = div(x) { scalar = 0 }
  parts = chunk(image) { chunks = 2, dim = 1 }
  part = relu(parts.2)
  symbolic = getitem(x) { index = "0" }
  stepped = getitem(image) { index = ":, ::2" }
  empty: f32[N, 0] = placeholder
  huge: f32[N, 9223372036854775807, 9223372036854775807] = placeholder
  ids = embedding(x) { num_embeddings = 4, embedding_dim = 2 }
  rest = view(x) { shape = [N, 3, -1] }
  return x
}
----
y (placeholder): the dim M stands beside N: a graph has one symbol
wrong (linear): data_in_0: expected f32[…, 8], got f32[N, 16]
window (conv2d): kernel_size = [9, 9]: the window spans 9, more than the padded input's 8
channels (conv2d): data_in_0: expected 4 channels on axis 1, got f32[N, 3, 8, 8]
groups (conv2d): groups = 2: must divide in_channels 3 and out_channels 4
padded (avg_pool2d): padding = [2, 2]: must be at most half of the window's extent 2
shapes (add): shapes [N, 16] and [N, 3, 8, 8] do not broadcast
product (matmul): data_in_0: expected f32 with at least 2 axes, got f32[16]
arity (add): expected 2 inputs, got 1
none (cat): expected at least 1 input, got 0
number (div): scalar = 0: must not be 0 in a division
part (relu): data_in_0: reads result 2 of parts, which has 2
symbolic (getitem): index = "0": '0' cuts an axis of unknown size N; write ':'
stepped (getitem): index = ":, ::2": '::2' has a step other than 1
empty (placeholder): data_out_0: f32[N, 0] has an empty axis or more elements than memory holds
huge (placeholder): data_out_0: f32[N, 9223372036854775807, 9223372036854775807] has an empty axis or more elements than memory holds
ids (embedding): data_in_0: expected i64 indices, got f32[N, 16]
rest (view): shape = [N, 3, -1]: the 16*N elements of [N, 16] do not divide by 3*N
