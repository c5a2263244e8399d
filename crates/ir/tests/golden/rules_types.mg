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
  stepped = getitem(image) { index = ":, ::0" }
  empty: f32[N, 0] = placeholder
  huge: f32[N, 9223372036854775807, 9223372036854775807] = placeholder
  ids = embedding(x) { num_embeddings = 4, embedding_dim = 2 }
  rest = view(x) { shape = [N, 3, -1] }
  fixed: f32[4, 16] = placeholder
  joined = cat(x, fixed) { dim = 0 }
  ranks = cat(x, image) { dim = 1 }
  a: f32[N, 3, 5] = placeholder
  b: f32[4, 5, 2] = placeholder
  batches = bmm(a, b)
  inner = matmul(x, x)
  k: f32[N, 7, 4] = placeholder
  depth = scaled_dot_product_attention(a, k, k)
  length = scaled_dot_product_attention(a, a, k)
  keys = scaled_dot_product_attention(a, b, a)
  tokens: i64[N] = placeholder
  rows = embedding(tokens) { num_embeddings = 16777217, embedding_dim = 2 }
  rate = dropout(x) { p = 1.5 }
  norm = layer_norm(x) { normalized_shape = [8] }
  features = batch_norm1d(x) { num_features = 8 }
  bounds = hardtanh(x) { min_val = 1, max_val = 1 }
  turned = permute(a) { dims = [0, 1, 1] }
  axis = softmax(a) { dim = 3 }
  integers = relu(tokens)
  twice = mean(a) { dim = [1, -2] }
  cut = chunk(x) { chunks = 2 }
  far = getitem(a) { index = ":, 3" }
  many = getitem(a) { index = ":, 0, 0, 0" }
  steep = softplus(x) { beta = 0 }
  start = flatten(a) { start_dim = 2, end_dim = 1 }
  two = view(a) { shape = [-1, -1] }
  size = view(a) { shape = [N, 14] }
  output_channels = conv2d(image) { in_channels = 3, out_channels = 4, kernel_size = 3, groups = 3 }
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
stepped (getitem): index = ":, ::0": '::0' has a step that is not a number of at least 1
empty (placeholder): data_out_0: f32[N, 0] has an empty axis
huge (placeholder): data_out_0: f32[N, 9223372036854775807, 9223372036854775807] has more elements than memory holds
ids (embedding): data_in_0: expected i64 indices, got f32[N, 16]
rest (view): shape = [N, 3, -1]: the 16*N elements of [N, 16] do not divide by 3*N
joined (cat): data_in_1: expected an axis that adds to N, got f32[4, 16]
ranks (cat): data_in_1: expected f32[N, 16] but for axis 1, got f32[N, 3, 8, 8]
batches (bmm): data_in_1: expected f32[N, 5, n], got f32[4, 5, 2]
inner (matmul): data_in_1: expected 16 rows on axis -2, got f32[N, 16]
depth (scaled_dot_product_attention): data_in_1: expected f32[N, S, 5], got f32[N, 7, 4]
length (scaled_dot_product_attention): data_in_2: expected f32[N, 3, e], got f32[N, 7, 4]
keys (scaled_dot_product_attention): data_in_1: expected f32[N, S, 5], got f32[4, 5, 2]
rows (embedding): num_embeddings = 16777217: must be at most 16777216, the largest index an f32 holds
rate (dropout): p = 1.5: must be between 0 and 1
norm (layer_norm): data_in_0: expected f32[…, 8], got f32[N, 16]
features (batch_norm1d): data_in_0: expected f32[N, 8] or f32[N, 8, L], got f32[N, 16]
bounds (hardtanh): min_val = 1: must be less than max_val 1
turned (permute): dims = [0, 1, 1]: must name each axis of [N, 3, 5] once
axis (softmax): axis 3 is out of range for shape [N, 3, 5]
integers (relu): data_in_0: expected f32, got i64[N]
twice (mean): dim = [1, -2]: names axis 1 of [N, 3, 5] twice
cut (chunk): data_in_0: expected a number of at least 1 on axis 0, got f32[N, 16]
far (getitem): index = ":, 3": 3 is out of range for an axis of size 3
many (getitem): index = ":, 0, 0, 0": names 4 axes of [N, 3, 5]
steep (softplus): beta = 0: must not be 0
start (flatten): start_dim = 2: comes after end_dim 1 in [N, 3, 5]
two (view): shape = [-1, -1]: only one axis can be -1
size (view): shape = [N, 14]: has 14*N elements, the input [N, 3, 5] has 15*N
output_channels (conv2d): groups = 3: must divide in_channels 3 and out_channels 4
