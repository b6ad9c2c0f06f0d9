# SPDX-License-Identifier: MIT
#
# libgather.torch: tables in files as a Dataset and as an embedding (dataset.py, embedding.py). Only this package needs PyTorch.
"""PyTorch: tables in files as a Dataset and as an embedding."""

from libgather.torch.dataset import Rows, TableDataset, collate, take
from libgather.torch.embedding import DiskEmbedding
from libgather.torch.override import Override, OverrideCount, override

__all__ = ["DiskEmbedding", "Override", "OverrideCount", "Rows", "TableDataset", "collate", "override", "take"]
