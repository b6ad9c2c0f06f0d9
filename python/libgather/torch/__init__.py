# SPDX-License-Identifier: MIT
#
# libgather.torch: the operators as functions of tensors (operators.py and writing.py, and the files they import), tables in files as a Dataset and as an
# embedding (dataset.py, embedding.py), and over several processes (sharded.py). Only this package needs PyTorch.
"""PyTorch: libgather's operators; tables in files as a Dataset and as an embedding.

Importing it loads the operators, so that exported programs that contain them can be loaded.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError("libgather.torch needs PyTorch: pip install libgather[torch]") from None

from libgather.torch.dataset import Rows, TableDataset, collate
from libgather.torch.embedding import DiskEmbedding, DiskEmbeddingStatistics
from libgather.torch.loading import library_path
from libgather.torch.operators import dequantize, gather_elements, gather_nd, gather_tree, take, take_quantized
from libgather.torch.override import Override, OverrideCount, override
from libgather.torch.replace import replace_embedding
from libgather.torch.sharded import ShardedTable, ShardedTableStatistics
from libgather.torch.writing import embedding_bag, index_add, scatter, scatter_add, scatter_elements, scatter_nd

__all__ = [
    "DiskEmbedding",
    "DiskEmbeddingStatistics",
    "Override",
    "OverrideCount",
    "Rows",
    "ShardedTable",
    "ShardedTableStatistics",
    "TableDataset",
    "collate",
    "dequantize",
    "embedding_bag",
    "gather_elements",
    "gather_nd",
    "gather_tree",
    "index_add",
    "library_path",
    "override",
    "replace_embedding",
    "scatter",
    "scatter_add",
    "scatter_elements",
    "scatter_nd",
    "take",
    "take_quantized",
]
