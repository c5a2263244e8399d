graph "errors" {
  x: f32[N, 16] = placeholder
  a = relu(x {
  b = relu x
  = relu(x)
  c = linear(x) {
    in_features = 16 out_features = 4
  }
  d = relu(x) { target = "open }
  e = relu(x) { target = "bad \q escape" }
  f = relu(x) @
  g = cat(x) { dim = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]] }
  h = cat(x) { dim 1 }
  return a, b, c, d, e, f, g
----
3:14: expected ',' or ')', got '{'
    a = relu(x {
               ^
4:12: expected '(', got 'x'
    b = relu x
             ^
7:22: expected ',' or '}', got 'out_features'
      in_features = 16 out_features = 4
                       ^^^^^^^^^^^^
9:26: the string has no end on its line
    d = relu(x) { target = "open }
                           ^^^^^^^
10:31: unknown escape; there are \" \\ \n \r \t and \u{hex}
    e = relu(x) { target = "bad \q escape" }
                                ^^
11:15: unexpected character '@'
    f = relu(x) @
                ^
12:38: lists nest deeper than 16
    g = cat(x) { dim = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]] }
                                       ^
13:20: expected '=' and a value, or ':' and a format, got '1'
    h = cat(x) { dim 1 }
                     ^
15:1: expected '}', got the end of the text
  
  ^
