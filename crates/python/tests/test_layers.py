"""Graphs of networks: their layers before and after quantising, copies, drawings, trainers. Skipped without PyTorch."""

import copy
import csv
import pickle

import pytest

import mase

torch = pytest.importorskip("torch")
from layers import LAYERS, formats_of, rows_of  # noqa: E402
from torch import nn  # noqa: E402

from chop.ir.graph.mase_graph import MaseGraph  # noqa: E402
from chop.models import get_model  # noqa: E402
from chop.nn.quantized.modules.linear import LinearInteger  # noqa: E402
from chop.passes.graph import utils  # noqa: E402
from chop.passes.graph.analysis import (  # noqa: E402
    add_common_metadata_analysis_pass,
    add_natural_sparsity_metadata_analysis_pass,
    add_pruning_metadata_analysis_pass,
)
from chop.passes.graph.transforms import (  # noqa: E402
    prune_transform_pass,
    quantize_transform_pass,
    summarize_quantization_analysis_pass,
)
from chop.passes.module import quantize_module_transform_pass  # noqa: E402
from chop.tools import get_trainer, load_model  # noqa: E402
from chop.tools.utils import deepgetattr, to_numpy_if_tensor  # noqa: E402

SHAPES = {"jsc-tiny": (8, 16), "jsc-toy": (8, 16), "toy_convnet": (2, 3, 32, 32)}
CLASSES = {"batch_norm1d": "BatchNorm1d", "linear": "Linear", "relu": "ReLU"}


def graph_of(name):
    x = torch.randn(SHAPES[name], generator=torch.Generator().manual_seed(0))
    graph, _ = add_common_metadata_analysis_pass(MaseGraph(get_model(name)), {"dummy_in": {"x": x}})
    graph.model.eval()
    return graph, x


@pytest.mark.parametrize("name", SHAPES)
def test_layers_are_those_of_the_original_before_and_after_quantising(name, quantize):
    graph, _ = graph_of(name)
    assert rows_of(graph) == LAYERS[name]
    before = formats_of(graph)
    assert set(map(str, before.values())) == {"('float', [32])"}
    config = quantize["linear"]
    graph, _ = quantize_transform_pass(graph, {"by": "type", "default": {"config": {"name": None}}, "linear": config, "conv2d": config})
    assert rows_of(graph) == LAYERS[name]
    changed = {row[0] for row in LAYERS[name] if row[3] in ("linear", "conv2d")}
    assert changed
    expected = {key: ("integer", [8, 4]) if key[0] in changed else entry for key, entry in before.items()}
    assert formats_of(graph) == expected


@pytest.mark.parametrize("by", ["type", "regex_name", "name"])
def test_the_table_of_a_quantised_network_is_that_of_the_original(by, quantize):
    original, _ = graph_of("jsc-toy")
    graph, _ = graph_of("jsc-toy")
    keys = {"type": ["linear"], "regex_name": ["seq_blocks_[258]"], "name": [f"seq_blocks_{at}" for at in (2, 5, 8)]}[by]
    graph, _ = quantize_transform_pass(graph, {"by": by, "default": {"config": {"name": None}}, **{key: quantize["linear"] for key in keys}})
    summarize_quantization_analysis_pass(original, graph, save_dir="summary")
    with open("summary/quantize_table.csv", newline="") as file:
        rows = [row[1:] for row in csv.reader(file)][1:]
    layers = [(name, kind, op, CLASSES[op]) for name, _, kind, op, *_ in LAYERS["jsc-toy"]]
    expected = [[name, name, kind, op, made, *(["LinearInteger", "True"] if op == "linear" else [made, "False"])] for name, kind, op, made in layers]
    ends = [[end, end, kind, kind, end, end, "False"] for end, kind in (("x", "placeholder"), ("output", "output"))]
    assert rows == [ends[0], *expected, ends[1]]


def test_the_convolutional_network_has_the_nodes_of_the_original():
    names = [node.name for node in graph_of("toy_convnet")[0].nodes]
    blocks = ["block_1_0", "block_1_1", "maxpool", "block_2_0", "block_2_1", "size", "view", "block_3_0", "block_3_1"]
    assert names == ["x", *blocks, "block_4_0", "block_4_1", "avgpool", "size_1", "view_1", "linear", "output"]


@pytest.mark.parametrize("copied", [copy.deepcopy, utils.deepcopy_mase_graph, lambda graph: MaseGraph(graph.model)])
def test_a_copy_has_modules_and_metadata_of_its_own(copied, quantize):
    graph, x = graph_of("jsc-toy")
    other = copied(graph)
    nodes = [utils.get_node_by_name(each.fx_graph, "seq_blocks_2") for each in (graph, other)]
    assert nodes[0].meta["mase"] is not nodes[1].meta["mase"] and nodes[1].meta["mase"].node is nodes[1]
    assert nodes[1].meta["mase"].module is other.modules["seq_blocks.2"]
    other, _ = add_common_metadata_analysis_pass(other, {"dummy_in": {"x": x}})
    other, _ = quantize_transform_pass(other, {"by": "type", "linear": quantize["linear"]})
    assert utils.get_node_target_by_name(other, "seq_blocks_2").weight.equal(graph.modules["seq_blocks.2"].weight)
    assert type(utils.get_similar_node_actual_target(graph, nodes[1])) is nn.Linear
    assert formats_of(graph)["seq_blocks_2", "weight"] == ("float", [32])
    assert formats_of(other)["seq_blocks_2", "weight"] == ("integer", [8, 4])


def test_small_questions_about_modules():
    graph, x = graph_of("jsc-tiny")
    assert utils.get_module_by_name(graph.model, "seq_blocks.2") is deepgetattr(graph.model, "seq_blocks.2")
    assert utils.get_module_by_name(graph.model, "seq_blocks.9") is None and deepgetattr(graph.model, "a.b", 3) == 3
    assert utils.match_a_pattern("seq_blocks_2", ["relu", r"seq_blocks_\d"]) == r"seq_blocks_\d"
    assert utils.match_a_pattern("seq_blocks_20", [r"seq_blocks_\d"]) is None
    assert (to_numpy_if_tensor(x) == x.numpy()).all() and to_numpy_if_tensor(3) == 3
    with pytest.raises(KeyError, match="no node seq"):
        utils.get_node_target_by_name(graph, "seq")


class Branch(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 8), nn.Bilinear(8, 8, 2)

    def forward(self, x):
        x = torch.special.erfcx(self.fc1(x))
        return self.fc2(x, x.tanh())


def test_a_graph_is_drawn_before_its_shapes_are_known(own_folder):
    MaseGraph(get_model("jsc-tiny")).draw()
    drawing = (own_folder / "mase_graph.svg").read_text()
    assert drawing.count(">batch_norm1d<") == 1 and drawing.count(">relu<") == 2
    MaseGraph(Own()).draw("own.svg")
    drawing = (own_folder / "own.svg").read_text()
    assert all(f">{word}<" in drawing for word in ("fc1", "linear", "Bilinear", "special_erfcx", "tanh", "output"))
    graph, _ = graph_of("jsc-tiny")
    graph.draw("shapes.svg")
    assert "linear  1×5" in (own_folder / "shapes.svg").read_text()


def test_zeros_of_masks_and_of_activations_are_counted():
    graph, x = graph_of("jsc-toy")
    half = {"scope": "local", "granularity": "elementwise", "method": "l1-norm", "sparsity": 0.5}
    graph, _ = prune_transform_pass(graph, {"weight": half})
    graph, info = add_pruning_metadata_analysis_pass(graph, {"dummy_in": {"x": x}, "add_value": False})
    assert "seq_blocks_5" in info["report"] and "0.5000" in info["report"]
    graph, _ = add_natural_sparsity_metadata_analysis_pass(graph)
    read = utils.get_node_by_name(graph.fx_graph, "seq_blocks_2").meta["mase"].parameters["software"]["args"]["data_in_0"]["stat"]
    zeros = int((graph.modules["seq_blocks.0"](x) <= 0).sum())
    assert read["natural_sparsity"]["zeros"] == zeros and read["natural_sparsity"]["count"] == x.numel()


def test_a_metric_that_is_not_there_is_named():
    pytest.importorskip("transformers")
    with pytest.raises(mase.Error, match="evaluate_metric: 'wer' is not there"):
        get_trainer(None, {}, None, evaluate_metric="wer")


def test_inputs_models_and_files_of_other_kinds_are_named(quantize, own_folder):
    for example, words in ((torch.zeros(2, 16), "expected a dict"), ({"x": torch.zeros(2, 16).double()}, "x is torch.float64")):
        with pytest.raises(TypeError, match=f"dummy_in: {words}"):
            add_common_metadata_analysis_pass(MaseGraph(get_model("jsc-tiny")), {"dummy_in": example})
    with pytest.raises(TypeError, match="model: expected a torch.nn.Module, got int"):
        MaseGraph(3)
    with pytest.raises(mase.Error, match=r"cannot trace Branch, test_layers.py:\d+ \(return x if x.sum\(\) > 0 else -x\)"):
        MaseGraph(Branch())
    with pytest.raises(mase.Error, match="there is no file nothing.pt"):
        MaseGraph.from_checkpoint("nothing")
    graph, _ = graph_of("jsc-tiny")
    graph.export("weights", save_format="state_dict")
    with pytest.raises(mase.Error, match="weights.pt has weights alone"):
        MaseGraph.from_checkpoint("weights")
    again = load_model("weights.pt", "pt", get_model("jsc-tiny", seed=3))
    assert again.seq_blocks[2].weight.equal(graph.modules["seq_blocks.2"].weight)
    (own_folder / "text.ckpt").write_text("no checkpoint")
    with pytest.raises(mase.Error, match="text.ckpt is no checkpoint"):
        load_model("text.ckpt", "pl", get_model("jsc-tiny"))
    torch.save(torch.zeros(3), "tensor.ckpt")
    with pytest.raises(mase.Error, match="holds a Tensor"):
        load_model("tensor.ckpt", "pl", get_model("jsc-tiny"))


def test_the_device_is_the_cpu(quantize):
    graph, _ = graph_of("jsc-tiny")
    with pytest.raises(mase.Error, match="device: 'cuda' is not there"):
        quantize_transform_pass(graph, {**quantize, "device": "cuda"})
    graph, _ = quantize_transform_pass(graph, {**quantize, "device": torch.device("cpu")})
    assert type(graph.modules["seq_blocks.2"]).__name__ == "LinearInteger"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_quantised_layers_are_of_the_classes_that_are_imported(copied, quantize, own_folder):
    graph, x = graph_of("jsc-tiny")
    graph, _ = quantize_transform_pass(graph, {"by": "type", "linear": quantize["linear"]})
    layer = copied(graph.modules["seq_blocks.2"])
    assert type(layer) is LinearInteger and isinstance(layer, nn.Linear)
    assert torch.equal(layer.w_quantizer(layer.weight), layer.operands()["weight"])
    assert layer.x_quantizer(torch.tensor([[0.04, 1.97]])).tolist() == [[0.0625, 2.0]]
    assert torch.equal(layer.b_quantizer(layer.bias), layer.operands()["bias"])
    graph.export("net")
    assert type(MaseGraph.from_checkpoint("net").modules["seq_blocks.2"]) is LinearInteger
    model, _ = quantize_module_transform_pass(nn.Sequential(nn.Linear(4, 4)), {"by": "type", "linear": quantize["linear"]})
    assert type(model[0]) is LinearInteger and model[0].x_quantizer is not None


def test_a_file_that_is_not_there_is_what_python_calls_so():
    for read in (lambda: MaseGraph.from_checkpoint("nothing"), lambda: load_model("nothing.ckpt", "pl", nn.Linear(1, 1))):
        with pytest.raises(FileNotFoundError, match="there is no file nothing") as caught:
            read()
        assert isinstance(caught.value, mase.Error)
