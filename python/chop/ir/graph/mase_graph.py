"""A model as a graph: `torch.fx` for looking and editing, the compiled core for passes."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any, Optional, Union

import numpy
import torch
from torch import fx, nn

import mase
from chop.nn.layers import LAYERS
from mase._core import sketch
from mase._errors import MissingFile
from mase.torch import from_fx, raise_modules
from mase.torch._export import line_of

from .mase_metadata import MaseMetadata


class MaseTracer(fx.Tracer):
    """Traces a model; the layers of `torch.nn`, quantised ones among them, are leaves."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """True for a layer."""
        return hasattr(m, "formats") or super().is_leaf_module(m, module_qualified_name)


class SavedTracer(fx.Tracer):
    """Traces the code of a saved graph; what is computed of buffers alone stays in the graph."""

    proxy_buffer_attributes = True


def _trace(model: nn.Module, cf_args: Optional[dict[str, Any]]) -> fx.GraphModule:
    try:
        graph = MaseTracer().trace(model, cf_args)
    except Exception as error:
        line = str(error).strip().splitlines()
        raise mase.Error(
            f"torch.fx cannot trace {type(model).__name__}{line_of(error)}: {line[0] if line else type(error).__name__}; "
            "branches that depend on values have to be written with torch.where; give hf_input_names, the names of its inputs, to have it "
            "exported instead of traced"
        ) from error
    return fx.GraphModule(model, graph, type(model).__name__)


def _example_tokens(model: nn.Module, names: list[str]) -> dict[str, torch.Tensor]:
    """Tokens for the inputs of a model of Hugging Face's, and classes for its labels."""
    config = getattr(model, "config", None)
    length = min(16, getattr(config, "max_position_embeddings", 128))
    ids = torch.randint(1, min(100, getattr(config, "vocab_size", 100)), (2, length))
    known = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    known["labels"] = torch.tensor([0, 1]) % max(1, getattr(config, "num_labels", 2))
    return {name: known.get(name, torch.zeros_like(ids)) for name in names}


def _input_names(model: nn.Module, names: Optional[list[str]]) -> Optional[list[str]]:
    """The inputs by which a model of Hugging Face's is exported; nothing for other models."""
    is_pretrained = hasattr(model, "config") and hasattr(model, "main_input_name")
    return names or ([str(model.main_input_name)] if is_pretrained else None)


class MaseGraph:
    """A model as a graph. `fx_graph` may be edited; the next pass sees the change."""

    implementation = "pytorch"

    def __init__(
        self,
        model: nn.Module,
        cf_args: Optional[dict[str, Any]] = None,
        hf_input_names: Optional[list[str]] = None,
    ) -> None:
        self.dummy_in: Optional[dict[str, Any]] = None
        if not isinstance(model, nn.Module):
            raise TypeError(f"model: expected a torch.nn.Module, got {type(model).__name__}")
        names = _input_names(model, hf_input_names)
        if isinstance(model, fx.GraphModule):
            self.model = fx.GraphModule(model, copy.deepcopy(model.graph), type(model).__name__)
        elif names is not None:
            self.dummy_in = _example_tokens(model, names)
            self.model = raise_modules(model, (), self.dummy_in, free_axes=(0, 1))
        else:
            self.model = _trace(model, cf_args)
        self.cf_args = cf_args
        self.info: dict[str, Any] = {}
        self.is_outdated = False
        self._core: Optional[mase.Graph] = None
        # Weights that the model has with their axes the other way round, as the layers of GPT-2.
        self.transposed: set[str] = set()
        self._made_of: Any = None
        for node in self.fx_graph.nodes:
            node.meta["mase"] = MaseMetadata(node, self.model)

    def __deepcopy__(self, memo: dict[int, Any]) -> MaseGraph:
        """A graph with modules and metadata of its own; `torch.fx` copies nodes with the metadata of those that they are of."""
        made = memo[id(self)] = object.__new__(type(self))
        made.__dict__ = {name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()}
        for node, other in zip(self.nodes, made.nodes):
            other.meta["mase"] = MaseMetadata(other, made.model)
            other.meta["mase"].parameters = copy.deepcopy(node.meta["mase"].parameters, memo)
        return made

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
            inputs = dict(zip(self.input_names, self.example_inputs()))
            network = without_loss(self.model)
            names = [node.name for node in network.graph.nodes if node.op == "placeholder"]
            self._core = from_fx(network, tuple(inputs[name] for name in names), name=self.model._get_name())
            self._made_of = shape
            _keep_formats(self._core, earlier, self.modules)
            self.transposed = _transposed(self._core.parameters(), self.state())
        state = self._core.parameters()
        masks = {f"{node.target}.{port}": mask for node in self._core.nodes for port, mask in node.masks.items()}
        values = self.state()
        arrays = {name: values[name].detach().float().contiguous().numpy() for name in state if name in values}
        arrays.update({name: arrays[name].T for name in self.transposed if name in arrays})
        self._core.load_parameters({name: array * masks[name] if name in masks else array for name, array in arrays.items()})
        return self._core

    def state(self) -> dict[str, torch.Tensor]:
        """Parameters and buffers of the model by their dotted names."""
        return {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}

    @property
    def input_names(self) -> list[str]:
        """The names of the placeholders."""
        return [node.name for node in self.fx_graph.nodes if node.op == "placeholder"]

    def example_inputs(self) -> tuple[Any, ...]:
        """Inputs in the order of the placeholders."""
        names = self.input_names
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
        self.earlier = core if self._core is None else self._core
        self._core = core

    @property
    def taken(self) -> mase.Graph:
        """The graph that was taken last, with the weights that the pass has given it."""
        return self.core if self._core is None else self._core

    def made_of_present(self) -> None:
        """Notes that the graph of the compiled core is that of the present model."""
        self._made_of = self._shape()

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
        """Writes a drawing as SVG; with shapes and formats once an input is known."""
        drawing = self._sketch() if self.dummy_in is None else self.core.svg()
        Path(file).write_text(drawing, encoding="utf-8")

    def _sketch(self) -> str:
        """A drawing of the nodes of `torch.fx`, which have no shapes yet."""
        modules, places = self.modules, {node: place for place, node in enumerate(self.nodes)}

        def row(node: fx.Node) -> tuple[str, str, str, list[int]]:
            read = [places[value] for value in node.all_input_nodes]
            if node.op == "call_module":
                layer, target = modules[str(node.target)], str(node.target)
                known = LAYERS.get(getattr(layer, "base", type(layer)))
                return node.name, type(layer).__name__ if known is None else known[0], target, read
            called = getattr(node.target, "__name__", str(node.target))
            return node.name, called if node.op.startswith("call") else node.op, "", read

        return sketch(self.model._get_name(), [row(node) for node in self.nodes])

    def export(self, fname: Union[str, Path] = "masegraph", save_format: str = "graph_module") -> None:
        """Writes the model, `graph_module` or `state_dict`, as `fname.pt`, and the metadata as `fname.mz`."""
        stem = Path(fname).with_suffix("")
        stem.parent.mkdir(parents=True, exist_ok=True)
        if save_format not in ("graph_module", "state_dict"):
            raise mase.Error(f"save_format: '{save_format}' is neither 'graph_module' nor 'state_dict'")
        self.model.recompile()
        self.model._tracer_cls = SavedTracer
        torch.save(self.model if save_format == "graph_module" else self.model.state_dict(), stem.with_suffix(".pt"))
        if self.dummy_in is not None:
            inputs = {name: [list(value.shape), str(value.dtype)] for name, value in self.dummy_in.items()}
            facts = {"inputs": inputs, "nodes": [[node.name, node.op] for node in self.nodes]}
            stem.with_suffix(".json").write_text(json.dumps(facts), encoding="utf-8")
            self.core.save(stem.with_suffix(".mz"))

    @classmethod
    def from_checkpoint(cls, fname: Union[str, Path], propagate_missing_metadata: bool = True) -> MaseGraph:
        """The graph that `export` wrote with `graph_module`."""
        from chop.passes.graph.analysis import add_common_metadata_analysis_pass

        stem = Path(fname).with_suffix("")
        if not stem.with_suffix(".pt").exists():
            raise MissingFile(f"there is no file {stem}.pt")
        try:
            model = torch.load(stem.with_suffix(".pt"), weights_only=False)
        except pickle.UnpicklingError as error:
            raise mase.Error(f"{stem}.pt is no graph_module: {error}") from error
        if not isinstance(model, fx.GraphModule):
            raise mase.Error(f"{stem}.pt has weights alone; load_model reads them into a model, and save_format='graph_module' writes both")
        graph = cls(model)
        beside = stem.with_suffix(".json")
        if propagate_missing_metadata and beside.exists():
            facts = json.loads(beside.read_text(encoding="utf-8"))
            graph.dummy_in = dummy = {name: _example(*entry) for name, entry in facts["inputs"].items()}
            graph._adopt(facts["nodes"], mase.load(stem.with_suffix(".mz")))
            graph, _ = add_common_metadata_analysis_pass(graph, {"dummy_in": dummy, "add_value": False})
        return graph

    def _adopt(self, nodes: list[list[str]], core: mase.Graph) -> None:
        """Takes the names of nodes in a file, which PyTorch does not save, and the graph of the core with its masks and statistics."""
        if [op for _, op in nodes] != [node.op for node in self.nodes]:
            return
        for node, (name, _) in zip(self.nodes, nodes):
            node.name = name
        if [node.name for node in core.nodes] == [node.name for node in self.core.nodes]:
            self._core = core


def without_loss(model: fx.GraphModule) -> fx.GraphModule:
    """A model without the results that depend on labels, over the same modules."""
    labels = {node for node in model.graph.nodes if node.op == "placeholder" and node.name == "labels"}
    if not labels:
        return model
    graph = copy.deepcopy(model.graph)
    after: set[fx.Node] = set()
    for node in graph.nodes:
        is_loss = node.op == "placeholder" and node.name == "labels" or any(read in after for read in node.all_input_nodes)
        if is_loss and node.op != "output":
            after.add(node)
        elif node.op == "output":
            results = node.args[0] if isinstance(node.args[0], (tuple, list)) else (node.args[0],)
            kept = tuple(result for result in results if result not in after)
            node.args = (kept[0] if len(kept) == 1 else kept,)
    for node in reversed([node for node in graph.nodes if node in after]):
        graph.erase_node(node)
    made = fx.GraphModule(model, graph, type(model).__name__)
    made.graph.eliminate_dead_code()
    made.recompile()
    return made


def _example(shape: list[int], dtype: str) -> torch.Tensor:
    kind = getattr(torch, dtype.replace("torch.", ""))
    return torch.ones(shape, dtype=kind) if kind == torch.int64 else torch.randn(shape, dtype=kind)


def _transposed(core: dict[str, Any], state: dict[str, torch.Tensor]) -> set[str]:
    """The matrices of a graph that are those of a model with their axes exchanged."""
    pairs = {name: (value, state[name].detach().float().numpy()) for name, value in core.items() if name in state and value.ndim == 2}
    return {name for name, (value, own) in pairs.items() if not numpy.array_equal(value, own) and numpy.array_equal(value, own.T)}


def _keep_formats(core: mase.Graph, earlier: Optional[mase.Graph], modules: dict[str, nn.Module]) -> None:
    """Gives a graph that was made anew the formats of its quantised layers, and of functions that had some."""
    for node in core.nodes:
        formats = getattr(modules.get(node.target), "formats", None)
        if formats is None and earlier is not None and node.name in earlier and not node.target:
            formats = dict(earlier[node.name].formats.items())
        for port, format in (formats or {}).items():
            node.formats[port] = format
