"""`Conv2d` in every number format: `Conv2dInteger` and others."""

from . import quantized_module_map

globals().update({name: made for name, made in quantized_module_map.items() if made.base.__name__ == "Conv2d"})
