# run: redefine_channels
# Channels are followed through attention, products, joints and pieces, and to other axes.
# config:
#   [passes.redefine_channels]
#   by = "name"
#   qkv.config = { name = "output_only", channel_multiplier = 2 }
#   left.config = { name = "output_only", channel_multiplier = 3 }
graph "axes" {
  x: f32[N, 4, 6] = placeholder
  qkv = linear(x) { in_features = 6, out_features = 6, bias = false }
  parts = chunk(qkv) { chunks = 3, dim = 2 }
  attention = scaled_dot_product_attention(parts.0, parts.1, parts.2)
  turned = transpose(attention) { dim0 = 1, dim1 = 2 }
  back = permute(turned) { dims = [0, 2, 1] }
  first = getitem(back) { index = ":, 0" }
  left = linear(first) { in_features = 2, out_features = 2, bias = false }
  right = linear(first) { in_features = 2, out_features = 2, bias = false }
  both = cat(left, right) { dim = 1 }
  rows = view(both) { shape = [N, 1, 4] }
  mean = mean(rows) { dim = [1] }
  gate = softmax(mean) { dim = 1 }
  fc = linear(gate) { in_features = 4, out_features = 2, bias = false }
  return fc
}
----
graph "axes" {
  x: f32[N, 4, 6] = placeholder
  qkv = linear(x) { in_features = 6, out_features = 12, bias = false }
  parts = chunk(qkv) { chunks = 3, dim = 2 }
  attention = scaled_dot_product_attention(parts, parts.1, parts.2)
  turned = transpose(attention) { dim0 = 1, dim1 = 2 }
  back = permute(turned) { dims = [0, 2, 1] }
  first = getitem(back) { index = ":, 0" }
  left = linear(first) { in_features = 4, out_features = 6, bias = false }
  right = linear(first) { in_features = 4, out_features = 6, bias = false }
  both = cat(left, right) { dim = 1 }
  rows = view(both) { shape = [N, 1, 12] }
  mean = mean(rows) { dim = [1] }
  gate = softmax(mean) { dim = 1 }
  fc = linear(gate) { in_features = 12, out_features = 2, bias = false }
  return fc
}
# qkv.weight = 0.3297 -0.0514 -0.0084 0.2928 0.2693 -0.1093 -0.222 0.2694 0.0891 -0.4051 0.1533 0.246 0.14 0.018 0.3931 -0.3111 …
# left.weight = -0.0739 0.3994 -0.0081 -0.3972 0.2045 -0.405 0.0897 -0.393 0.1824 0.2636 0.2263 0.1436 -0.3491 0.493 0.3094 -0.164 …
# right.weight = -0.2352 0.0523 -0.2404 -0.3214 0.497 -0.2556 0.2867 0.0333 0.3841 -0.2935 0.3087 0.3067 -0.3271 -0.2207 -0.0429 -0.1167 …
# fc.weight = -0.1303 0.1201 0.1308 -0.1996 0.035 0.1049 0.2611 -0.0318 -0.244 -0.2303 0.1844 0.0683 -0.2182 0.285 0.1704 -0.0344 …

Node name  Operator  Inputs  Outputs
---------  --------  ------  -------
qkv        linear    6       6 → 12
left       linear    2 → 4   2 → 6
right      linear    2 → 4   2 → 6
fc         linear    4 → 12  2

note: the channels of left and right change together, joined by both
note: 4 of 4 parameters belong to layers of other sizes and start anew; train the network again
