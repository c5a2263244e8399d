graph "errors" {
  x: f32[N, 16] = placeholder
  a = linear(x: intger(8, 4)) { in_features = 16, out_features = 4 }
  b = linear(x) { in_features = 16, out_features = 4, weight: integer(8, 4 }
  c = linear(x) { in_features = 16, out_features = 4, weight: integer(8, many), bias: 8 }
  d = linear(x: integer(0, 4)) { in_features = 16, out_features = 4, weight: integer(65, 3) }
  return a, b, c, d
}
----
3:17: unknown format 'intger'; did you mean 'integer'?
    a = linear(x: intger(8, 4)) { in_features = 16, out_features = 4 }
                  ^
4:76: expected ')', got '}'
    b = linear(x) { in_features = 16, out_features = 4, weight: integer(8, 4 }
                                                                             ^
5:74: integer: frac_width takes a whole number, not the text 'many'
    c = linear(x) { in_features = 16, out_features = 4, weight: integer(8, many), bias: 8 }
                                                                           ^
5:87: expected a format such as integer(8, 4), got '8'
    c = linear(x) { in_features = 16, out_features = 4, weight: integer(8, many), bias: 8 }
                                                                                        ^
6:25: integer: width 0 is outside 1 to 64
    d = linear(x: integer(0, 4)) { in_features = 16, out_features = 4, weight: integer(65, 3) }
                          ^
6:86: integer: width 65 is outside 1 to 64
    d = linear(x: integer(0, 4)) { in_features = 16, out_features = 4, weight: integer(65, 3) }
                                                                                       ^
