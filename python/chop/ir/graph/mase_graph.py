"""A model as a graph: `torch.fx` for looking and editing, the compiled core for passes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, Optional, Union

import torch
from torch import fx, nn

import mase
from mase.torch import from_fx, raise_modules

from .mase_metadata import MaseMetadata


class MaseTracer(fx.Tracer):
    """Traces a model; the layers of `torch.nn`, quantised ones among them, are leaves."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """True for a layer."""
        return hasattr(m, "formats") or super().is_leaf_module(m, module_qualified_name)


def _trace(model: nn.Module, cf_args: Optional[dict[str, Any]]) -> fx.GraphModule:
    try:
        graph = MaseTracer().trace(model, cf_args)
    except Exception as error:
        line = str(error).strip().splitlines()
        raise mase.Error(
            f"torch.fx cannot trace {type(model).__name__}: {line[0] if line else type(error).__name__}; "
            "give hf_input_names, the names of its inputs, to have it exported instead"
        ) from error
    return fx.GraphModule(model, graph, type(model).__name__)


def _export(model: nn.Module, names: list[str]) -> fx.GraphModule:
    """A model of Hugging Face's, exported on dummy tokens."""
    size = getattr(getattr(model, "config", None), "max_position_embeddings", 128)
    ids = torch.randint(1, 100, (2, min(16, size)))
    values = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    return raise_modules(model, (), {name: values.get(name, torch.zeros_like(ids)) for name in names})


class MaseGraph:
    """A model as a graph. `fx_graph` may be edited; the next pass sees the change."""

    implementation = "pytorch"

    def __init__(
        self,
        model: nn.Module,
        cf_args: Optional[dict[str, Any]] = None,
        hf_input_names: Optional[list[str]] = None,
    ) -> None:
        self.model = _export(model, hf_input_names) if hf_input_names else _trace(model, cf_args)
        self.cf_args = cf_args
        self.dummy_in: Optional[dict[str, Any]] = None
        self.info: dict[str, Any] = {}
        self.is_outdated = False
        self._core: Optional[mase.Graph] = None
        self._made_of: Any = None
        for node in self.fx_graph.nodes:
            node.meta.setdefault("mase", MaseMetadata(node, self.model))

    @property
    def fx_graph(self) -> fx.Graph:
        """The graph of `torch.fx`."""
        return self.model.graph

    @fx_graph.setter
    def fx_graph(self, graph: fx.Graph) -> None:
        self.model = fx.GraphModule(self.model, graph)

    @property
    def nodes(self) -> list[fx.Node]:
        """The nodes, in execution order."""
        return list(self.fx_graph.nodes)

    @property
    def modules(self) -> dict[str, nn.Module]:
        """The modules by their dotted names."""
        return dict(self.model.named_modules())

    @property
    def core(self) -> mase.Graph:
        """The graph of the compiled core, with the present weights; made anew after an edit."""
        shape = self._shape()
        if self._core is None or self._made_of != shape:
            earlier = self._core
            self.model.recompile()
            self._core = from_fx(self.model, self.example_inputs(), name=self.model._get_name())
            self._made_of = shape
            _keep_formats(self._core, earlier, self.modules)
        state = self._core.parameters()
        values = {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}
        self._core.load_parameters({name: values[name].detach().float().contiguous().numpy() for name in state if name in values})
        return self._core

    def example_inputs(self) -> tuple[Any, ...]:
        """Inputs in the order of the placeholders."""
        names = [node.name for node in self.fx_graph.nodes if node.op == "placeholder"]
        if self.dummy_in is None:
            raise mase.Error("the shapes of the inputs are not known; run add_common_metadata_analysis_pass with dummy_in first")
        given = {name.rstrip("_"): value for name, value in self.dummy_in.items()}
        if len(names) == 1 and names[0] not in given:
            return (next(iter(given.values())),)
        missing = [name for name in names if name.rstrip("_") not in given]
        if missing:
            raise mase.Error(f"dummy_in: {', '.join(missing)} is missing; it has {', '.join(given)}")
        return tuple(given[name.rstrip("_")] for name in names)

    def take(self, core: mase.Graph) -> None:
        """Takes a graph that a pass has changed; the model is made anew where it has other nodes."""
        before = [] if self._core is None else [node.name for node in self._core.nodes]
        self.is_outdated = before != [node.name for node in core.nodes]
        self._core = core

    @property
    def taken(self) -> mase.Graph:
        """The graph that was taken last, with the weights that the pass has given it."""
        return self.core if self._core is None else self._core

    def _shape(self) -> Any:
        """What decides the graph of the compiled core, besides weights and formats."""
        modules = self.modules

        def layer(node: fx.Node) -> str:
            module = modules[str(node.target)] if node.op == "call_module" else None
            return "" if module is None else getattr(module, "base", type(module)).__name__ + module.extra_repr()

        def row(node: fx.Node) -> tuple[str, ...]:
            target = getattr(node.target, "function", node.target)
            return node.name, node.op, str(target), str(node.args), str(node.kwargs), layer(node)

        return [row(node) for node in self.nodes]

    def draw(self, file: Union[str, Path] = "mase_graph.svg") -> None:
        """Writes a drawing as SVG."""
        Path(file).write_text(self.core.svg(), encoding="utf-8")

    def export(self, fname: Union[str, Path] = "masegraph", save_format: str = "graph_module") -> None:
        """Writes the model, `graph_module` or `state_dict`, as `fname.pt`, and the metadata as `fname.mz`."""
        stem = Path(fname).with_suffix("")
        stem.parent.mkdir(parents=True, exist_ok=True)
        if save_format not in ("graph_module", "state_dict"):
            raise mase.Error(f"save_format: '{save_format}' is neither 'graph_module' nor 'state_dict'")
        torch.save(self.model if save_format == "graph_module" else self.model.state_dict(), stem.with_suffix(".pt"))
        if self.dummy_in is not None:
            shapes = {name: [list(value.shape), str(value.dtype)] for name, value in self.dummy_in.items()}
            stem.with_suffix(".json").write_text(json.dumps(shapes), encoding="utf-8")
            self.core.save(stem.with_suffix(".mz"))

    @classmethod
    def from_checkpoint(cls, fname: Union[str, Path], propagate_missing_metadata: bool = True) -> MaseGraph:
        """The graph that `export` wrote with `graph_module`."""
        from chop.passes.graph.analysis import add_common_metadata_analysis_pass

        stem = Path(fname).with_suffix("")
        try:
            model = torch.load(stem.with_suffix(".pt"), weights_only=False)
        except pickle.UnpicklingError as error:
            raise mase.Error(f"{stem}.pt is no graph_module: {error}") from error
        graph = cls(model)
        shapes = stem.with_suffix(".json")
        if propagate_missing_metadata and shapes.exists():
            dummy = {name: _example(*entry) for name, entry in json.loads(shapes.read_text(encoding="utf-8")).items()}
            graph, _ = add_common_metadata_analysis_pass(graph, {"dummy_in": dummy, "add_value": False})
        return graph


def _example(shape: list[int], dtype: str) -> torch.Tensor:
    kind = getattr(torch, dtype.replace("torch.", ""))
    return torch.ones(shape, dtype=kind) if kind == torch.int64 else torch.randn(shape, dtype=kind)


def _keep_formats(core: mase.Graph, earlier: Optional[mase.Graph], modules: dict[str, nn.Module]) -> None:
    """Gives a graph that was made anew the formats of its quantised layers, and of functions that had some."""
    for node in core.nodes:
        formats = getattr(modules.get(node.target), "formats", None)
        if formats is None and earlier is not None and node.name in earlier and not node.target:
            formats = dict(earlier[node.name].formats.items())
        for port, format in (formats or {}).items():
            node.formats[port] = format
