"""Graphs: from the zoo, from text, from files; nodes, formats, passes; and the same bits as the program gives."""

import copy
import gc
import pickle
import subprocess
import sys

import numpy
import pytest

import mase


def test_every_model_is_made_and_its_text_reads_back():
    for name in mase.models():
        if name in ("resnet18", "mobilenetv2", "mobilenetv3_small", "vgg7"):
            continue
        graph = mase.model(name)
        assert mase.Graph(graph.text, graph.parameters()) == graph


def test_nodes_are_found_by_name_and_target(tiny):
    node = tiny["seq_blocks.2"]
    assert node == tiny["seq_blocks_2"]
    assert (node.op, node.fx_op, node.mase_type) == ("linear", "call_module", "module_related_func")
    assert (node.inputs, node.attributes["out_features"]) == (["seq_blocks_1"], 5)
    assert [n.name for n in tiny.nodes][-1] == "output"
    assert node.meta["common"]["args"]["weight"]["shape"] == [5, 16]
    assert node.metadata(2)["common"]["args"]["data_in_0"]["shape"] == [2, 16]
    assert "seq_blocks_2" in tiny and "conv" not in tiny and len(tiny) == 6


def test_parameters_are_views_that_outlive_the_graph(tiny):
    weight = tiny.parameters()["seq_blocks.2.weight"]
    before = weight.copy()
    assert not weight.flags.owndata and not weight.flags.writeable
    tiny.load_parameters({"seq_blocks.2.weight": numpy.zeros((5, 16), numpy.float32)})
    assert tiny.parameters()["seq_blocks.2.weight"].sum() == 0
    del tiny
    gc.collect()
    assert numpy.array_equal(weight, before)


def test_formats_are_a_mapping_that_verifies(tiny):
    formats = tiny["seq_blocks_2"].formats
    formats["weight"] = "integer(8, 4)"
    formats["data_in_0"] = mase.Format("integer(8, 4)")
    assert dict(formats.items()) == {port: mase.Format("integer(8, 4)") for port in ("weight", "data_in_0")}
    assert list(formats) == formats.keys() and len(formats) == 2
    assert formats.get("bias") is None and "bias" not in formats
    del formats["data_in_0"]
    assert list(formats) == ["weight"]
    with pytest.raises(mase.Error, match="no such port"):
        formats["wieght"] = "integer(8, 4)"
    assert list(formats) == ["weight"]
    with pytest.raises(KeyError, match="did you mean 'weight'"):
        formats["wight"]


def test_formats_change_what_runs(tiny, rows):
    before = tiny(rows)
    tiny["seq_blocks_2"].formats["weight"] = "integer(4, 2)"
    assert not numpy.array_equal(tiny(rows), before)


def test_quantize_gives_the_metadata_and_costs_of_the_labs(tiny, quantize):
    report = tiny.apply("quantize", **quantize)
    assert "LinearInteger" in report.text and report.passed
    weight = tiny["seq_blocks_2"].meta["common"]["args"]["weight"]
    assert (weight["type"], weight["precision"]) == ("integer", [8, 4])
    assert "680" in tiny.apply("count_flops", batch_size=8).text
    assert "575744" in tiny.apply("count_bitops", batch_size=8).text.replace(",", "").replace(" ", "")


def test_a_pass_that_fails_leaves_the_graph(tiny, quantize):
    before = tiny.copy()
    quantize["linear"]["config"]["weight_width"] = -1
    with pytest.raises(mase.Error):
        tiny.apply("quantize", **quantize)
    assert tiny == before


def test_reports_have_tables_json_and_files(tiny):
    report = tiny.apply("save_mase_graph", save_dir="saved")
    assert list(report.files) == ["saved/graph.mz"]
    report = tiny.apply("report_node_type")
    (rows,) = report.tables.values()
    assert rows[1]["Node name"] == "seq_blocks_0"
    assert isinstance(report.json, dict)


def test_apply_config_runs_a_file(tiny, own_folder):
    (own_folder / "p.toml").write_text("[passes.report_node_shape]\n[passes.count_flops]\n")
    assert [report.name for report in tiny.apply_config("p.toml")] == ["report_node_shape", "count_flops"]
    (own_folder / "bad.toml").write_text("[passes.quantise]\n\n[passes.count_flps]\n")
    with pytest.raises(mase.Error) as error:
        tiny.apply_config("bad.toml")
    assert [problem.place for problem in error.value.problems] == ["bad.toml:1:9", "bad.toml:3:9"]


def test_copies_pickles_and_files_are_equal(tiny, quantize):
    tiny.apply("quantize", **quantize)
    tiny.save("a.mz")
    others = [tiny.copy(), copy.copy(tiny), copy.deepcopy(tiny), pickle.loads(pickle.dumps(tiny)), mase.load("a.mz")]
    assert all(other == tiny for other in others)
    others[0]["seq_blocks_2"].formats["weight"] = "integer(6, 2)"
    assert others[0] != tiny and tiny != 3
    tiny.save("a.mg")
    assert mase.load("a.mg").text == tiny.text
    with pytest.raises(mase.Error, match=".mz, .mg"):
        tiny.save("a.onnx")


def test_the_program_computes_the_same_bits(tiny, rows, quantize):
    tiny.apply("fuse_batch_norm")
    tiny.apply("quantize", default={"config": quantize["linear"]["config"]}, by="type")
    tiny.save("net.mz")
    numpy.save("x.npy", rows)
    for words in ([], ["--integer"]):
        line = ["predict", "net.mz", "x.npy", "--out", "y.npy", "--quiet", *words]
        subprocess.run([sys.executable, "-m", "mase", *line], check=True)
        assert numpy.array_equal(numpy.load("y.npy"), tiny.run(rows, integer=bool(words)))


def test_observed_values_are_those_of_the_graph_cut_there(tiny, rows):
    result, seen = tiny.run(rows, observe=["seq_blocks_3", "seq_blocks_2.data_in_0"])
    assert numpy.array_equal(result, tiny(rows))
    assert numpy.array_equal(seen["seq_blocks_3"], result)
    weight, bias = (tiny.parameters()[f"seq_blocks.2.{name}"] for name in ("weight", "bias"))
    linear = seen["seq_blocks_2.data_in_0"] @ weight.T + bias
    assert numpy.allclose(numpy.maximum(linear, 0), result, atol=1e-5)


def test_repr_is_the_table_and_html_has_the_picture(tiny):
    assert "seq_blocks_2" in repr(tiny) and "1320" in repr(tiny)
    html = tiny._repr_html_()
    assert "<svg" in html and "<pre>" in html


def test_networks_with_several_inputs_take_names():
    graph = mase.model("bert-tiny")
    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    shape = graph[names[0]].metadata(2)["common"]["results"]["data_out_0"]["shape"]
    ids = numpy.ones(shape, numpy.int64)
    by_name, by_place = graph({names[0]: ids}), graph(ids.astype(numpy.int32))
    assert len(by_name) == len(by_place) > 0
    assert all(numpy.array_equal(a, b) for a, b in zip(by_name, by_place))
    with pytest.raises(KeyError, match="unknown input"):
        graph({"input": ids})
    with pytest.raises(mase.Error, match="index"):
        graph(ids * 10**9)


def test_compare_names_the_first_node_that_differs(tiny, rows, quantize):
    other = tiny.copy()
    other.apply("quantize", **quantize)
    report = mase.compare(tiny, other, rows)
    assert report.json["first_difference"] == "seq_blocks_2"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda graph: mase.model(3), "name: expected a str, got int"),
        (lambda graph: mase.model("jsc-tiny", seed="a"), "seed: expected a whole number from 0 on, got str"),
        (lambda graph: mase.load(3), "path: expected a path, got int"),
        (lambda graph: mase.load("net.mg", weights=3), "weights: expected a path, got int"),
        (lambda graph: mase.explain(3), "word: expected a str, got int"),
        (lambda graph: mase.Format(3), "spec: expected a str, got int"),
        (lambda graph: mase.Format("integer(8, 4)").decode(3), "codes: expected a mase.Codes, got int"),
        (lambda graph: mase.Graph(3), "text: expected a str, got int"),
        (lambda graph: mase.Graph(graph.text, 3), "parameters: expected a dict of arrays by name, got int"),
        (lambda graph: graph[3], "node: expected a str, got int"),
        (lambda graph: graph.apply(3), "name: expected a str, got int"),
        (lambda graph: graph.apply_config(3), "path: expected a path, got int"),
        (lambda graph: graph.save(3), "path: expected a path, got int"),
        (lambda graph: graph.load_parameters(3), "parameters: expected a dict of arrays by name, got int"),
        (lambda graph: graph.load_parameters({3: 4}), "parameters: a name: expected a str, got int"),
        (lambda graph: graph.run(numpy.zeros((2, 16), "f4"), observe="x"), "observe: expected a list of names, got str"),
        (lambda graph: graph.run(numpy.zeros((2, 16), "f4"), threads="2"), "threads: expected a whole number from 0 on, got str"),
        (lambda graph: graph["seq_blocks_2"].formats[3], "port: expected a str, got int"),
        (lambda graph: graph["seq_blocks_2"].metadata("8"), "batch_size: expected a whole number from 0 on, got str"),
        (lambda graph: mase.dataset(3), "name: expected a str, got int"),
        (lambda graph: mase.test(graph, mase.dataset("toy_tiny"), split=3), "split: expected a str, got int"),
        (lambda graph: mase.search(graph, mase.dataset("toy_tiny"), {}, sampler=3), "sampler: expected a str, got int"),
    ],
)
def test_arguments_of_another_type_are_named(tiny, call, words):
    with pytest.raises(TypeError) as caught:
        call(tiny)
    assert str(caught.value) == words


def test_numbers_out_of_range_are_named(tiny, rows):
    with pytest.raises(mase.Error, match="^seed: -1 is not a whole number from 0 on"):
        mase.model("jsc-tiny", seed=-1)
    with pytest.raises(mase.Error, match="^threads: -1 is not a whole number"):
        tiny.run(rows, threads=-1)
    assert 3 not in tiny and 3 not in tiny["seq_blocks_2"].formats


def test_every_problem_of_an_error_is_one(tiny, quantize):
    quantize["linear"]["config"]["weight_widht"] = 3
    with pytest.raises(mase.Error) as caught:
        tiny.apply("quantize", **{**quantize, "by": "typ"}, foo=1)
    assert len(caught.value.problems) == 3 and all("\n" not in problem.text for problem in caught.value.problems)
    assert [problem.place for problem in mase.Error("a.toml:1:2: one\nand two\n  more of it").problems] == ["a.toml:1:2", None]
