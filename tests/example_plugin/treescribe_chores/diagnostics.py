"""Reading messages such as ``warning in cart.txt at line 3: no such item [unknown]``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from treescribe import Event, plain_text
from treescribe.events import Diagnostic

MESSAGE = re.compile(
    r"^(?P<severity>error|warning) in (?P<path>\S+) at line (?P<line>\d+): "
    r"(?P<message>.*?)(?: \[(?P<code>[\w-]+)\])?$",
    re.MULTILINE,
)


class MessageReader:
    """Tells each message of one command as a `Diagnostic`.

    :param directory: what the paths in messages are relative to.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def read(self, stream: str, text: str) -> Iterable[Event]:
        """Take whole lines; where nothing looks like a message, they cost little."""
        if " at line " not in text:
            return
        for found in MESSAGE.finditer(plain_text(text)):
            yield Diagnostic(
                severity=found["severity"],
                message=found["message"],
                code=found["code"] or "",
                path=os.path.join(self._directory, found["path"]),
                line=int(found["line"]),
            )

    def end(self) -> Iterable[Event]:
        """No message goes over more than one line, so nothing is left to tell."""
        return ()
