"""A sequence classifier of a few thousand parameters, written to a folder as a user's model would be. Not trained."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NLI = ("contradiction", "neutral", "entailment")


def tiny_nli(
    folder: Path, labels: Sequence[str] = NLI, favours: Sequence[float] = (0.0, 0.0, 0.0), head: bool = True
) -> Path:
    """Write model and tokenizer; `favours` is added to the scores of the labels, `head=False` leaves the head out."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast

    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    coder = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    coder.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    coder.train_from_iterator(["the noise is gone", "an exact copy"], trainers.WordLevelTrainer(special_tokens=special))
    coder.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")  # deprecations between the libraries are not ours to mend
        torch.manual_seed(0)
        tokenizer_class: Any = PreTrainedTokenizerFast  # its constructor is not typed
        tokenizer = tokenizer_class(
            tokenizer_object=coder, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]",
            model_max_length=64,
        )  # fmt: skip
        config = BertConfig(
            vocab_size=coder.get_vocab_size(), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=32, max_position_embeddings=64, pad_token_id=3,
            id2label=dict(enumerate(labels)), label2id={label: number for number, label in enumerate(labels)},
        )  # fmt: skip
        if head:
            model = BertForSequenceClassification(config)
            with torch.no_grad():
                model.classifier.bias.copy_(torch.tensor(favours))
            model.save_pretrained(folder)
        else:
            BertModel(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder
