"""`Conv1d` in every number format: `Conv1dInteger` and others."""

from . import quantized_module_map

globals().update({name: made for name, made in quantized_module_map.items() if made.base.__name__ == "Conv1d"})
