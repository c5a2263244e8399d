# run: quantize
# The first rule that matches wins; the input of relu is unsigned.
# config:
#   [passes.quantize]
#   by = "regex_name"
#   [passes.quantize."fc1".config]
#   name = "NA"
#   [passes.quantize."fc.*".config]
#   name = "minifloat_ieee"
#   data_in_width = 8
#   data_in_exponent_width = 4
#   weight_width = 8
#   weight_exponent_width = 4
#   [passes.quantize.default.config]
#   name = "integer"
#   data_in_width = 4
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
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1: integer(4, 2, false))
  fc2 = linear(act: minifloat_ieee(8, 4)) { in_features = 3, out_features = 2, weight: minifloat_ieee(8, 4) }
  return fc2
}

Rule     Formats                                                    Nodes  Names
-------  ---------------------------------------------------------  -----  ------------
fc1      NA                                                             1  fc1
fc.*     data_in minifloat_ieee(8, 4), weight minifloat_ieee(8, 4)      1  fc2
default  data_in integer(4, 2)                                          3  x act output

Ori name  New name  MASE_TYPE            Mase_OP      Original type  Quantized type         Changed  Why
--------  --------  -------------------  -----------  -------------  ---------------------  -------  -----------------------
x         x         placeholder          placeholder  x              x                      False    op has nothing to round
fc1       fc1       module_related_func  linear       linear         linear                 False    rule fc1 is "NA"
act       act       module_related_func  relu         relu           relu_integer           True     rule default
fc2       fc2       module_related_func  linear       linear         linear_minifloat_ieee  True     rule fc.*
output    output    output               output       output         output                 False    op has nothing to round

Original type  OP           Total  Changed  Unchanged
-------------  -----------  -----  -------  ---------
linear         linear           2        1          1
output         output           1        0          1
relu           relu             1        1          0
x              placeholder      1        0          1

file quantize/quantize_table.csv:
Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed,Why
x,x,placeholder,placeholder,x,x,False,op has nothing to round
fc1,fc1,module_related_func,linear,linear,linear,False,"rule fc1 is ""NA"""
act,act,module_related_func,relu,relu,relu_integer,True,rule default
fc2,fc2,module_related_func,linear,linear,linear_minifloat_ieee,True,rule fc.*
output,output,output,output,output,output,False,op has nothing to round

file quantize/quantize_histogram.csv:
Original type,OP,Total,Changed,Unchanged
linear,linear,2,1,1
output,output,1,0,1
relu,relu,1,1,0
x,placeholder,1,0,1
