"""The metadata of a node."""

from __future__ import annotations

from typing import Any, Optional

from torch import fx, nn


class MaseMetadata:
    """The metadata of a node: `parameters["common" | "software" | "hardware"]`. Items may be added."""

    def __init__(self, node: Optional[fx.Node] = None, model: Optional[nn.Module] = None) -> None:
        self.node = node
        self.model = model
        self.parameters: dict[str, dict[str, Any]] = {"common": {}, "software": {}, "hardware": {}}

    @property
    def module(self) -> Optional[nn.Module]:
        """The module that the node calls."""
        if self.node is None or self.model is None or self.node.op != "call_module":
            return None
        return self.model.get_submodule(str(self.node.target))

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self.parameters[key]

    def __setitem__(self, key: str, value: dict[str, Any]) -> None:
        self.parameters[key] = value

    def __repr__(self) -> str:
        return f"MaseMetadata({self.parameters})"
