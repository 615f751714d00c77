"""Which treescribe this is: its version, and a mark that changes when what is installed changes."""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def version() -> str:
    """The version of treescribe that is installed."""
    try:
        return distribution("treescribe").version
    except PackageNotFoundError:
        return "unknown"


def fingerprint() -> str:
    """A short mark of the files of treescribe that are installed, by their times and sizes.

    It is the same in every process that started from the same files.
    """
    marks = hashlib.sha256()
    for folder in _folders():
        for place, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if name != "__pycache__")
            for name in sorted(files):
                if name.endswith(".py"):
                    path = os.path.join(place, name)
                    status = os.stat(path)
                    marks.update(f"{path} {status.st_mtime_ns} {status.st_size}\n".encode())
    return marks.hexdigest()[:8]


def build(mark: str | None = None) -> str:
    """What errors and the handshake call this server."""
    return f"{version()}+{mark or fingerprint()}"


def _folders() -> list[Path]:
    """Where treescribe's packages stand: side by side where installed, apart in a checkout."""
    import treescribe

    here, host = Path(__file__).resolve().parent, Path(treescribe.__file__).resolve().parent
    siblings = [path for path in here.parent.iterdir() if path.name.startswith("treescribe_") and path.is_dir()]
    return sorted({host, *siblings})
