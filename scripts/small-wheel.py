"""Compresses a wheel once more, into the smallest files that any pip reads: `pip install zopfli`.

    python scripts/small-wheel.py target/wheels/mase-*.whl

What is inside stays as it is, byte by byte; a wheel's RECORD has hashes of what is inside alone.
"""

import os
import sys
import zipfile

import zopfli.zlib


class Compressor:
    """Deflate of a whole file, by a search for the smallest."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def compress(self, data: bytes) -> bytes:
        self.parts.append(data)
        return b""

    def flush(self) -> bytes:
        # Without the head and the checksum of a zlib stream.
        return zopfli.zlib.compress(b"".join(self.parts), numiterations=5)[2:-4]


def compress(path: str) -> None:
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".small", "w") as new:
        for entry in old.infolist():
            made = zipfile.ZipInfo(entry.filename, entry.date_time)
            made.external_attr, made.compress_type = entry.external_attr, zipfile.ZIP_DEFLATED
            with new.open(made, "w") as target:
                target._compressor = Compressor()
                target.write(old.read(entry))
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".small") as new:
        names = old.namelist()
        assert names == new.namelist() and all(old.read(name) == new.read(name) for name in names), f"{path}: the contents differ"
    before = os.path.getsize(path)
    os.replace(path + ".small", path)
    print(f"{path}: {before} bytes before, {os.path.getsize(path)} now")


for path in sys.argv[1:]:
    compress(path)
