# run: quantize_rest
# Above 12 bits a table loses bits behind the point; a value that the graph returns is rounded where it is made.
# config:
#   [passes.quantize_rest]
#   width = 16
graph "net" {
  x: f32[N, 4] = placeholder
  z: f32[N, 4] = placeholder
  s = sigmoid(x)
  return s, z
}
----
graph "net" {
  x: f32[N, 4] = placeholder
  z: f32[N, 4] = placeholder { data_out_0: integer(16, 8) }
  s = sigmoid(x: integer(12, 4)) { data_out_0: integer(12, 4) }
  return s, z
}

Node  Op           Port        Format
----  -----------  ----------  --------------
z     placeholder  data_out_0  integer(16, 8)
s     sigmoid      data_in_0   integer(12, 4)
s     sigmoid      data_out_0  integer(12, 4)
