"""PyTorch in and out: rounding, layers, graphs. Skipped without PyTorch."""

import copy
import pickle

import numpy
import pytest

import mase

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from mase.torch import Round, from_torch, raise_modules, round_tensor, to_torch  # noqa: E402

MODELS = ["jsc-tiny", "jsc-toy", "toy_convnet", "lenet5", "resnet18"]


def inputs_of(graph, rows=3):
    torch.manual_seed(0)
    for node in graph.nodes:
        if node.op == "placeholder":
            yield torch.randn(node.metadata(rows)["common"]["results"]["data_out_0"]["shape"])


def difference(a, b):
    a, b = torch.as_tensor(a).detach(), torch.as_tensor(b).detach()
    return float((a - b).abs().max() / b.abs().max().clamp(min=1e-9))


def test_round_is_the_rounding_of_the_format_and_its_gradient():
    x = torch.tensor([-9.0, 0.3, 7.9, 8.5], requires_grad=True)
    y = Round("integer(8, 4)")(x)
    assert y.tolist() == mase.Format("integer(8, 4)").quantize(x.detach().numpy()).tolist()
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [0, 2, 3, 0]


def test_rows_share_no_scale():
    x = torch.tensor([[1.0, 0.3], [100.0, 30.0]])
    rounded = round_tensor(x, "scale_integer(4)", rows=True)
    assert torch.equal(rounded[:1], round_tensor(x[:1], "scale_integer(4)", rows=True))
    assert not torch.equal(rounded, round_tensor(x, "scale_integer(4)"))


def test_other_tensors_are_refused():
    with pytest.raises(TypeError, match=r"convert it with .float\(\)"):
        Round("integer(8, 4)")(torch.zeros(3, dtype=torch.float64))
    with pytest.raises(ValueError, match="runs on the CPU"):
        Round("integer(8, 4)")(torch.zeros(3, device="meta"))


@pytest.mark.parametrize("name", MODELS)
def test_graphs_go_to_pytorch_and_back(name):
    graph = mase.model(name)
    inputs = tuple(inputs_of(graph))
    module = to_torch(graph).eval()
    expected = graph(*(x.numpy() for x in inputs))
    with torch.no_grad():
        assert difference(module(*inputs), expected) < 1e-5
    again = from_torch(module, inputs)
    assert difference(again(*(x.numpy() for x in inputs)), expected) < 1e-6
    assert {node.name for node in graph.nodes if node.target} <= {node.name for node in again.nodes}
    assert again.parameters().keys() == graph.parameters().keys()


def test_formats_become_layers_with_the_same_operands(quantize):
    graph = mase.model("jsc-toy")
    graph.apply("quantize", **quantize)
    module, x = to_torch(graph).eval(), torch.randn(9, 16)
    layer = module.get_submodule("seq_blocks.2")
    assert type(layer).__name__ == "LinearInteger" and isinstance(layer, nn.Linear)
    weight = mase.Format("integer(8, 4)").quantize(graph.parameters()["seq_blocks.2.weight"])
    assert numpy.array_equal(layer.operands()["weight"].numpy(), weight)
    assert difference(module(x), graph(x.numpy())) < 1e-6
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(other(x), module(x))


def test_a_quantised_module_trains_and_its_weights_return(jets, quantize):
    graph = mase.model("jsc-tiny")
    graph.apply("quantize", **quantize)
    module = to_torch(graph).train()
    x, y = torch.from_numpy(jets.train.x.copy()), torch.from_numpy(jets.train.y)
    optimizer = torch.optim.Adam(module.parameters(), 1e-2)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.1
    state = module.state_dict()
    graph.load_parameters({name: state[name].numpy() for name in graph.parameters()})
    assert difference(module.eval()(x), graph(x.numpy())) < 1e-6


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Dropout(0.5))
        self.second = nn.Conv2d(4, 4, 1)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = self.first(x)
        x = torch.cat([x, self.second(x) * 0.5 + x], dim=1)
        a, b = x[:, :4], x[:, 4:]
        return self.head((a + b).mean(dim=(2, 3)))


def test_raised_modules_are_the_live_ones():
    module, x = Branches().eval(), torch.randn(2, 3, 8, 8)
    raised = raise_modules(module, (x,))
    assert torch.equal(raised(x), module(x))
    names = [node.name for node in raised.graph.nodes if node.op == "call_module"]
    assert names == ["first_0", "first_1", "first_2", "first_3", "second", "head"]
    assert all(a is b for a, b in zip(raised.parameters(), module.parameters()))
    raised.train()(x).sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    assert not torch.equal(raised(x), raised(x))


def test_a_module_that_is_called_twice_is_two_calls():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.relu = nn.Linear(4, 4), nn.ReLU()

        def forward(self, x):
            return self.relu(self.fc(self.relu(self.fc(self.fc(x)))))

    module, x = Twice().eval(), torch.randn(3, 4)
    raised = raise_modules(module, (x,))
    assert [node.target for node in raised.graph.nodes if node.op == "call_module"] == ["fc", "fc", "relu", "fc", "relu"]
    assert torch.equal(raised(x), module(x))


def test_modules_become_graphs_with_the_names_of_their_parts():
    module, x = Branches().eval(), torch.randn(2, 3, 8, 8)
    graph = from_torch(module, (x,))
    assert difference(graph(x.numpy()), module(x)) < 1e-5
    assert graph["first.0"].op == "conv2d" and graph["head"].op == "linear"
    y = torch.randn(7, 3, 8, 8)
    assert difference(graph(y.numpy()), module(y)) < 1e-5


def test_what_cannot_be_mapped_is_listed_whole():
    class Odd(nn.Module):
        def forward(self, x):
            return torch.trace(torch.erfinv(x)) + torch.erfinv(x)

    with pytest.raises(mase.Error, match="3 calls are not read") as error:
        from_torch(nn.Sequential(nn.Linear(4, 4), Odd()), (torch.rand(2, 4),))
    assert "aten.erfinv.default (2×, first in 1)" in str(error.value)
    assert "aten.bernoulli" not in str(error.value) and "aten.trace.default (1×, first in 1)" in str(error.value)


def test_a_branch_on_values_is_named_with_its_line():
    class Branch(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(mase.Error, match=r"test_torch.py:\d+ \(return x if x.sum\(\) > 0 else -x\)") as error:
        from_torch(Branch(), (torch.rand(2, 4),))
    assert "torch.where or torch.cond" in str(error.value) and "\n" not in str(error.value)


def test_a_layer_that_is_called_twice_has_one_weight():
    shared = nn.Linear(4, 4)
    module, x = nn.Sequential(shared, nn.ReLU(), shared), torch.randn(3, 4)
    graph = from_torch(module, (x,))
    assert difference(graph(x.numpy()), module(x)) < 1e-6
    assert sum(value.size for value in graph.parameters().values()) == 20


def test_formats_come_with_the_layers_that_have_them(quantize):
    graph = mase.model("jsc-tiny")
    graph.apply("quantize", **quantize)
    module, x = to_torch(graph).eval(), torch.randn(9, 16)
    again = from_torch(module, (x,))
    assert dict(again["seq_blocks_2"].formats.items()) == dict(graph["seq_blocks_2"].formats.items())
    assert numpy.array_equal(again(x.numpy()), graph(x.numpy()))

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module.get_submodule("seq_blocks.2")

        def forward(self, x):
            return self.inner(x)

    outer = from_torch(Outer(), (x,))
    assert outer["inner"].type_name == "LinearInteger" and outer["inner"].target == "inner"


def test_inputs_go_by_name_too():
    class Two(nn.Module):
        def forward(self, x, other=None):
            return x * 2 if other is None else torch.relu(x) + other

    x, other = torch.randn(3, 4), torch.randn(3, 4)
    graph = from_torch(Two(), (x,), {"other": other})
    assert difference(graph({"x": x.numpy(), "other": other.numpy()}), Two()(x, other)) < 1e-6


def test_what_cannot_be_exported_or_rounded_is_named():
    x = torch.rand(2, 4)
    with pytest.raises(TypeError, match="module: expected a torch.nn.Module, got int"):
        from_torch(3, (x,))
    with pytest.raises(TypeError, match=r"example_inputs: expected a tuple of tensors, got Tensor; one tensor alone is \(x,\)"):
        from_torch(nn.Linear(4, 4), x)
    with pytest.raises(mase.Error, match="example_inputs: the batch is empty"):
        from_torch(nn.Linear(4, 4), (x[:0],))
    with pytest.raises(mase.Error, match="weight is on the device meta"):
        from_torch(nn.Linear(4, 4, device="meta"), (x,))
    with pytest.raises(mase.Error, match="must have same reduction dim") as error:
        from_torch(nn.Linear(5, 4), (x,))
    assert "torch.where" not in str(error.value)
    with pytest.raises(TypeError, match="graph: expected a mase.Graph, got int"):
        to_torch(3)
    with pytest.raises(TypeError, match="x: expected a torch.Tensor, got list"):
        Round("integer(8, 4)")([1.0])
    with pytest.raises(TypeError, match="format: expected a mase.Format or its text, got int"):
        Round(3)


def test_a_number_that_is_read_from_a_tensor_is_named_with_its_line():
    class Largest(nn.Module):
        def forward(self, x):
            return x * x.max().item()

    with pytest.raises(mase.Error, match=r"Largest, test_torch.py:\d+ \(return x \* x.max\(\).item\(\)\): it reads a number"):
        from_torch(Largest(), (torch.rand(2, 4),))
