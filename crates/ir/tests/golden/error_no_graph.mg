x = relu(y)
----
1:1: expected graph "name" { … }, got 'x'
  x = relu(y)
  ^
