"""The transcripts that this process read last: a server is asked about the same runs again and again.

A finished transcript never changes. One that was edited by hand all the same has another time or size: it is read anew.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from treescribe.codec import Codec

from treescribe_history.transcript import FINISHED, Transcript, read_transcript

KEPT = 8
LARGEST = 2 * 1024 * 1024
"""Bytes; what takes long to read takes much memory, too."""


class _Key(NamedTuple):
    path: Path
    inode: int
    changed: int
    size: int
    codec: int


_kept: OrderedDict[_Key, Transcript] = OrderedDict()
_lock = threading.Lock()


def read_recently(path: Path, codec: Codec) -> Transcript:
    """`read_transcript`, for the second time without reading."""
    key = _key_of(path, codec)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    transcript = read_transcript(path, codec)
    if transcript.state == FINISHED and key.size <= LARGEST and _key_of(path, codec) == key:
        with _lock:
            _kept[key] = transcript
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
    return transcript


def _key_of(path: Path, codec: Codec) -> _Key:
    status = os.stat(path)
    return _Key(path, status.st_ino, status.st_mtime_ns, status.st_size, id(codec))
