"""Tokenised datasets and trainers of Hugging Face's; needs `mase-chop[hf]`."""

from __future__ import annotations

from typing import Any, Optional


def get_tokenized_dataset(dataset: str, checkpoint: str, return_tokenizer: bool = False) -> Any:
    """A dataset with its texts as tokens of a checkpoint's tokenizer."""
    from datasets import load_dataset
    from transformers import AutoTokenizer

    raw, tokenizer = load_dataset(dataset), AutoTokenizer.from_pretrained(checkpoint)
    tokens = raw.map(lambda row: tokenizer(row["text"], truncation=True), batched=True)
    return (tokens, tokenizer) if return_tokenizer else tokens


def get_trainer(
    model: Any,
    tokenized_dataset: Any,
    tokenizer: Any,
    evaluate_metric: Optional[str] = None,
    output_dir: str = "mase-trainer",
    use_cpu: bool = True,
    num_train_epochs: int = 1,
    report_to: str = "none",
    checkpoint: Optional[str] = None,
) -> Any:
    """A trainer of Hugging Face's over a model."""
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    def accuracy(predicted: Any) -> dict[str, float]:
        logits, labels = predicted
        logits = logits[0] if isinstance(logits, tuple) else logits
        return {"accuracy": float((logits.argmax(-1) == labels).mean())}

    arguments = TrainingArguments(output_dir=output_dir, use_cpu=use_cpu, num_train_epochs=num_train_epochs, report_to=report_to)
    return Trainer(
        model,
        arguments,
        train_dataset=tokenized_dataset["train"],
        eval_dataset=tokenized_dataset["test"],
        data_collator=DataCollatorWithPadding(tokenizer),
        processing_class=tokenizer,
        compute_metrics=accuracy if evaluate_metric == "accuracy" else None,
    )
