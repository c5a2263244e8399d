"""The names of the Python MASE: the flow of the labs, and the functions that students wrote over it. Skipped without PyTorch."""

import copy
import csv
import importlib
import logging

import pytest

import mase

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import chop  # noqa: E402
from chop._refused import NAMES, REFUSED  # noqa: E402
from chop.dataset import MaseDataModule, get_dataset_info  # noqa: E402
from chop.ir.graph.mase_graph import MaseGraph  # noqa: E402
from chop.models import get_model, get_model_info  # noqa: E402
from chop.nn.quantized.modules.conv2d import Conv2dBlockFP  # noqa: E402
from chop.nn.quantized.modules.linear import LinearInteger, LinearLog, LinearMinifloatIEEE  # noqa: E402
from chop.passes.graph import PASSES  # noqa: E402
from chop.passes.graph.analysis import (  # noqa: E402
    add_common_metadata_analysis_pass,
    add_software_metadata_analysis_pass,
    calculate_avg_bits_mg_analysis_pass,
    init_metadata_analysis_pass,
    profile_statistics_analysis_pass,
    report_graph_analysis_pass,
    report_node_meta_param_analysis_pass,
    report_node_shape_analysis_pass,
    report_node_type_analysis_pass,
    verify_common_metadata_analysis_pass,
)
from chop.passes.graph.analysis.flop_estimator.calculator import calculate_modules  # noqa: E402
from chop.passes.graph.interface import (  # noqa: E402
    load_mase_graph_interface_pass,
    load_node_meta_param_interface_pass,
    save_mase_graph_interface_pass,
    save_node_meta_param_interface_pass,
)
from chop.passes.graph.transforms import (  # noqa: E402
    conv_bn_fusion_transform_pass,
    fuse_lora_weights_transform_pass,
    insert_lora_adapter_transform_pass,
    prune_detach_hook_transform_pass,
    prune_transform_pass,
    quantize_transform_pass,
    summarize_quantization_analysis_pass,
)
from chop.passes.graph.utils import get_mase_op, get_mase_type, get_node_actual_target, get_node_by_name  # noqa: E402
from chop.passes.module import quantize_module_transform_pass, report_trainable_parameters_analysis_pass  # noqa: E402
from chop.pipelines import CompressionPipeline  # noqa: E402
from chop.tools import InputGenerator, get_dummy_input, get_logger, load_model, set_logging_verbosity  # noqa: E402


@pytest.fixture(scope="module")
def data_module():
    module = MaseDataModule(name="jsc-sim", batch_size=8, model_name="jsc-tiny", num_workers=0)
    module.prepare_data()
    module.setup()
    return module


@pytest.fixture
def pass_args(quantize):
    return {"default": {"config": {"name": None}}, **quantize}


def graph_of(model, data_module):
    dummy_in = get_dummy_input(None, data_module)
    graph, _ = init_metadata_analysis_pass(MaseGraph(model), None)
    graph, _ = add_common_metadata_analysis_pass(graph, {"dummy_in": dummy_in})
    graph, _ = add_software_metadata_analysis_pass(graph, None)
    graph.model.eval()
    return graph, dummy_in["x"]


@pytest.fixture
def tiny_graph(data_module):
    return graph_of(get_model("jsc-tiny", "cls", data_module.dataset_info), data_module)


def common(graph, name):
    return get_node_by_name(graph.fx_graph, name).meta["mase"].parameters["common"]


def count_flops(graph):
    total = 0
    for node in graph.fx_graph.nodes:
        parameters = node.meta["mase"].parameters["common"]
        if node.op == "call_module" and parameters["args"]["data_in_0"]["type"] == "float":
            x, y = parameters["args"]["data_in_0"]["value"], parameters["results"]["data_out_0"]["value"]
            total += calculate_modules(node.meta["mase"].module, [x], [y])["computations"]
    return total


def count_bitops(graph):
    total = 0
    for node in graph.fx_graph.nodes:
        if get_mase_type(node) not in ("module", "module_related_func"):
            continue
        parameters = node.meta["mase"].parameters["common"]
        x, y = parameters["args"]["data_in_0"]["value"], parameters["results"]["data_out_0"]["value"]
        bits = {port: entry["precision"][0] for port, entry in parameters["args"].items()}
        count = calculate_modules(node.meta["mase"].module, [x], [y])["computations"]
        total += {
            "linear": lambda: count * (bits["data_in_0"] * bits["weight"] + max(bits["bias"], bits["data_in_0"])),
            "relu": lambda: count * bits["data_in_0"],
            "batch_norm1d": lambda: count * bits["data_in_0"] ** 2,
        }[get_mase_op(node)]()
    return total


def test_the_models_print_as_the_original(data_module):
    model = get_model("jsc-tiny", "cls", data_module.dataset_info)
    lines = str(model).splitlines()
    assert lines[:2] == ["JSC_Tiny(", "  (seq_blocks): Sequential("]
    assert "(2): Linear(in_features=16, out_features=5, bias=True)" in str(model)
    assert get_model_info("jsc-tiny").is_physical_model and get_dataset_info("jsc-sim").num_classes == 5


def test_names_types_shapes_and_precisions_are_those_of_the_labs(tiny_graph, pass_args):
    graph, _ = tiny_graph
    rows = [(node.name, node.op, get_mase_type(node), get_mase_op(node)) for node in graph.fx_graph.nodes]
    assert rows == [
        ("x", "placeholder", "placeholder", "placeholder"),
        ("seq_blocks_0", "call_module", "module", "batch_norm1d"),
        ("seq_blocks_1", "call_module", "module_related_func", "relu"),
        ("seq_blocks_2", "call_module", "module_related_func", "linear"),
        ("seq_blocks_3", "call_module", "module_related_func", "relu"),
        ("output", "output", "output", "output"),
    ]
    entry = common(graph, "seq_blocks_2")["args"]["data_in_0"]
    assert (entry["shape"], entry["torch_dtype"], entry["type"], entry["precision"]) == ([8, 16], torch.float32, "float", [32])
    assert (common(graph, "seq_blocks_2")["args"]["weight"]["value"] == graph.modules["seq_blocks.2"].weight).all()
    graph, _ = quantize_transform_pass(graph, pass_args)
    for port in ("data_in_0", "weight", "bias"):
        entry = common(graph, "seq_blocks_2")["args"][port]
        assert (entry["type"], entry["precision"]) == ("integer", [8, 4]) and "value" in entry


def test_the_costs_of_the_labs_come_out_of_students_functions(tiny_graph, pass_args):
    graph, _ = tiny_graph
    assert (count_flops(graph), count_bitops(graph)) == (1320, 1_205_504)
    graph, _ = quantize_transform_pass(graph, pass_args)
    assert (count_flops(graph), count_bitops(graph)) == (680, 575_744)


def test_quantising_leaves_the_model_and_the_arguments_alone(data_module, pass_args, own_folder):
    model = get_model("jsc-toy", "cls", data_module.dataset_info)
    graph, x = graph_of(model, data_module)
    original, _ = graph_of(model, data_module)
    before = copy.deepcopy(pass_args)
    graph, _ = quantize_transform_pass(graph, pass_args)
    assert pass_args == before and type(model.seq_blocks[2]) is nn.Linear
    assert type(get_node_actual_target(get_node_by_name(graph.fx_graph, "seq_blocks_2"))).__name__ == "LinearInteger"
    assert not torch.equal(graph.model(x), original.model(x))
    assert torch.allclose(graph.model(x), torch.from_numpy(graph.core(x.numpy())), rtol=1e-6, atol=1e-6)
    summarize_quantization_analysis_pass(original, graph, save_dir="summary")
    table = (own_folder / "summary/quantize_table.csv").read_text().splitlines()
    assert table[0] == ",Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed"
    assert table[4] == "3,seq_blocks_2,seq_blocks_2,module_related_func,linear,Linear,LinearInteger,True"
    with open("summary/quantize_histogram.csv", newline="") as file:
        rows = {row[0]: row[1:] for row in csv.reader(file)}
    assert rows["Linear"] == ["linear", "3", "3", "0"] and rows["ReLU"][2:] == ["0", "4"]
    for widths in ((16, 8), (4, 2)):
        pass_args["linear"]["config"].update(data_in_width=widths[0], data_in_frac_width=widths[1])
        graph, _ = quantize_transform_pass(graph, pass_args)
        assert common(graph, "seq_blocks_2")["args"]["data_in_0"]["precision"] == list(widths)
    bits = calculate_avg_bits_mg_analysis_pass(graph)[1]
    assert bits["average_bitwidth"] == 8


def test_statistics_of_a_generator(tiny_graph, data_module):
    graph, _ = tiny_graph
    arguments = {
        "by": "type",
        "target_weight_nodes": ["linear"],
        "target_activation_nodes": ["relu"],
        "weight_statistics": {"variance_precise": {"device": "cpu", "dims": "all"}},
        "activation_statistics": {"range_quantile": {"device": "cpu", "dims": "all", "quantile": 0.97}},
        "input_generator": InputGenerator(data_module, None, "cls", "train"),
        "num_samples": 32,
    }
    graph, _ = profile_statistics_analysis_pass(graph, arguments)
    stat = get_node_by_name(graph.fx_graph, "seq_blocks_2").meta["mase"].parameters["software"]["args"]["weight"]["stat"]
    weight = graph.modules["seq_blocks.2"].weight
    assert abs(stat["variance_precise"]["variance"] - weight.var().item()) < 1e-6
    few = InputGenerator(data_module, None, "cls", "train", max_batches=2)
    graph, _ = profile_statistics_analysis_pass(graph, {**arguments, "input_generator": few})
    stat = get_node_by_name(graph.fx_graph, "seq_blocks_1").meta["mase"].parameters["software"]["args"]["data_in_0"]["stat"]
    assert stat["range_quantile"]["count"] == 16 * 16
    arguments["weight_statistics"]["variance_precise"]["device"] = "cuda"
    with pytest.raises(mase.Error, match="device: 'cuda'"):
        profile_statistics_analysis_pass(graph, arguments)
    arguments["weight_statistics"]["variance_precise"]["device"] = "cpu"
    with pytest.raises(TypeError, match="input_generator: expected dicts of inputs by name, got list"):
        profile_statistics_analysis_pass(graph, {**arguments, "input_generator": data_module.train_dataloader()})
    with pytest.raises(mase.Error, match="input_generator: it gives no batch"):
        profile_statistics_analysis_pass(graph, {**arguments, "input_generator": iter(())})


def test_reports_are_printed_logged_and_written(tiny_graph, capsys, own_folder):
    graph, _ = tiny_graph
    report_graph_analysis_pass(graph)
    assert "'call_module': 4" in capsys.readouterr().out
    report_graph_analysis_pass(graph, {"file_name": "graph.txt"})
    assert "Layer types:" in (own_folder / "graph.txt").read_text()
    set_logging_verbosity("info")
    report_node_type_analysis_pass(graph, {})
    report_node_shape_analysis_pass(graph)
    report_node_meta_param_analysis_pass(graph, {"which": ("common",), "save_path": "meta.txt"})
    assert "seq_blocks_2" in capsys.readouterr().out and "linear" in (own_folder / "meta.txt").read_text()
    assert get_logger("chop").level == logging.INFO
    assert verify_common_metadata_analysis_pass(graph)[1]["report"]


def test_edits_of_the_fx_graph_reach_the_next_pass(data_module, pass_args):
    graph, x = graph_of(get_model("jsc-tiny", "cls", data_module.dataset_info), data_module)
    last = get_node_by_name(graph.fx_graph, "seq_blocks_3")
    last.replace_all_uses_with(last.args[0])
    graph.fx_graph.erase_node(last)
    graph, _ = quantize_transform_pass(graph, pass_args)
    assert [node.name for node in graph.core.nodes][-2:] == ["seq_blocks_2", "output"]
    assert (graph.model(x) < 0).any()


class OwnNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.fc1 = nn.Linear(4 * 4 * 4, 16)
        self.fc2 = nn.Linear(16, 5)
        self.fc3 = nn.Linear(16, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.bn(self.conv(x))), 2)
        x = x.view(x.size(0), -1)
        x = nn.functional.dropout(nn.functional.relu(self.fc1(x)), training=self.training)
        return self.fc2(x) + self.fc3(x * 0.5)


def test_a_network_of_functions_and_sizes_is_quantised_too(quantize):
    x = torch.randn(3, 1, 8, 8)
    graph, _ = add_common_metadata_analysis_pass(MaseGraph(OwnNet().eval()), {"dummy_in": {"x": x}})
    graph.model.eval()
    assert torch.allclose(graph.model(x), torch.from_numpy(graph.core(x.numpy())), atol=1e-5)
    config = quantize["linear"]
    arguments = {"by": "type", "linear": config, "conv2d": config, "add": config, "relu": config}
    graph, _ = quantize_transform_pass(graph, arguments)
    names = {node.name: getattr(get_node_actual_target(node), "__name__", type(get_node_actual_target(node)).__name__) for node in graph.nodes}
    assert (names["conv"], names["fc1"], names["add"], names["relu"]) == ("Conv2dInteger", "LinearInteger", "add_integer", "relu_integer")
    assert get_mase_op(get_node_by_name(graph.fx_graph, "size")) == "size"
    assert torch.allclose(graph.model(x), torch.from_numpy(graph.core(x.numpy())), atol=1e-6)


def test_pruned_weights_stay_zero_until_the_masks_are_detached(data_module):
    graph, x = graph_of(get_model("jsc-toy", "cls", data_module.dataset_info), data_module)
    half = {"scope": "local", "granularity": "elementwise", "method": "l1-norm", "sparsity": 0.5}
    graph, info = prune_transform_pass(graph, {"weight": half})
    assert "0.5000" in info["report"]

    def zeros():
        return (graph.modules["seq_blocks.2"].weight == 0).float().mean().item()

    def step():
        optimizer = torch.optim.SGD(graph.model.parameters(), 1e-3)
        graph.model(x).square().sum().backward()
        optimizer.step()

    step()
    assert zeros() == 0.5
    graph, _ = prune_detach_hook_transform_pass(graph)
    assert zeros() == 0.5
    step()
    assert zeros() < 0.5


def test_folding_and_adapters_keep_the_outputs(data_module):
    graph, x = graph_of(get_model("jsc-toy", "cls", data_module.dataset_info), data_module)
    expected = graph.model(x)
    graph, _ = insert_lora_adapter_transform_pass(graph, {"rank": 2, "alpha": 1.0, "dropout": 0.0})
    assert any(node.name == "seq_blocks_2_lora_a" for node in graph.nodes)
    assert torch.allclose(graph.model(x), expected, atol=1e-6)
    graph, _ = fuse_lora_weights_transform_pass(graph)
    graph, _ = conv_bn_fusion_transform_pass(graph)
    assert "seq_blocks_3" not in [node.name for node in graph.nodes]
    assert torch.allclose(graph.model(x), expected, atol=1e-5)


def test_graphs_and_metadata_go_through_files(data_module, pass_args, own_folder):
    graph, x = graph_of(get_model("jsc-tiny", "cls", data_module.dataset_info), data_module)
    graph, _ = quantize_transform_pass(graph, pass_args)
    graph.export("saved/net")
    again = MaseGraph.from_checkpoint("saved/net")
    again.model.eval()
    assert torch.equal(again.model(x), graph.model(x))
    assert common(again, "seq_blocks_2")["args"]["weight"]["precision"] == [8, 4]
    save_mase_graph_interface_pass(graph, "mz")
    save_node_meta_param_interface_pass(graph, "meta.toml")
    other, _ = graph_of(get_model("jsc-tiny", "cls", data_module.dataset_info, seed=5), data_module)
    other, _ = load_mase_graph_interface_pass(other, "mz")
    assert torch.equal(other.model(x), graph.model(x))
    plain, _ = graph_of(get_model("jsc-tiny", "cls", data_module.dataset_info), data_module)
    plain, _ = load_node_meta_param_interface_pass(plain, "meta.toml")
    assert torch.equal(plain.model(x), graph.model(x))
    graph.draw("net.svg")
    assert "<svg" in (own_folder / "net.svg").read_text()


def test_checkpoints_of_training_load_into_models(data_module, jets):
    graph = mase.model("jsc-tiny")
    run = mase.train(graph, jets, max_epochs=1, batch_size=256, learning_rate=1e-2)
    model = get_model("jsc-tiny", "cls", data_module.dataset_info)
    model = load_model(load_name=run.best, load_type="pl", model=model).eval()
    x = torch.from_numpy(jets.test.x.copy())
    assert torch.allclose(model(x), torch.from_numpy(graph(jets.test.x)), atol=1e-5)
    with pytest.raises(mase.Error, match="needs"):
        load_model(run.best, "pl", get_model("jsc-toy", "cls", data_module.dataset_info))


@pytest.mark.parametrize("name", ["LinearInteger", "LinearMinifloatIEEE", "LinearLog"])
def test_quantised_layers_round_as_the_core(name):
    made = {"LinearInteger": LinearInteger, "LinearMinifloatIEEE": LinearMinifloatIEEE, "LinearLog": LinearLog}[name]
    fields = {"LinearInteger": ("width", "frac_width"), "LinearMinifloatIEEE": ("width", "exponent_width"), "LinearLog": ("width",)}
    values = dict(zip(fields[name], (8, 4)))
    config = {f"{operand}_{field}": value for operand in ("data_in", "weight", "bias") for field, value in values.items()}
    layer = made(16, 5, True, config=config)
    assert isinstance(layer, nn.Linear) and type(layer).__name__ == name
    x = torch.randn(4, 16)
    rounded = {port: torch.from_numpy(format.quantize(value.detach().numpy())) for port, format, value in [
        ("data_in_0", layer.formats["data_in_0"], x),
        ("weight", layer.formats["weight"], layer.weight),
        ("bias", layer.formats["bias"], layer.bias),
    ]}
    assert torch.equal(layer(x), nn.functional.linear(rounded["data_in_0"], rounded["weight"], rounded["bias"]))
    layer(x).sum().backward()
    assert layer.weight.grad is not None


def test_convolutions_have_blocks():
    config = {f"{operand}_{field}": value for operand in ("data_in", "weight", "bias")
              for field, value in {"width": 8, "exponent_width": 8, "block_size": [16]}.items()}
    layer = Conv2dBlockFP(3, 4, 3, config=config)
    assert layer(torch.randn(2, 3, 8, 8)).shape == (2, 4, 6, 6)
    with pytest.raises(TypeError, match="config is missing"):
        LinearInteger(3, 4)


def test_module_passes_replace_layers(pass_args, capsys):
    model = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 5))
    assert report_trainable_parameters_analysis_pass(model)[1]["all"] == 181
    printed = capsys.readouterr().out
    assert "| 0           |                    136 |" in printed and "Total Trainable Parameters: 181" in printed
    model, _ = quantize_module_transform_pass(model, pass_args)
    assert [type(part).__name__ for part in model] == ["LinearInteger", "ReLU", "LinearInteger"]


def test_the_pipeline_runs_its_passes(data_module, pass_args):
    graph = MaseGraph(get_model("jsc-tiny", "cls", data_module.dataset_info))
    half = {"scope": "local", "granularity": "elementwise", "method": "l1-norm", "sparsity": 0.5}
    graph, found = CompressionPipeline()(
        graph,
        pass_args={
            "add_common_metadata_analysis_pass": {"dummy_in": get_dummy_input(None, data_module)},
            "quantize_transform_pass": pass_args,
            "prune_transform_pass": {"weight": half},
        },
    )
    assert "report" in found["prune_transform_pass"]
    assert common(graph, "seq_blocks_2")["args"]["weight"]["sparsity"] == 0.5
    with pytest.raises(KeyError, match="unknown pass"):
        CompressionPipeline()(graph, pass_args={"quantise": {}})


def test_what_is_not_there_says_why(tiny_graph):
    graph, _ = tiny_graph
    with pytest.raises(ImportError, match="not in this package: TensorRT"):
        importlib.import_module("chop.passes.graph.interface.tensorrt")
    with pytest.raises(ImportError, match="ch emit"):
        from chop.passes.graph import emit_verilog_top_transform_pass  # noqa: F401
    with pytest.raises(ImportError, match="not in this package: TensorRT"):
        from chop.passes import quantize_tensorrt_transform_pass  # noqa: F401
    with pytest.raises(ImportError, match="mase.load"):
        from chop import MaseOnnxGraph  # noqa: F401
    assert all(entry in REFUSED for entry in NAMES.values())
    assert chop.passes.graph.PASSES is PASSES
    with pytest.raises(KeyError, match="unknown key 'filename'"):
        report_graph_analysis_pass(graph, {"filename": "x"})
    with pytest.raises(mase.Error, match="dummy_in first"):
        MaseGraph(nn.Linear(2, 2)).core  # noqa: B018
    assert "quantize" in PASSES and chop.MaseGraph is MaseGraph
