graph "errors" {
  x: f32[N, 16] = placeholder
  a = linear(x) { in_features = "16", out_features = 4 }
  b = linear(x) { in_features = -16, out_features = 4 }
  c = conv2d(x) { in_channels = 3, out_channels = 8, kernel_size = [3, 3, 3] }
  d = gelu(x) { approximate = "tan" }
  e = reshape(x) { shape = [N, -2] }
  f = linear(x) { in_features = 123456789012345678901234567890, out_features = 4 }
  g = relu(x) { target = 7 }
  return a, b, c, d, e, f, g
}
----
3:33: attribute 'in_features': invalid type: string "16", expected usize
    a = linear(x) { in_features = "16", out_features = 4 }
                                  ^^^^
4:33: attribute 'in_features': invalid value: integer `-16`, expected usize
    b = linear(x) { in_features = -16, out_features = 4 }
                                  ^^^
5:68: attribute 'kernel_size': expected 2 sizes, got 3
    c = conv2d(x) { in_channels = 3, out_channels = 8, kernel_size = [3, 3, 3] }
                                                                     ^^^^^^^^^
6:31: attribute 'approximate': unknown variant `tan`, expected `none` or `tanh`
    d = gelu(x) { approximate = "tan" }
                                ^^^^^
7:28: attribute 'shape': -2 is not a size; write -1 for the rest
    e = reshape(x) { shape = [N, -2] }
                             ^^^^^^^
8:33: the number 123456789012345678901234567890 is too large
    f = linear(x) { in_features = 123456789012345678901234567890, out_features = 4 }
                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
9:26: expected a string, got '7'
    g = relu(x) { target = 7 }
                           ^
