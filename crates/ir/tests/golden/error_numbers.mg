graph "numbers" {
  x: f32[N, 16] = placeholder
  a = batch_norm1d(x) { num_features = 16, eps = 1e }
  b = batch_norm1d(x) { num_features = 16, eps = 1e+ }
  c = batch_norm1d(x) { num_features = 16, eps = 1. }
  d = batch_norm1d(x) { num_features = 16, eps = .5 }
  e = batch_norm1d(x) { num_features = 16, eps = - 1 }
  f = batch_norm1d(x) { num_features = 16, eps = 1e999 }
  g = batch_norm1d(x) { num_features = 99999999999999999999 }
  h = batch_norm1d(x) { num_features = -9223372036854775809 }
  i = batch_norm1d(x) { num_features = -16 }
  j = batch_norm1d(x) { num_features = 16.0 }
  k = cat(x) { dim = [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]] }
  l = cat(x) { dim = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]] }
  return x
}
----
3:51: expected ',' or '}', got 'e'
    a = batch_norm1d(x) { num_features = 16, eps = 1e }
                                                    ^
4:51: expected ',' or '}', got 'e'
    b = batch_norm1d(x) { num_features = 16, eps = 1e+ }
                                                    ^
4:52: unexpected character '+'
    b = batch_norm1d(x) { num_features = 16, eps = 1e+ }
                                                     ^
5:51: expected ',' or '}', got '.'
    c = batch_norm1d(x) { num_features = 16, eps = 1. }
                                                    ^
6:50: expected a number, a string, true, false or a list, got '.'
    d = batch_norm1d(x) { num_features = 16, eps = .5 }
                                                   ^
7:50: unexpected character '-'
    e = batch_norm1d(x) { num_features = 16, eps = - 1 }
                                                   ^
8:50: the number 1e999 is too large
    f = batch_norm1d(x) { num_features = 16, eps = 1e999 }
                                                   ^^^^^
9:40: the number 99999999999999999999 is too large
    g = batch_norm1d(x) { num_features = 99999999999999999999 }
                                         ^^^^^^^^^^^^^^^^^^^^
10:40: the number -9223372036854775809 is too large
    h = batch_norm1d(x) { num_features = -9223372036854775809 }
                                         ^^^^^^^^^^^^^^^^^^^^
11:40: attribute 'num_features': invalid value: integer `-16`, expected usize
    i = batch_norm1d(x) { num_features = -16 }
                                         ^^^
12:40: attribute 'num_features': invalid type: floating point `16.0`, expected usize
    j = batch_norm1d(x) { num_features = 16.0 }
                                         ^^^^
13:22: attribute 'dim': invalid type: sequence, expected i64
    k = cat(x) { dim = [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]] }
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
14:38: lists nest deeper than 16
    l = cat(x) { dim = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]] }
                                       ^
