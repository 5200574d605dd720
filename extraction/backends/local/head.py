"""From hidden states to the logits of the tokens that are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ....memory_store.errors import BackendError

THIN = 2000
"""With fewer allowed tokens than this, only their rows of the projection are computed."""

Ids = npt.NDArray[np.int64]


class Head:
    """The output projection of a model, or nothing where the model gives logits itself."""

    def __init__(self, model: Any, *, given: bool = False) -> None:
        self._layer = model.get_output_embeddings()
        self._given = given
        self.width = int(self._layer.weight.shape[0])

    def scores(self, features: Tensor, allowed: Sequence[Ids]) -> list[npt.NDArray[np.float64]]:
        """For each row of `features` the logits of the tokens allowed there, in their order."""
        if self._given:
            return [self._picked(row, ids) for row, ids in zip(features, allowed, strict=True)]
        wide = [index for index, ids in enumerate(allowed) if len(ids) >= THIN]
        full = dict(zip(wide, self._layer(features[wide]), strict=True)) if wide else {}
        return [
            self._picked(full[index], ids) if index in full else self._thin(features[index], ids)
            for index, ids in enumerate(allowed)
        ]

    def _thin(self, feature: Tensor, ids: Ids) -> npt.NDArray[np.float64]:
        if len(ids) == 1:
            return np.zeros(1)
        chosen = torch.from_numpy(ids).to(feature.device)
        logits = self._layer.weight.index_select(0, chosen) @ feature
        if self._layer.bias is not None:
            logits = logits + self._layer.bias[chosen]
        return _array(logits)

    def _picked(self, logits: Tensor, ids: Ids) -> npt.NDArray[np.float64]:
        if logits.shape[-1] != self.width:
            raise BackendError(f"the model returned {logits.shape[-1]} logits for a vocabulary of {self.width}")
        return _array(logits[torch.from_numpy(ids).to(logits.device)])


def _array(logits: Tensor) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = logits.double().cpu().numpy()
    return found
