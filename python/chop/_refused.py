"""What the Python MASE has and this package has not: one table, each line with its reason."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn, Optional

PAGE = "docs/python-from-mase.md"

# Dotted names, of modules and of what they hold, and the reason for all that lies beneath.
REFUSED: dict[str, str] = {
    "chop.passes.graph.interface.tensorrt": "TensorRT runs on GPUs, and there is no GPU back end",
    "chop.passes.graph.interface.onnxrt": "ONNX Runtime is another engine; the networks run in this one",
    "chop.passes.graph.transforms.tensorrt": "TensorRT runs on GPUs, and there is no GPU back end",
    "chop.passes.graph.transforms.verilog": "hardware is emitted by `ch emit`",
    "chop.passes.graph.transforms.hls": "hardware is emitted by `ch emit`, without HLS",
    "chop.passes.graph.transforms.dse": "hardware is searched by `ch search` and `ch synth`",
    "chop.passes.graph.analysis.autosharding": "networks run on one machine",
    "chop.passes.graph.transforms.resharding": "networks run on one machine",
    "chop.distributed": "networks run on one machine",
    "chop.pipelines.auto_pipeline": "networks run on one machine; use CompressionPipeline",
    "chop.nn.modules.lora": "insert_lora_adapter_transform_pass makes adapters",
    "chop.ir.onnx": "networks of ONNX are read by mase.load",
    "chop.passes.onnx": "networks of ONNX are read by mase.load",
    "chop.passes.graph.analysis.runtime": "runtimes are those of GPUs; `ch report --time` measures this engine",
    "chop.passes.graph.analysis.hardware": "hardware is described by `ch emit` and `ch synth`",
    "chop.passes.graph.analysis.hooks": "hooks are those of PyTorch; every module of `graph.modules` has its own",
    "chop.passes.graph.transforms.logicnets": "networks of look-up tables are not made here; `ch emit` writes other hardware",
    "chop.passes.graph.transforms.granularity": "layers stay whole; `graph.core` has the operators beneath",
    "chop.passes.graph.transforms.onnxrt": "ONNX Runtime is another engine; the networks run in this one",
    "chop.passes.graph.transforms.vitis": "Vitis is another tool chain; `ch synth` and `ch bitstream` use open tools",
    "chop.passes.graph.interface.vitis": "Vitis is another tool chain; `ch synth` and `ch bitstream` use open tools",
    "chop.passes.graph.transforms.training": "formats of gradients are not there; training rounds what the forward pass computes",
    "chop.passes.graph.transforms.fused_rmsnorm": "kernels for GPUs, and there is no GPU back end",
    "chop.passes.module.transforms.fused_ops": "kernels for GPUs, and there is no GPU back end",
    "chop.passes.graph.transforms.cim": "memories that compute have no number format here",
    "chop.passes.module.transforms.cim": "memories that compute have no number format here",
    "chop.passes.module.transforms.pim": "memories that compute have no number format here",
    "chop.passes.module.transforms.bitflip": "faults of memories are not simulated",
    "chop.passes.graph.transforms.snn": "spiking networks have no number format here",
    "chop.passes.module.transforms.rotation": "weights of large language models are not rotated here",
    "chop.passes.module.transforms.quantize.rotation_search": "weights of large language models are not rotated here",
    "chop.passes.module.transforms.gptq": "the pass `gptq` of mase.Graph does it",
    "chop.passes.module.transforms.optical": "optical networks have no number format here",
    "chop.passes.module.transforms.attention": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.passes.module.transforms.mla": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.passes.analysis": "it is chop.passes.graph.analysis since 2024, and passes return pairs",
    "chop.passes.transforms": "it is chop.passes.graph.transforms since 2024, and passes return pairs",
    "chop.passes.utils": "it is chop.passes.graph.utils since 2024",
    "chop.nn.quantizers": "mase.torch.Round and mase.Format round to every format",
    "chop.nn.attention": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.nn.mla": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.nn.quantized.modules.attention": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.nn.quantized.modules.bert": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.nn.quantized.modules.llama": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.nn.quantized.modules.opt": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.models.bert": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.models.llama": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.models.manual": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.models.mistral": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.models.opt": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.models.patched": "hand-written modules of large language models are not there; MaseGraph takes the networks of transformers",
    "chop.nn.optical": "optical networks have no number format here",
    "chop.nn.cim": "memories that compute have no number format here",
    "chop.nn.snn": "spiking networks have no number format here",
    "chop.actions.simulate": "hardware is simulated by `ch simulate`",
    "chop.actions.emit": "hardware is emitted by `ch emit`",
    "chop.pipelines.distributed_inference": "networks run on one machine; use CompressionPipeline",
    "chop.pipelines.emit_verilog": "hardware is emitted by `ch emit`",
    "chop.models.nerf": "NeRF models are not in the zoo",
    "chop.models.vision.nerf": "NeRF models are not in the zoo",
    "chop.tools.plt_wrapper": "training is `chop.actions.train` or a loop of PyTorch's; Lightning is not needed",
    "chop.models.diffusion": "diffusion models are not in the zoo",
    "chop.actions.search": "chop.actions has search as a function; samplers are those of `ch list samplers`, without reinforcement learning",
    "chop.passes.module.transforms.autosharding": "networks run on one machine",
    "chop.passes.module.transforms.onn": "optical networks have no number format here",
    "chop.passes.module.transforms.snn": "spiking networks have no number format here",
}

# Passes that some package of passes is asked for, and the entry of the table that refuses them.
NAMES: dict[str, str] = {
    "tensorrt_engine_interface_pass": "chop.passes.graph.interface.tensorrt",
    "tensorrt_calibrate_transform_pass": "chop.passes.graph.transforms.tensorrt",
    "tensorrt_fake_quantize_transform_pass": "chop.passes.graph.transforms.tensorrt",
    "tensorrt_fine_tune_transform_pass": "chop.passes.graph.transforms.tensorrt",
    "onnx_runtime_interface_pass": "chop.passes.graph.interface.onnxrt",
    "emit_verilog_top_transform_pass": "chop.passes.graph.transforms.verilog",
    "emit_internal_rtl_transform_pass": "chop.passes.graph.transforms.verilog",
    "emit_bram_transform_pass": "chop.passes.graph.transforms.verilog",
    "emit_cocotb_transform_pass": "chop.passes.graph.transforms.verilog",
    "emit_vivado_project_transform_pass": "chop.passes.graph.transforms.verilog",
    "bram_hls_transform_pass": "chop.passes.graph.transforms.hls",
    "emit_mlir_hls_transform_pass": "chop.passes.graph.transforms.hls",
    "run_dse_pass": "chop.passes.graph.transforms.dse",
    "autosharding_analysis_pass": "chop.passes.graph.analysis.autosharding",
    "resharding_transform_pass": "chop.passes.graph.transforms.resharding",
    "AutoPipelineForDistributedInference": "chop.pipelines.auto_pipeline",
    "AutoPipelineForEmitVerilog": "chop.passes.graph.transforms.verilog",
    "MaseOnnxGraph": "chop.ir.onnx",
    "quantize_tensorrt_transform_pass": "chop.passes.graph.transforms.tensorrt",
    "test_quantize_tensorrt_transform_pass": "chop.passes.graph.transforms.tensorrt",
    "patch_metadata_transform_pass": "chop.passes.graph.transforms.verilog",
    "add_hardware_metadata_analysis_pass": "chop.passes.graph.analysis.hardware",
    "report_node_hardware_type_analysis_pass": "chop.passes.graph.analysis.hardware",
    "verify_hardware_metadata_analysis_pass": "chop.passes.graph.analysis.hardware",
    "run_cosim_analysis_pass": "chop.passes.graph.analysis.hardware",
    "get_synthesis_results": "chop.passes.graph.analysis.hardware",
    "hook_inspection_analysis_pass": "chop.passes.graph.analysis.hooks",
    "runtime_analysis_pass": "chop.passes.graph.analysis.runtime",
    "logicnets_fusion_transform_pass": "chop.passes.graph.transforms.logicnets",
    "raise_granularity_transform_pass": "chop.passes.graph.transforms.granularity",
    "onnx_annotate_transform_pass": "chop.passes.onnx",
    "export_fx_graph_analysis_pass": "chop.passes.onnx",
    "partition_to_multi_device_transform_pass": "chop.distributed",
    "ann2snn_transform_pass": "chop.passes.module.transforms.snn",
    "attention_transform_pass": "chop.passes.module.transforms.attention",
    "rotation_transform_pass": "chop.passes.module.transforms.rotation",
    "metadata_value_type_cast_transform_pass": "chop.passes.graph.transforms.tensorrt",
    "training_base_pass": "chop.passes.graph.transforms.training",
    "simulate": "chop.actions.simulate",
    "emit": "chop.actions.emit",
}


def reason(name: str) -> Optional[str]:
    """The reason why a dotted name is refused."""
    found = [entry for entry in REFUSED if name == entry or name.startswith(entry + ".")]
    return REFUSED[found[0]] if found else None


def refuse(name: str, why: str) -> NoReturn:
    """Refuses a name."""
    raise ImportError(f"{name}: not in this package: {why}; see {PAGE}", name=name)


def refuse_name(package: str, name: str) -> NoReturn:
    """Refuses a name that a package of passes has not."""
    if name in NAMES:
        refuse(f"{package}.{name}", REFUSED[NAMES[name]])
    raise AttributeError(f"module '{package}' has no attribute '{name}'")


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        why = reason(fullname) if fullname.startswith("chop.") else None
        if why is not None:
            refuse(fullname, why)
        return None


class _Parents(importlib.abc.MetaPathFinder):
    """Packages that are not there, so that what is refused beneath them is asked for."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        is_parent = any(name.startswith(fullname + ".") for name in REFUSED)
        return importlib.machinery.ModuleSpec(fullname, None, is_package=True) if is_parent else None


def install() -> None:
    """Makes importing a refused module say why."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        sys.meta_path.append(_Parents())


def warn_of_original(own: Any) -> None:
    """Names both places if the Python MASE is installed under the same name."""
    found = {str(path) for path in own}
    for distribution in importlib.metadata.distributions(name="mase-tools"):
        place = distribution.locate_file("chop")
        if str(place) not in found:
            warnings.warn(f"chop is this package, in {', '.join(found)}; the Python MASE is in {place}", stacklevel=3)
