graph "errors" {
  x: f32[N, 16] = placeholder
  x = relu(x)
  a = linear(x: integer(8, 4)) { in_features = 16, out_features = 4, in_features = 8, data_in_0: integer(6, 3) }
  return a
}
----
3:3: the name 'x' is already taken in line 2
    x = relu(x)
    ^
4:70: 'in_features' is given twice
    a = linear(x: integer(8, 4)) { in_features = 16, out_features = 4, in_features = 8, data_in_0: integer(6, 3) }
                                                                       ^^^^^^^^^^^
4:87: 'data_in_0' is given twice
    a = linear(x: integer(8, 4)) { in_features = 16, out_features = 4, in_features = 8, data_in_0: integer(6, 3) }
                                                                                        ^^^^^^^^^
