"""Known networks of torchvision and transformers: from PyTorch to a graph, and back. Skipped where these are missing."""

import numpy
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from mase.torch import from_torch, raise_modules, to_torch  # noqa: E402

IMAGES = ["resnet18", "mobilenet_v3_small", "efficientnet_b0", "convnext_tiny", "vit_b_16"]
TEXTS = ["bert", "bert_mask", "opt", "llama", "gpt2"]
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99, "max_position_embeddings": 64}


def prepared(module):
    """A network whose statistics and last layer are not those of a start, which would hide what is before them."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    with torch.no_grad():
        for weight in module.parameters():
            if weight.dim() > 1 and not weight.any():
                weight.normal_(0, 0.05)
    return module.eval()


def network(name):
    torch.manual_seed(1)
    if name == "mlp":
        layers = nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 5), nn.Softmax(-1)
        return prepared(nn.Sequential(*layers)), (torch.randn(3, 16),)
    if name in IMAGES:
        vision = pytest.importorskip("torchvision.models")
        options = {"image_size": 64} if name == "vit_b_16" else {}
        return prepared(getattr(vision, name)(weights=None, **options)), (torch.randn(2, 3, 64, 64),)
    text = pytest.importorskip("transformers")
    ids, mask = torch.randint(3, 99, (2, 9)), torch.tensor([[1] * 9, [1] * 6 + [0] * 3])
    wide = {**SIZES, "intermediate_size": 64}
    module = {
        "bert": lambda: text.BertModel(text.BertConfig(**wide)),
        "bert_mask": lambda: text.BertModel(text.BertConfig(**wide)),
        "opt": lambda: text.OPTForCausalLM(text.OPTConfig(**SIZES, ffn_dim=64, word_embed_proj_dim=32, use_cache=False)),
        "llama": lambda: text.LlamaForCausalLM(text.LlamaConfig(**wide, num_key_value_heads=2, use_cache=False)),
        "gpt2": lambda: text.GPT2LMHeadModel(
            text.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64, use_cache=False)
        ),
    }[name]()
    return prepared(module), (ids, mask) if name == "bert_mask" else (ids,)


def first(result):
    """The first tensor that a network returns."""
    if isinstance(result, (torch.Tensor, numpy.ndarray)):
        return torch.as_tensor(result)
    return torch.as_tensor(next(iter(result.values())) if hasattr(result, "values") else result[0])


def difference(a, b):
    a, b = first(a), first(b)
    assert a.shape == b.shape and b.abs().max() > 0
    return float((a - b).abs().max() / b.abs().max())


@pytest.fixture
def exported_attention():
    """Attention as it is exported: PyTorch has a path of its own for evaluation, which differs in the last bits."""
    was_enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    yield
    torch.backends.mha.set_fastpath_enabled(was_enabled)


@pytest.mark.usefixtures("exported_attention")
@pytest.mark.parametrize("name", ["mlp", *IMAGES, *TEXTS])
def test_networks_go_to_graphs_and_back(name):
    module, inputs = network(name)
    with torch.no_grad():
        expected = module(*inputs)
        graph = from_torch(module, inputs)
        arrays = [value.numpy() for value in inputs]
        result = graph(*arrays)
        assert difference(result, expected) < 1e-5
        again = to_torch(graph).eval()
        assert difference(again(*inputs), expected) < 1e-6
        third = from_torch(again, inputs)
        assert difference(third(*arrays), result) < 1e-6
    assert sum(p.numel() for p in again.parameters()) == sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("name", ["mlp", "resnet18", "gpt2"])
def test_the_batch_is_free(name):
    module, inputs = network(name)
    graph = from_torch(module, tuple(value[:1] for value in inputs))
    assert difference(graph(*(value.numpy() for value in inputs)), module(*inputs)) < 1e-5


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small", "vit_b_16", "convnext_tiny", "bert"])
def test_raised_networks_compute_the_same(name):
    module, inputs = network(name)
    raised = raise_modules(module, inputs)
    with torch.no_grad():
        result, expected = first(raised(*inputs)), first(module(*inputs))
    # Attention of PyTorch has a path of its own for evaluation, which export does not take.
    assert difference(result, expected) < 1e-5 if name == "vit_b_16" else torch.equal(result, expected)
