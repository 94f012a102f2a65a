"""Safetensors files by Python's standard library alone: an independent reader
and writer to hold Neap's against."""

import json
import struct

SIZES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "BF16": 2, "U8": 1, "BOOL": 1}


def elements(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def read(path):
    """RETURNS: {name: (dtype, shape, bytes)} and the metadata. Fails where the
    file is not as the format asks."""
    content = path.read_bytes()
    length, = struct.unpack_from("<Q", content)
    header = content[8:8 + length]
    data = content[8 + length:]
    assert header.startswith(b"{") and length % 8 == 0, header[:20]
    entries = json.loads(header.decode("utf-8"))
    metadata = entries.pop("__metadata__", {})
    assert all(isinstance(text, str) for text in metadata.values())
    tensors = {}
    at = 0
    for name, entry in sorted(entries.items(),
                              key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        size = SIZES[entry["dtype"]]
        assert begin == at and begin % size == 0, (name, begin, at)
        assert end - begin == elements(entry["shape"]) * size, name
        tensors[name] = entry["dtype"], entry["shape"], data[begin:end]
        at = end
    assert at == len(data), (at, len(data))
    return tensors, metadata


def write(path, tensors, metadata):
    """In the order given, without padding."""
    entries = {"__metadata__": metadata} if metadata else {}
    at = 0
    for name, (dtype, shape, data) in tensors.items():
        entries[name] = {"dtype": dtype, "shape": shape,
                         "data_offsets": [at, at + len(data)]}
        at += len(data)
    header = json.dumps(entries).encode("utf-8")
    path.write_bytes(struct.pack("<Q", len(header)) + header
                     + b"".join(data for _, _, data in tensors.values()))
