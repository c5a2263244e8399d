//! PyTorch itself as the judge, where `BENCH_PYTHON` or `.tools/torch` has it.

mod support;

use interop::checkpoint::{Checkpoint, Kind, read, write};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::checkpoint;

/// A Python that has PyTorch: `$BENCH_PYTHON`, or the one of `scripts/test-tools.sh`.
fn python() -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/torch/bin/python");
    let named = std::env::var_os("BENCH_PYTHON").map(PathBuf::from);
    let has_torch = |python: &PathBuf| {
        let found = Command::new(python).args(["-c", "import torch"]).output();
        found.is_ok_and(|found| found.status.success())
    };
    named.into_iter().chain([tool]).find(has_torch)
}

/// The output of a script with PyTorch, or `None`, with a word, when there is none.
fn torch(script: &str, path: &Path) -> Option<String> {
    let Some(python) = python() else {
        eprintln!("skipped: neither BENCH_PYTHON nor .tools/torch has PyTorch");
        return None;
    };
    let output = Command::new(python)
        .arg("-c")
        .arg(script)
        .arg(path)
        .output()
        .expect("the Python runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", path.display());
    Some(String::from_utf8(output.stdout).expect("text"))
}

fn written(name: &str, checkpoint: &Checkpoint) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    write(&path, checkpoint).unwrap_or_else(|error| panic!("{error}"));
    path
}

/// Every tensor in the form that the scripts print.
fn listing(checkpoint: &Checkpoint, prefix: &str) -> String {
    let line = |tensor: &interop::checkpoint::NamedTensor| {
        let bits: Vec<String> = tensor
            .values
            .iter()
            .map(|value| format!("{:08x}", value.to_bits()))
            .collect();
        format!(
            "{prefix}{} {:?} {}\n",
            tensor.name,
            tensor.shape,
            bits.join(" ")
        )
    };
    checkpoint.tensors.iter().map(line).collect()
}

const LIST: &str = "
import struct, sys, torch
def show(state):
    for name, tensor in state.items():
        values = tensor.float().reshape(-1).tolist()
        print(name, list(tensor.shape), ' '.join('%08x' % struct.unpack('<I', struct.pack('<f', v)) for v in values))
";

#[test]
fn a_checkpoint_loads_with_weights_only() {
    let expected = checkpoint(Kind::Lightning, "adam");
    let path = written("weights_only.ckpt", &expected);
    let script = format!("{LIST}
c = torch.load(sys.argv[1], weights_only=True)
show(c['state_dict'])
assert c['state_dict']['model.bn.num_batches_tracked'].dtype == torch.int64
assert (c['epoch'], c['global_step']) == (4, 12), c
assert c['hyper_parameters'] == {{'learning_rate': 1e-3, 'batch_size': 256, 'name': 'jsc-tiny'}}
assert c['mase']['resume'] == {{'seed': 2**64 - 1, 'best_loss': 0.1, 'passes': 3, 'list': [1, None, True, 'é']}}
keys = 'epoch global_step pytorch-lightning_version state_dict loops callbacks optimizer_states lr_schedulers hparams_name hyper_parameters mase'
assert list(c) == keys.split(), list(c)
");
    if let Some(output) = torch(&script, &path) {
        assert_eq!(output, listing(&expected, "model."));
    }
}

#[test]
fn optimizers_load_their_states_and_go_on() {
    for (name, class) in [("adam", "Adam"), ("adamw", "AdamW"), ("sgd", "SGD")] {
        let path = written(
            &format!("optimizer_{name}.ckpt"),
            &checkpoint(Kind::Lightning, name),
        );
        let script = format!("
import sys, torch
c = torch.load(sys.argv[1], weights_only=True)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bn, self.fc = torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2)
    def forward(self, x):
        return self.fc(self.bn(x))
net = Net()
net.load_state_dict({{k.removeprefix('model.'): v for k, v in c['state_dict'].items()}}, strict=True)
optimizer = torch.optim.{class}(net.parameters(), lr=1.0)
optimizer.load_state_dict(c['optimizer_states'][0])
group = optimizer.param_groups[0]
assert (group['lr'], group['weight_decay']) == (0.1 + 0.2, 1e-4), group
for parameter in net.parameters():
    state = optimizer.state[parameter]
    if '{name}' == 'sgd':
        assert torch.equal(state['momentum_buffer'], parameter * 0.5)
    else:
        assert torch.equal(state['exp_avg'], parameter * 0.5) and torch.equal(state['exp_avg_sq'], parameter * 0.25)
        assert state['step'].item() == 12
net(torch.randn(4, 3)).sum().backward()
optimizer.step()
print('ok')
");
        if let Some(output) = torch(&script, &path) {
            assert_eq!(output, "ok\n", "{name}");
        }
    }
}

#[test]
fn a_state_dict_loads() {
    let expected = checkpoint(Kind::StateDict, "adam");
    let path = written("state_dict.pt", &expected);
    let script = format!("{LIST}\nshow(torch.load(sys.argv[1], weights_only=True, mmap=True))");
    if let Some(output) = torch(&script, &path) {
        assert_eq!(output, listing(&expected, ""));
    }
}

#[test]
fn files_of_students_have_the_values_that_torch_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ckpts");
    let script = format!(
        "{LIST}
import pathlib
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    show(torch.load(path, weights_only=True, map_location='cpu')['state_dict'])
"
    );
    if !folder.exists() {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    }
    let Some(output) = torch(&script, &folder) else {
        return;
    };
    let files = std::fs::read_dir(&folder).expect("the folder");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
    paths.sort();
    let ours = paths
        .iter()
        .map(|path| listing(&read(path, None).expect("a checkpoint"), "model."));
    assert_eq!(output, ours.collect::<String>());
}
