# SPDX-License-Identifier: MIT
#
# libgather.torch: tables in files as a Dataset and as an embedding (dataset.py, embedding.py). Only this package needs PyTorch.
"""PyTorch: tables in files as a Dataset and as an embedding."""

from libgather.torch.dataset import Rows, TableDataset, collate, take
from libgather.torch.embedding import DiskEmbedding

__all__ = ["DiskEmbedding", "Rows", "TableDataset", "collate", "take"]
