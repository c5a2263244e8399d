"""Passes over modules, without a graph."""

from __future__ import annotations

import re
from typing import Any, Optional

from torch import nn

import mase
from chop import _refused
from chop.nn.quantized import formats_of, quantized_layer
from chop.tools.tables import grid
from chop.nn.layers import operator_of

__all__ = ["quantize_module_transform_pass", "report_trainable_parameters_analysis_pass"]


def report_trainable_parameters_analysis_pass(
    module: nn.Module, pass_args: Optional[dict[str, Any]] = None
) -> tuple[nn.Module, dict[str, Any]]:
    """The number of trained parameters of every module and of all, printed. A parameter that several modules share counts once."""
    counts = {name or "all": sum(p.numel() for p in part.parameters() if p.requires_grad) for name, part in module.named_modules()}
    total = counts["all"]
    print(grid(["Submodule", "Trainable Parameters"], [row for row in counts.items() if row[0] != "all"]))
    print(f"\nTotal Trainable Parameters: {total}")
    return module, counts


def quantize_module_transform_pass(
    module: nn.Module, pass_args: Optional[dict[str, Any]] = None
) -> tuple[nn.Module, dict[str, Any]]:
    """Gives the layers of a module number formats, by "type", "name" or "regex_name"; they are replaced in place."""
    keys = dict(pass_args or {})
    by = keys.pop("by", None)
    if by not in ("type", "name", "regex_name"):
        raise mase.Error(f"by: {by!r} is none of 'type', 'name' and 'regex_name'")
    default = keys.pop("default", {"config": {"name": None}})
    for path, layer in list(module.named_modules()):
        found = operator_of(layer) if path else None
        if found is None:
            continue
        config = _rule(keys, by, path, found[0], default)["config"]
        if config.get("name") in (None, "NA"):
            continue
        formats, name = formats_of(layer, config)
        parent, _, own = path.rpartition(".")
        setattr(module.get_submodule(parent), own, quantized_layer(layer, formats, name))
    return module, {}


def _rule(rules: dict[str, Any], by: str, path: str, op: str, default: dict[str, Any]) -> dict[str, Any]:
    if by == "regex_name":
        return next((rule for pattern, rule in rules.items() if re.fullmatch(pattern, path)), default)
    return rules.get(op if by == "type" else path, default)  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    _refused.refuse_name(__name__, name)
