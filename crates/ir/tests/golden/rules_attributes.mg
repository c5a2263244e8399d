# What operators refuse: attributes beyond their bounds, and inputs that the attributes do not fit.
graph "attributes" {
  x: f32[N, 16] = placeholder
  line: f32[N, 4, 10] = placeholder
  image: f32[N, 4, 9, 8] = placeholder
  tokens: i64[N, 16] = placeholder
  truths: bool[N, 16] = placeholder
  state: f32[N, 3] = placeholder
  sum_of_truths = add(truths, truths)
  power_of_tokens = pow(tokens) { scalar = 2 }
  half_a_token = add(tokens) { scalar = 0.5 }
  mixed_sum = add(x, tokens)
  mixed_order = lt(x, tokens)
  and_of_numbers = and(truths, x)
  not_of_numbers = not(tokens)
  choice_by_number = where(x, x, x)
  choice_of_types = where(truths, x, tokens)
  ceiling = avg_pool2d(image) { kernel_size = 3, padding = 1, ceil_mode = true }
  no_picture = upsample(image) { output_size = [0, 4] }
  huge_picture = upsample(image) { output_size = [4, 16777217] }
  corners = upsample(image) { output_size = 4, align_corners = true }
  one_shift = roll(image) { shifts = [1], dims = [2, 3] }
  rolled_batch = roll(image) { shifts = [1], dims = [0] }
  odd_pad = pad(line) { pad = [1, 2, 3] }
  many_pads = pad(x) { pad = [1, 1, 1, 1, 1, 1] }
  padded_batch = pad(x) { pad = [0, 0, 0, 1] }
  mirrored = pad(line) { pad = [9, 10], mode = "reflect" }
  long_pad = pad(line) { pad = [8388603, 8388604] }
  fewer_axes = expand(line) { shape = [4, 10] }
  other_size = expand(line) { shape = [N, 4, 11] }
  new_axis = expand(x) { shape = [-1, N, 16] }
  float_indices = gather(line, x) { dim = 1 }
  picked_batch = gather(x, tokens)
  top_none = topk(x) { k = 0 }
  top_many = topk(x) { k = 17 }
  top_rows = topk(x) { k = 1, dim = 0 }
  all_lines = mean(line)
  place_of_one = argmax(all_lines)
  place_of_row = transpose(x) { dim0 = 0, dim1 = 1 }
  place_of_rows = argmax(place_of_row)
  flat = lstm(x) { input_size = 16, hidden_size = 3 }
  features = lstm(line) { input_size = 9, hidden_size = 3 }
  half_a_state = lstm(line, state) { input_size = 10, hidden_size = 3 }
  wide_state = lstm(line, state, x) { input_size = 10, hidden_size = 3 }
  many_states = lstm(line, state, state, state) { input_size = 10, hidden_size = 3 }
  no_state = lstm(line) { input_size = 10, hidden_size = 0 }
  odd_groups = group_norm(line) { num_groups = 3, num_channels = 4 }
  other_channels = instance_norm(line) { num_features = 5 }
  no_groups = group_norm(line) { num_groups = 0, num_channels = 4 }
  long_output = conv_transpose1d(line) { in_channels = 4, out_channels = 2, kernel_size = 3, output_padding = 1 }
  no_output = conv_transpose1d(line) { in_channels = 4, out_channels = 2, kernel_size = 2, padding = 6 }
  no_steps = thresholds(x) { steps = 0 }
  other_lists = thresholds(line) { channels = 10, steps = 1 }
  other_slopes = prelu(line) { num_parameters = 10 }
  no_slopes = prelu(line) { num_parameters = 0 }
  random_tokens = constant { shape = [3], dtype = "i64", init_std = 1.0 }
  negative_deviation = constant { shape = [3], init_std = -1.0 }
  no_axis = layer_norm(x) { normalized_shape = [] }
  empty_axis = rms_norm(x) { normalized_shape = [0] }
  negative_eps = rms_norm(x) { normalized_shape = [16], eps = -1.0 }
  norm_of_image = batch_norm1d(image) { num_features = 4 }
  norm_of_line = batch_norm2d(line) { num_features = 4 }
  negative_momentum = batch_norm1d(x) { num_features = 16, momentum = -0.1 }
  empty_row = embedding(tokens) { num_embeddings = 3, embedding_dim = 0 }
  matrices = bmm(x, x)
  vectors = matmul(all_lines, x)
  vector = scaled_dot_product_attention(all_lines, x, x)
  mask_of_tokens = scaled_dot_product_attention(line, line, line, tokens)
  wide_mask = scaled_dot_product_attention(line, line, line, line)
  no_scale = scaled_dot_product_attention(line, line, line, all_lines) { scale = 0 }
  two_masks = scaled_dot_product_attention(line, line, line, all_lines, all_lines)
  three_heads = scaled_dot_product_attention(image, image, line) { enable_gqa = true }
  return x
}
----
sum_of_truths (add): data_in_0: expected f32 or i64, got bool[N, 16]
power_of_tokens (pow): data_in_0: expected f32, got i64[N, 16]
half_a_token (add): scalar = 0.5: must be a whole number beside i64
mixed_sum (add): data_in_1: expected f32, got i64[N, 16]
mixed_order (lt): data_in_1: expected f32, got i64[N, 16]
and_of_numbers (and): data_in_1: expected bool, got f32[N, 16]
not_of_numbers (not): data_in_0: expected bool, got i64[N, 16]
choice_by_number (where): data_in_0: expected bool, got f32[N, 16]
choice_of_types (where): data_in_2: expected f32, got i64[N, 16]
ceiling (avg_pool2d): count_include_pad = true: must be false where ceil_mode is true and there is padding
no_picture (upsample): output_size = [0, 4]: must be at least 1 everywhere
huge_picture (upsample): output_size = [4, 16777217]: must be at most 2^24
corners (upsample): align_corners = true: belongs to mode bilinear
one_shift (roll): shifts = [1]: must have one number for each of the 2 dims
rolled_batch (roll): data_in_0: expected a fixed size of at most 2^24 on axis 0, got f32[N, 4, 9, 8]
odd_pad (pad): pad = [1, 2, 3]: must have two numbers for each of at most 3 axes
many_pads (pad): pad = [1, 1, 1, 1, 1, 1]: must have two numbers for each of at most 2 axes
padded_batch (pad): data_in_0: expected a fixed size of at most 2^24 on axis 0, got f32[N, 16]
mirrored (pad): pad = 10: must be below 10, the size of axis 2 that is mirrored
long_pad (pad): pad = 8388604: axis 2 would have more than 16777216 places
fewer_axes (expand): shape = [4, 10]: the input [N, 4, 10] does not expand to it
other_size (expand): shape = [N, 4, 11]: the input [N, 4, 10] does not expand to it
new_axis (expand): shape = [-1, N, 16]: the input [N, 16] does not expand to it
float_indices (gather): data_in_1: expected i64, got f32[N, 16]
picked_batch (gather): data_in_0: expected a fixed size of at most 2^24 on axis 0, got f32[N, 16]
top_none (topk): k = 0: must be at least 1
top_many (topk): k = 17: must be at most 16, the size of axis 1
top_rows (topk): data_in_0: expected a fixed size of at most 2^24 on axis 0, got f32[N, 16]
place_of_one (argmax): data_in_0: expected f32[N, …, C] with a fixed C of at most 2^24, got f32[]
place_of_rows (argmax): data_in_0: expected f32[N, …, C] with a fixed C of at most 2^24, got f32[16, N]
flat (lstm): data_in_0: expected f32[N, T, 16] with a fixed T, got f32[N, 16]
features (lstm): data_in_0: expected f32[N, T, 9] with a fixed T, got f32[N, 4, 10]
half_a_state (lstm): data_in_2: expected a value, got nothing
wide_state (lstm): data_in_2: expected f32[N, 3], got f32[N, 16]
many_states (lstm): data_in_3: expected f32[N, 3], got f32[N, 3]
no_state (lstm): hidden_size = 0: must be at least 1
odd_groups (group_norm): num_groups = 3: must divide num_channels 4
other_channels (instance_norm): data_in_0: expected 5 channels on axis 1, and sizes for all axes behind, got f32[N, 4, 10]
no_groups (group_norm): num_groups = 0: must be at least 1
long_output (conv_transpose1d): output_padding = [1]: must be below the stride [1]
no_output (conv_transpose1d): padding = [6]: leaves nothing of an axis of size 10
no_steps (thresholds): steps = 0: must be at least 1
other_lists (thresholds): data_in_0: expected 10 channels on axis 1, got f32[N, 4, 10]
other_slopes (prelu): data_in_0: expected 10 channels on axis 1, got f32[N, 4, 10]
no_slopes (prelu): num_parameters = 0: must be at least 1
random_tokens (constant): init_std = 1: must be 0 for i64
negative_deviation (constant): init_std = -1: must be a number of at least 0
no_axis (layer_norm): normalized_shape = []: must have an axis
empty_axis (rms_norm): normalized_shape = [0]: must be at least 1 everywhere
negative_eps (rms_norm): eps = -1: must be a number of at least 0
norm_of_image (batch_norm1d): data_in_0: expected f32[N, 4] or f32[N, 4, L], got f32[N, 4, 9, 8]
norm_of_line (batch_norm2d): data_in_0: expected f32[N, 4, H, W], got f32[N, 4, 10]
negative_momentum (batch_norm1d): momentum = -0.1: must be a number of at least 0
empty_row (embedding): embedding_dim = 0: must be at least 1
matrices (bmm): data_in_0: expected f32[B, m, k], got f32[N, 16]
vectors (matmul): data_in_0: expected f32 with at least 2 axes, got f32[]
vector (scaled_dot_product_attention): data_in_0: expected f32[…, T, d], got f32[]
mask_of_tokens (scaled_dot_product_attention): data_in_3: expected bool or f32 that broadcasts to [N, 4, 4], got i64[N, 16]
wide_mask (scaled_dot_product_attention): data_in_3: expected bool or f32 that broadcasts to [N, 4, 4], got f32[N, 4, 10]
no_scale (scaled_dot_product_attention): scale = 0: must not be 0 beside a mask
two_masks (scaled_dot_product_attention): data_in_4: expected nothing, got f32[]
three_heads (scaled_dot_product_attention): data_in_2: expected f32[N, 4, 9, e], got f32[N, 4, 10]
