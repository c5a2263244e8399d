"""Tokenised datasets and trainers of Hugging Face's; needs `mase-chop[hf]`."""

from __future__ import annotations

import importlib
from typing import Any, Optional

from mase import Error


def _module(name: str) -> Any:
    """A module of Hugging Face's."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error.name} is not installed; pip install 'mase-chop[hf]'", name=error.name) from error


def get_tokenized_dataset(
    dataset: str,
    checkpoint: str,
    return_tokenizer: bool = False,
    text_column: str = "text",
    tokenizer_checkpoint: Optional[str] = None,
) -> Any:
    """A dataset with the texts of a column as tokens of a checkpoint's tokenizer."""
    raw = _module("datasets").load_dataset(dataset)
    tokenizer = _module("transformers").AutoTokenizer.from_pretrained(tokenizer_checkpoint or checkpoint)
    tokens = raw.map(lambda row: tokenizer(row[text_column], truncation=True), batched=True)
    return (tokens, tokenizer) if return_tokenizer else tokens


def _accuracy(predicted: Any) -> dict[str, float]:
    logits, labels = predicted
    logits = logits[0] if isinstance(logits, tuple) else logits
    return {"accuracy": float((logits.argmax(-1) == labels).mean())}


def get_trainer(
    model: Any,
    tokenized_dataset: Any,
    tokenizer: Any,
    evaluate_metric: Optional[str] = "accuracy",
    data_collator: Any = None,
    output_dir: str = "mase-trainer",
    use_cpu: bool = True,
    report_to: str = "none",
    num_train_epochs: float = 1,
    gradient_accumulation_steps: int = 1,
    per_device_train_batch_size: int = 8,
    per_device_eval_batch_size: int = 8,
    checkpoint: Optional[str] = None,
) -> Any:
    """A trainer of Hugging Face's over a model. The checkpoint of the model is not needed."""
    hf = _module("transformers")
    if evaluate_metric not in ("accuracy", None):
        raise Error(f"evaluate_metric: '{evaluate_metric}' is not there; give 'accuracy' or None")
    arguments = hf.TrainingArguments(
        output_dir=output_dir,
        use_cpu=use_cpu,
        report_to=report_to,
        num_train_epochs=num_train_epochs,
        gradient_accumulation_steps=gradient_accumulation_steps,
        per_device_train_batch_size=per_device_train_batch_size,
        per_device_eval_batch_size=per_device_eval_batch_size,
    )
    return hf.Trainer(
        model,
        arguments,
        train_dataset=tokenized_dataset["train"],
        eval_dataset=tokenized_dataset["test"],
        data_collator=data_collator or hf.DataCollatorWithPadding(tokenizer),
        processing_class=tokenizer,
        compute_metrics=_accuracy if evaluate_metric == "accuracy" else None,
    )
