# run: summarize_quantization
# config:
#   [passes.quantize]
#   [passes.quantize.default.config]
#   name = "NA"
#   [passes.quantize.linear.config]
#   name = "integer"
#   data_in_width = 8
#   weight_width = 8
#   [passes.summarize_quantization]
#   save_dir = "summary"
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 4) }
  act = relu(fc1)
  fc2 = linear(act: integer(8, 4)) { in_features = 3, out_features = 2, weight: integer(8, 4) }
  return fc2
}

Ori name  New name  MASE_TYPE            Mase_OP      Original type  Quantized type  Changed  Why
--------  --------  -------------------  -----------  -------------  --------------  -------  -----------------------
x         x         placeholder          placeholder  x              x               False    op has nothing to round
fc1       fc1       module_related_func  linear       linear         linear_integer  True     rule linear
act       act       module_related_func  relu         relu           relu            False    rule default is "NA"
fc2       fc2       module_related_func  linear       linear         linear_integer  True     rule linear
output    output    output               output       output         output          False    op has nothing to round

Original type  OP           Total  Changed  Unchanged
-------------  -----------  -----  -------  ---------
linear         linear           2        2          0
output         output           1        0          1
relu           relu             1        0          1
x              placeholder      1        0          1

file summary/quantize_table.csv:
Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed,Why
x,x,placeholder,placeholder,x,x,False,op has nothing to round
fc1,fc1,module_related_func,linear,linear,linear_integer,True,rule linear
act,act,module_related_func,relu,relu,relu,False,"rule default is ""NA"""
fc2,fc2,module_related_func,linear,linear,linear_integer,True,rule linear
output,output,output,output,output,output,False,op has nothing to round

file summary/quantize_histogram.csv:
Original type,OP,Total,Changed,Unchanged
linear,linear,2,2,0
output,output,1,0,1
relu,relu,1,0,1
x,placeholder,1,0,1
