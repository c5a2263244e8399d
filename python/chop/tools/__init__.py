"""Loggers, inputs and checkpoints."""

from __future__ import annotations

from .checkpoint_load import load_model
from .get_input import InputGenerator, get_cf_args, get_dummy_input
from .huggingface import get_tokenized_dataset, get_trainer
from .logger import get_logger, set_logging_verbosity
from .utils import deepsetattr

__all__ = [
    "InputGenerator",
    "deepsetattr",
    "get_cf_args",
    "get_dummy_input",
    "get_logger",
    "get_tokenized_dataset",
    "get_trainer",
    "load_model",
    "set_logging_verbosity",
]
