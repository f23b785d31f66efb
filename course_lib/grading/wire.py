"""What crosses between the trusted side and the student side: frames of JSON and raw bytes. Both sides use this file.

A frame is eight bytes (two lengths), a JSON header, and a body of raw bytes. A value is described in the header, the
entries of its arrays lie in the body, and the types are an explicit list: nothing that is read can run. What came from
the student side is believed in nothing but its values.
"""

import json
import math
import struct
from typing import Any

import numpy as np

LENGTHS = struct.Struct(">II")
DTYPES = ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
SHORT = 300  # letters of a text that names or shows something; a text that is a value may be longer
LONG_TEXT = 100_000
DEPTH = 12  # of tuples in tuples
ITEMS = 100_000  # of one tuple, list or dictionary
CALL: Any = None  # on the student side: calls a function that an input is, where it lives, on the trusted side
TENSORS = False  # whether a tensor is decoded as one (by the student side) or as an array (by the trusted side)


class Malformed(ValueError):
    """What came is no frame, or no value that may cross."""


class Foreign:
    """Stands for an object that may not cross: its type's name and its text are all that is known of it."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a frame.

    >>> unpack_header(pack({"kind": "done"})[8:])
    {'kind': 'done'}
    """
    text = json.dumps(header).encode("ascii")
    return LENGTHS.pack(len(text), len(body)) + text + body


def unpack_header(text: bytes) -> dict[str, Any]:
    """Read a frame's header.

    Raises:
        Malformed: if it is no JSON object.
    """
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("the header is not JSON") from error
    if not isinstance(header, dict):
        raise Malformed("the header is not an object")
    return header


def clean(text: object, limit: int = SHORT) -> str:
    """Cut a text that came from a submission, and take out what no file can hold.

    >>> clean("long" * 100, 6)
    'longl…'
    """
    text = text if isinstance(text, str) else ""
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    text = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter >= " " or letter in "\n\t" else "�" for letter in text)


# --- values -----------------------------------------------------------------------------------------------------------


def encode(value: object, body: bytearray, depth: int = 0) -> dict[str, Any]:
    """Describe a value and append the entries of its arrays to `body`; what may not cross becomes a name and a text."""
    kind = type(value)
    if value is None or value is Ellipsis:
        return {"t": "none" if value is None else "dots"}
    if kind is bool or kind is str:
        return {"t": "value", "v": value}
    if kind is float:
        return {"t": "float", "v": value.hex() if math.isfinite(value) else repr(value)}
    if kind is int and -(2**63) <= value < 2**64:
        return {"t": "value", "v": value}
    if isinstance(value, np.ndarray | np.generic):
        return _encode_array(np.asarray(value), body) | {"scalar": isinstance(value, np.generic)}
    if _is_tensor(value):
        return _encode_array(value.detach().cpu().numpy(), body) | {"torch": True}
    if isinstance(value, tuple | list) and depth < DEPTH and len(value) <= ITEMS:
        name = "tuple" if isinstance(value, tuple) else "list"
        return {"t": name, "items": [encode(item, body, depth + 1) for item in value]}
    if kind is dict and depth < DEPTH and len(value) <= ITEMS:
        pairs = [[encode(key, body, depth + 1), encode(item, body, depth + 1)] for key, item in value.items()]
        return {"t": "dict", "items": pairs}
    try:
        array = np.asarray(value)  # a range, say
    except BaseException:  # the submission's own __array__
        return _encode_foreign(value)
    return _encode_array(array, body) if array.dtype.kind in "biufU" else _encode_foreign(value)


def _encode_array(array: np.ndarray, body: bytearray) -> dict[str, Any]:
    if array.dtype.kind == "U":
        return {"t": "texts", "shape": list(array.shape), "items": [str(text) for text in array.ravel().tolist()]}
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in DTYPES:
        return _encode_foreign(array)
    data = array.astype(dtype, copy=False).tobytes()
    place = {"t": "array", "dtype": dtype, "shape": list(array.shape), "at": len(body)}
    body += data
    return place


def _encode_foreign(value: object) -> dict[str, Any]:
    try:
        text = repr(value)[:SHORT]
    except BaseException:  # the submission's own __repr__
        text = "?"
    return {"t": "foreign", "type": type(value).__name__[:SHORT], "text": text}


def _is_tensor(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach") and hasattr(value, "numpy")


def decode(tree: object, body: bytes, depth: int = 0) -> Any:
    """Build the value that a header describes.

    Raises:
        Malformed: if the description is not one that `encode` makes, or does not fit the body.
    """
    if not isinstance(tree, dict) or depth > DEPTH + 1:
        raise Malformed("a value is not described")
    kind, items = tree.get("t"), tree.get("items")
    if kind == "none":
        return None
    if kind == "dots":
        return Ellipsis
    if kind == "value" and isinstance(tree.get("v"), bool | int):
        return tree["v"]
    if kind == "value" and isinstance(tree.get("v"), str):
        return clean(tree["v"], LONG_TEXT)
    if kind == "float" and isinstance(tree.get("v"), str) and len(tree["v"]) < 40:
        try:
            return float.fromhex(tree["v"])
        except (ValueError, OverflowError) as error:
            raise Malformed("a number is none") from error
    if kind == "array":
        return _decode_array(tree, body)
    if kind == "texts":
        return _decode_texts(tree)
    if kind == "function" and CALL is not None:
        return lambda *args: CALL(tree["n"], args)
    if kind in ("tuple", "list") and isinstance(items, list) and len(items) <= ITEMS:
        values = [decode(item, body, depth + 1) for item in items]
        return tuple(values) if kind == "tuple" else values
    if kind == "dict" and isinstance(items, list) and len(items) <= ITEMS:
        return _decode_dict(items, body, depth)
    if kind == "foreign":
        name = clean(tree.get("type"), 60)
        return type(name if name.isidentifier() else "object", (Foreign,), {})(clean(tree.get("text")))
    raise Malformed("a value has no known type")


def _decode_array(tree: dict[str, Any], body: bytes) -> Any:
    dtype, shape, at = tree.get("dtype"), tree.get("shape"), tree.get("at")
    if dtype not in DTYPES or not _is_shape(shape) or not (type(at) is int and at >= 0):
        raise Malformed("an array is not described")
    size = math.prod(shape)
    if at + size * np.dtype(dtype).itemsize > len(body):
        raise Malformed("an array is longer than its frame")
    if dtype == "|b1" and body[at : at + size].strip(b"\0\1"):
        raise Malformed("a boolean is neither true nor false")
    array = np.frombuffer(body, dtype, size, at).reshape(shape).copy()
    if TENSORS and tree.get("torch") is True:
        import torch

        return torch.from_numpy(array)
    return array[()] if tree.get("scalar") is True and array.ndim == 0 else array


def _decode_texts(tree: dict[str, Any]) -> np.ndarray:
    shape, items = tree.get("shape"), tree.get("items")
    if not _is_shape(shape) or not isinstance(items, list) or len(items) != math.prod(shape) or len(items) > ITEMS:
        raise Malformed("an array of texts is not described")
    texts = [clean(item) for item in items]
    return np.array(texts, dtype=f"<U{max([1, *map(len, texts)])}").reshape(shape)


def _decode_dict(items: list[Any], body: bytes, depth: int) -> dict[Any, Any]:
    pairs = {}
    for pair in items:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Malformed("a dictionary is not described")
        key, value = (decode(part, body, depth + 1) for part in pair)
        try:
            pairs[key] = value
        except TypeError as error:
            raise Malformed("a key is none") from error
    return pairs


def _is_shape(shape: object) -> bool:
    """At most eight axes, each of a length that the largest body could hold."""
    fits = isinstance(shape, list) and len(shape) <= 8 and all(type(n) is int and 0 <= n < 2**31 for n in shape)
    return fits and math.prod(n for n in shape if n) < 2**31
