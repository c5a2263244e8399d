# The rest of a wrong statement is skipped, and only what looks like a statement ends it.
graph "recovery" {
  x: f32[N, 16] = placeholder
  a = linear(x) {
    in_features 16,
    out_features yes,
    bias = true,
    bias = false,
    in_features = 16,
    weight: integer(8, 4),
    weight integer(8, 4),
    return 4,
    return = 4,
    5 = relu,
  }
  b = relu x c = tanh(x) }
	tabbed = relu x
  = relu(c)
  y: f32[N 4] = placeholder
  d = relu(x: integer(8, 4
  e = relu(x: integer(8, (4), 4)
  f = relu(x: integer { 8 })
  g = relu(a, b, c, d, e, f, tabbed, y)
  return g g
  h = relu(g)
  z: f32[N, 4] = relu g
  return h, z,
} }
----
5:17: expected '=' and a value, or ':' and a format, got '16'
      in_features 16,
                  ^^
16:12: expected '(', got 'x'
    b = relu x c = tanh(x) }
             ^
17:16: expected '(', got 'x'
  	tabbed = relu x
  	              ^
19:12: expected ',' or ']', got '4'
    y: f32[N 4] = placeholder
             ^
21:3: expected ')', got 'e'
    e = relu(x: integer(8, (4), 4)
    ^
21:26: expected a value, found '('
    e = relu(x: integer(8, (4), 4)
                           ^
22:3: expected ',' or ')', got 'f'
    f = relu(x: integer { 8 })
    ^
22:15: integer: width is missing
    f = relu(x: integer { 8 })
                ^
22:23: expected ',' or ')', got '{'
    f = relu(x: integer { 8 })
                        ^
23:18: unknown value 'c'
    g = relu(a, b, c, d, e, f, tabbed, y)
                   ^
25:3: expected '=', got 'h'
    h = relu(g)
    ^
26:23: expected '(', got 'g'
    z: f32[N, 4] = relu g
                        ^
27:3: the name 'output' is already taken in line 24
    return h, z,
    ^^^^^^
28:3: expected the end of the text, got '}'
  } }
    ^
