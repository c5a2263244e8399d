"""A network of Hugging Face's through the names of the Python MASE: the calls of its tutorials. Skipped without transformers."""

import copy

import pytest
from layers import LAYERS, formats_of, rows_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import mase  # noqa: E402
import chop.passes as passes  # noqa: E402
from chop import MaseGraph  # noqa: E402
from chop.passes.graph.utils import get_mase_op, get_mase_type, get_node_by_name  # noqa: E402
from chop.pipelines import CompressionPipeline  # noqa: E402
from chop.tools import get_logger, get_trainer  # noqa: E402

INPUTS = ["input_ids", "attention_mask", "labels"]
HALF = {"sparsity": 0.5, "method": "l1-norm", "scope": "local"}


@pytest.fixture
def bert():
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 100}
    model = transformers.BertForSequenceClassification(transformers.BertConfig(**sizes))
    model.config.problem_type = "single_label_classification"
    return model


@pytest.fixture
def graph(bert):
    made = MaseGraph(bert, hf_input_names=INPUTS)
    made, _ = passes.init_metadata_analysis_pass(made)
    made, _ = passes.add_common_metadata_analysis_pass(made)
    made.model.eval()
    return made


@pytest.fixture
def batch():
    """A batch of another size than that of the example."""
    ids = torch.randint(5, 100, (3, 7), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([0, 1, 1])}


def steps(graph, batch, count=30):
    """The loss before and after some steps of training."""
    optimizer = torch.optim.Adam([p for p in graph.model.parameters() if p.requires_grad], 1e-2)
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = graph.model(**batch)[0]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[0], losses[-1]


def test_the_graph_computes_loss_and_logits_for_every_length(graph, bert, batch):
    expected = bert.eval()(**batch)
    loss, logits = graph.model(**batch)
    assert torch.equal(loss, expected.loss) and torch.equal(logits, expected.logits)
    ids, mask = graph.dummy_in["input_ids"], graph.dummy_in["attention_mask"]
    result = graph.core({"input_ids": ids.numpy(), "attention_mask": mask.numpy()})
    assert torch.allclose(torch.from_numpy(result), bert(input_ids=ids, attention_mask=mask).logits, atol=1e-5)


def test_nodes_have_the_names_and_operators_of_the_original(graph):
    query = get_node_by_name(graph.fx_graph, "bert_encoder_layer_0_attention_self_query")
    assert (query.op, query.target) == ("call_module", "bert.encoder.layer.0.attention.self.query")
    assert (get_mase_type(query), get_mase_op(query)) == ("module_related_func", "linear")
    entry = query.meta["mase"].parameters["common"]["args"]["data_in_0"]
    assert (entry["shape"], entry["type"], entry["precision"]) == ([2, 16, 32], "float", [32])
    operators = {node.name: get_mase_op(node) for node in graph.nodes if node.op == "call_module"}
    assert operators["bert_embeddings_word_embeddings"] == "embedding" and operators["bert_pooler_activation"] == "tanh"
    assert operators["bert_embeddings_layer_norm"] == "layer_norm" and operators["dropout"] == "dropout"
    assert "scaled_dot_product_attention" in {get_mase_op(node) for node in graph.nodes}


def test_layers_are_those_of_the_original_in_its_order(graph, quantize):
    assert rows_of(graph) == LAYERS["bert"]
    before = formats_of(graph)
    graph, _ = passes.quantize_transform_pass(graph, {"default": {"config": {"name": None}}, **quantize})
    assert rows_of(graph) == LAYERS["bert"]
    linear = {row[0] for row in LAYERS["bert"] if row[3] == "linear"}
    expected = {key: ("integer", [8, 4]) if key[0] in linear else entry for key, entry in before.items()}
    assert formats_of(graph) == expected


def test_one_input_is_enough_and_nodes_may_be_erased(bert, own_folder):
    graph = MaseGraph(bert)
    graph.draw("bert.svg")
    assert "<svg" in (own_folder / "bert.svg").read_text()
    ids = torch.randint(5, 100, (2, 9))
    inputs = {"input_ids": ids, "token_type_ids": torch.zeros_like(ids), "attention_mask": torch.ones_like(ids)}
    graph, _ = passes.init_metadata_analysis_pass(graph)
    graph, _ = passes.add_common_metadata_analysis_pass(graph, pass_args={"dummy_in": inputs, "add_value": False})
    get_logger("mase_logger").setLevel("INFO")
    dropouts = [node for node in graph.fx_graph.nodes if node.op == "call_module" and "dropout" in node.target]
    assert len(dropouts) == 6
    for node in dropouts:
        node.replace_all_uses_with(node.args[0])
        graph.fx_graph.erase_node(node)
    graph.export("saved/bert")
    again = MaseGraph.from_checkpoint("saved/bert")
    with torch.no_grad():
        assert torch.allclose(again.model(ids), bert.eval()(ids).logits, atol=1e-6)


def test_adapters_train_and_are_fused(graph, batch):
    before = graph.model(**batch)[1]
    for parameter in graph.model.bert.embeddings.parameters():
        parameter.requires_grad = False
    _, counts = passes.report_trainable_parameters_analysis_pass(graph.model)
    assert counts["bert.embeddings"] == 0 and counts["classifier"] == 66
    graph, _ = passes.insert_lora_adapter_transform_pass(graph, pass_args={"rank": 6, "alpha": 1.0, "dropout": 0.0})
    assert torch.allclose(graph.model(**batch)[1], before, atol=1e-6)
    first, last = steps(graph, batch)
    assert last < first
    trained = graph.model(**batch)[1]
    graph, _ = passes.fuse_lora_weights_transform_pass(graph)
    assert not any("lora" in node.name for node in graph.nodes)
    assert torch.allclose(graph.model(**batch)[1], trained, atol=1e-5)


def test_a_quantised_network_trains_and_goes_through_files(graph, batch, quantize, own_folder):
    quantize["default"] = {"config": {"name": None}}
    plain = graph.model(**batch)[1]
    graph, _ = passes.quantize_transform_pass(graph, pass_args=quantize)
    assert type(graph.model.classifier).__name__ == "LinearInteger"
    assert not torch.equal(graph.model(**batch)[1], plain)
    first, last = steps(graph, batch)
    assert last < first
    graph.export("saved/quantised")
    again = MaseGraph.from_checkpoint("saved/quantised")
    again.model.eval()
    assert torch.equal(again.model(**batch)[1], graph.model(**batch)[1])


def test_pruned_weights_stay_zero_in_training_and_in_files(graph, batch, own_folder):
    for parameter in graph.model.bert.embeddings.parameters():
        parameter.requires_grad = False
    graph, _ = passes.prune_transform_pass(graph, pass_args={"weight": HALF, "activation": HALF})
    graph.export("saved/pruned")
    again = MaseGraph.from_checkpoint("saved/pruned")
    assert [node.name for node in again.nodes] == [node.name for node in graph.nodes]
    again.model.eval()
    assert torch.equal(again.model(**batch)[1], graph.model(**batch)[1])

    def zeros(graph):
        return (graph.model.bert.pooler.dense.weight == 0).float().mean().item()

    for pruned in (graph, again):
        steps(pruned, batch, 2)
        assert abs(zeros(pruned) - 0.5) < 0.01
    weight = get_node_by_name(again.fx_graph, "bert_pooler_dense").meta["mase"].parameters["common"]["args"]["weight"]
    assert weight["sparsity"] == 0.5
    again, _ = passes.prune_detach_hook_transform_pass(again)
    steps(again, batch, 2)
    assert zeros(again) < 0.1


def test_pruning_goes_on_while_one_optimizer_remembers(graph, batch):
    optimizer = torch.optim.SGD(graph.model.parameters(), 1e-1, momentum=0.9)
    for method, sparsity in (("random", 0.2), ("l1-norm", 0.5), ("l1-norm", 0.8)):
        graph, _ = passes.prune_transform_pass(graph, pass_args={"weight": {"sparsity": sparsity, "method": method, "scope": "local"}})
        for _ in range(3):
            graph.model(**batch)[0].backward()
            optimizer.step()
        graph.model(**batch)
        assert (graph.model.bert.pooler.dense.weight == 0).float().mean().item() >= sparsity - 0.01


@pytest.mark.parametrize("name", ["OPT", "GPT2", "Llama"])
def test_networks_that_cache_are_graphs_without_caches(name):
    sizes = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "ffn_dim": 64}
    if name == "GPT2":
        sizes = {"vocab_size": 99, "n_embd": 32, "n_layer": 1, "n_head": 2}
    if name == "OPT":
        sizes["word_embed_proj_dim"] = 32
    head = "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM"
    model = getattr(transformers, head)(getattr(transformers, f"{name}Config")(**sizes)).eval()
    graph, _ = passes.add_common_metadata_analysis_pass(MaseGraph(model))
    ids = graph.dummy_in["input_ids"]
    assert model.config.use_cache is True
    with torch.no_grad():
        assert torch.allclose(torch.from_numpy(graph.core(ids.numpy())), model(ids, use_cache=False).logits, atol=1e-4)


def test_functions_of_parameters_take_no_formats(quantize):
    sizes = {"vocab_size": 99, "n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 32}
    graph, _ = passes.add_common_metadata_analysis_pass(MaseGraph(transformers.GPT2Model(transformers.GPT2Config(**sizes))))
    with pytest.raises(mase.Error, match=r"addmm.* \(linear\): the model computes it as a function of bias, weight"):
        passes.quantize_transform_pass(graph, quantize)
    assert not any(len(node.formats) for node in graph.core.nodes)


def test_the_pipeline_takes_a_model_without_an_example(bert, quantize):
    graph = MaseGraph(copy.deepcopy(bert))
    arguments = {"quantize_transform_pass": quantize, "prune_transform_pass": {"weight": HALF, "activation": HALF}}
    graph, _ = CompressionPipeline()(graph, pass_args=arguments)
    assert type(graph.model.classifier).__name__ == "LinearInteger"


def test_a_trainer_evaluates_and_trains(graph, own_folder):
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")
    words = own_folder / "vocab.txt"
    words.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film"]))
    tokenizer = transformers.BertTokenizer(str(words))
    rows = {"text": ["good film", "bad", "bad film film", "good"] * 4, "label": [1, 0, 0, 1] * 4}
    tokens = datasets.Dataset.from_dict(rows).map(lambda row: tokenizer(row["text"], truncation=True), batched=True)
    data = datasets.DatasetDict({"train": tokens, "test": tokens})
    trainer = get_trainer(graph.model, data, tokenizer, evaluate_metric="accuracy", num_train_epochs=1)
    assert 0 <= trainer.evaluate()["eval_accuracy"] <= 1
    trainer.train()
