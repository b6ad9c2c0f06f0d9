# SPDX-License-Identifier: MIT
"""Small quantised tensors in safetensors files, in each layout, and wrong in one place. Standard library only."""

import json
import struct

Tensor = tuple[str, list[int]]


def _bytes(dtype: str, shape: list[int]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count * {"U8": 1, "F8_E4M3": 1, "F16": 2, "F32": 4, "U32": 4, "I32": 4}[dtype]


def _file(tensors: dict[str, Tensor | bytes]) -> bytes:
    """Bytes are a tensor of uint8 with them."""
    header, at, content = {}, 0, b""
    for name, tensor in tensors.items():
        dtype, shape = ("U8", [len(tensor)]) if isinstance(tensor, bytes) else tensor
        size = _bytes(dtype, shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        content += tensor if isinstance(tensor, bytes) else bytes((at + i) & 63 for i in range(size))
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + content


def _state(**changed) -> bytes:
    return json.dumps({"quant_type": "nf4", "blocksize": 8, "shape": [4, 16], **changed}).encode()


def _nf4(state: bytes, absmax: Tensor = ("F32", [8]), **more: Tensor) -> dict[str, Tensor | bytes]:
    return {"w": ("U8", [32, 1]), "w.absmax": absmax, "w.quant_map": ("F32", [16]), **more,
            "w.quant_state.bitsandbytes__nf4": state}  # fmt: skip


def quantised_files() -> list[bytes]:
    nested = {"w.nested_absmax": ("F32", [4]), "w.nested_quant_map": ("F32", [256])}
    good = [
        {"w_blocks": ("U8", [3, 2, 16]), "w_scales": ("U8", [3, 2])},
        {"weight": ("U8", [3, 8]), "weight_scale": ("F8_E4M3", [3, 1]), "weight_scale_2": ("F32", [])},
        {"weight_packed": ("U8", [3, 8]), "weight_scale": ("F8_E4M3", [3, 1]), "weight_global_scale": ("F32", [1])},
        {"weight": ("F8_E4M3", [130, 3]), "weight_scale_inv": ("F32", [2, 1])},
        {"weight": ("F8_E4M3", [5, 3]), "weight_scale": ("F32", [5, 1])},
        {"weight": ("F8_E4M3", [5, 3]), "weight_scale": ("F16", [])},
        {"weight": ("U32", [3, 4]), "scales": ("F16", [3, 1]), "biases": ("F16", [3, 1])},
        {"qweight": ("I32", [3, 4]), "scales": ("F16", [3, 1]), "g_idx": ("I32", [24])},
        _nf4(_state()),
        _nf4(_state(shape=[16, 4])),
        _nf4(_state(nested_blocksize=2, nested_offset=0.5), ("U8", [8]), **nested),
        _nf4(_state(shape=[16, 4], nested_blocksize=2, nested_offset=0.5), ("U8", [8]), **nested),
        {"rows": ("U8", [4, 18])},
    ]
    states = [_state(blocksize=0), _state(shape=[1 << 40, 1 << 40]), _state(shape=[64]), _state(nested_blocksize=2),
              _state(nested_blocksize=2, nested_offset=1e300), b"{", b"", b"[]", _state(quant_type="fp4")]  # fmt: skip
    wrong = [_nf4(state) for state in states] + [_nf4(_state(), ("F32", [7])), _nf4(_state(), ("U8", [8]))]
    wrong += [{name: tensor for name, tensor in file.items() if name != missing} for file in good for missing in list(file)[1:]]
    return [_file(tensors) for tensors in good + wrong]
