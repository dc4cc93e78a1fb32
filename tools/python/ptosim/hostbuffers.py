"""Buffers of the host: raw or .npy files, with min, extent and stride per dimension (dimension 0 innermost)."""

import numpy as np

from .errors import UsageError
from .types import BY_NAME

FILL = 0xCD     # outputs start with a pattern, so that bytes a kernel forgets to write are seen


class HostBuffer:
    def __init__(self, name, dtype, data, minimum, extent, stride):
        self.name = name
        self.dtype = dtype
        self.data = data            # uint8, from the first to the last element
        self.min = minimum
        self.extent = extent
        self.stride = stride


def dense_strides(extent):
    strides = []
    step = 1
    for size in extent:
        strides.append(step)
        step *= size
    return strides


def span(extent, stride):
    """Elements from the first to the last one, gaps included."""
    if any(size == 0 for size in extent):
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(extent, stride))


def numbers(value, name, field):
    if not isinstance(value, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in value):
        raise UsageError(f"buffer {name}: {field} must be a list of integers")
    return value


def read_file(path, name):
    """Bytes of a file and, for .npy, the extents that its shape says."""
    try:
        if path.endswith(".npy"):
            array = np.ascontiguousarray(np.load(path))
            return array.reshape(-1).view(np.uint8).copy(), list(reversed(array.shape)), array.dtype
        return np.fromfile(path, np.uint8), None, None
    except (OSError, ValueError) as error:
        raise UsageError(f"buffer {name}: cannot read {path}: {error}") from None


def make_buffer(name, dtype, description, default_bytes=None):
    """From the entry of a job: {"file": …, "out": …, "extent": […], "min": […], "stride": […], "bytes": n}."""
    width = dtype.bytes
    data, extent = None, None
    if "file" in description:
        data, extent, kind = read_file(description["file"], name)
        if kind is not None and kind.itemsize != width:
            raise UsageError(f"buffer {name}: {description['file']} holds {kind}, the kernel expects {dtype}")
    if "extent" in description:
        given = numbers(description["extent"], name, "extent")
        if extent is not None and int(np.prod(given, initial=1)) != int(np.prod(extent, initial=1)):
            raise UsageError(f"buffer {name}: extent {given} does not fit the file's {extent}")
        extent = given
    if any(size < 0 for size in extent or ()):
        raise UsageError(f"buffer {name}: negative extent in {extent}")
    size = description.get("bytes", default_bytes)
    if extent is None:
        if data is not None:
            size = len(data)
        if size is None:
            raise UsageError(f"buffer {name}: its extent or bytes is missing")
        extent = [size // width]
        needed = size
    else:
        needed = None
    stride = numbers(description["stride"], name, "stride") if "stride" in description else dense_strides(extent)
    minimum = numbers(description["min"], name, "min") if "min" in description else [0] * len(extent)
    if len(stride) != len(extent) or len(minimum) != len(extent):
        raise UsageError(f"buffer {name}: extent, stride and min differ in length")
    if any(step < 0 for step in stride):
        raise UsageError(f"buffer {name}: negative strides are not supported")
    if needed is None:
        needed = span(extent, stride) * width
    if data is None:
        data = np.full(needed, FILL, np.uint8)
    elif len(data) < needed:
        raise UsageError(f"buffer {name}: the file has {len(data)} bytes, extent {extent} and stride {stride} need "
                         f"{needed}")
    return HostBuffer(name, dtype, data, minimum, extent, stride)


def write_buffer(buffer, path):
    if not path.endswith(".npy"):
        buffer.data.tofile(path)
        return
    dtype = np.dtype(buffer.dtype.numpy)
    if buffer.stride == dense_strides(buffer.extent):
        array = buffer.data[:span(buffer.extent, buffer.stride) * dtype.itemsize].view(dtype)
        np.save(path, array.reshape(tuple(reversed(buffer.extent))))
        return
    whole = buffer.data.view(dtype)
    shape = tuple(reversed(buffer.extent))
    strides = tuple(step * dtype.itemsize for step in reversed(buffer.stride))
    np.save(path, np.ascontiguousarray(np.lib.stride_tricks.as_strided(whole, shape, strides)))


def dtype_named(name, what):
    dtype = BY_NAME.get(name)
    if dtype is None:
        raise UsageError(f"{what}: unknown element type {name!r}")
    return dtype
