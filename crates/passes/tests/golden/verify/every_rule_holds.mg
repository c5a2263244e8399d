# run: verify
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

Rule         Holds  Asks that                                                                                                                                                                                 Broken by
-----------  -----  ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------  ---------
output       yes    there is exactly one output node, and it is the last node
placeholder  yes    there is at least one placeholder
name         yes    every node has a name of its own that is an identifier
input        yes    every input is a result of an earlier node
arity        yes    every node has as many inputs as its operator takes
type         yes    every operator accepts its attributes and the types of its inputs
size         yes    no axis is empty, and every value and parameter has a number of elements that memory could hold
symbol       yes    all symbolic dims use one symbol
parameter    yes    every parameter that is present belongs to the operator and has the shape it asks for
finite       yes    every value of a parameter is a finite number, and a whole one up to 2^24 or a truth value where its type says so; a stored tensor that is not trained, and a threshold, may be infinite
path         yes    no two parameters, masks or stored fields have the same dotted name
format       yes    formats stand only on ports that exist and hold f32
mask         yes    masks are 0 or 1, have the shape of their trained parameter or of a sample of their f32 input, and what they mask is zero
stored       yes    stored fields have the shape that their format asks for of a parameter, or of a sample
