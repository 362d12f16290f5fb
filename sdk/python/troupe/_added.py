"""What answers say beside the members that the engine sent."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from ._values import decode


class RunFileAdded:
    text: Optional[str]
    base64: Optional[str]

    @property
    def content(self) -> Optional[bytes]:
        """The bytes of the file; None: it is a large one, see runs.file()."""
        from base64 import b64decode
        if self.text is not None:
            return self.text.encode()
        return None if self.base64 is None else b64decode(self.base64)


class RunResultAdded:
    status: str

    @classmethod
    def _before(cls, data: Dict[str, Any]) -> Dict[str, Any]:
        data["value"] = decode(data.get("value"), data.get("value_encoding"))
        return data

    @property
    def ok(self) -> bool:
        """Whether the tool did its work."""
        return self.status == "success"


class ExecResultAdded:
    reason: Optional[str]
    exit_code: Optional[int]

    @property
    def ok(self) -> bool:
        """Whether the program ended by itself, with 0."""
        return self.reason == "exited" and self.exit_code == 0


class CellOutputAdded:
    data: Dict[str, Any]

    @property
    def text(self) -> Optional[str]:
        """As plain text, where it has that form."""
        return self.data.get("text/plain")

    @property
    def html(self) -> Optional[str]:
        """As HTML, where it has that form. It comes from the sandbox: show it
        only where it can do no harm."""
        return self.data.get("text/html")

    @property
    def png(self) -> Optional[bytes]:
        """As a picture, where it has that form."""
        from base64 import b64decode
        found = self.data.get("image/png")
        return None if found is None else b64decode(found)


class CellResultAdded:
    status: str
    results: List[Any]

    @property
    def ok(self) -> bool:
        """Whether the cell ran to its end."""
        return self.status == "ok"

    @property
    def text(self) -> Optional[str]:
        """The value of the cell as text; None: it has none."""
        for output in reversed(self.results):
            if output.type == "result":
                found: Optional[str] = output.text
                return found
        return None
