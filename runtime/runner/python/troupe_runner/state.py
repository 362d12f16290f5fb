"""agent_state as a tool sees it: JSON whose members are attributes as well.

It is a copy. What the tool leaves behind goes back as JSON, and the engine
works out the difference and decides what of it may hold.
"""

import json


def _wrap(value):
    if isinstance(value, dict) and not isinstance(value, State):
        return State((k, _wrap(v)) for k, v in value.items())
    if isinstance(value, list):
        return [_wrap(v) for v in value]
    return value


class State(dict):
    """A JSON object: `state.memory` is `state["memory"]`. Where a member has
    the name of a method (`items`, `copy`, ...), only the latter form works."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            known = ", ".join(map(str, self)) or "nothing"
            raise AttributeError(f"no member {name!r} here; there is {known}") from None

    def __setitem__(self, name, value):
        dict.__setitem__(self, name, _wrap(value))

    __setattr__ = __setitem__

    def __delattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        del self[name]

    def model_dump(self, **_):
        return json.loads(json.dumps(self))

    def model_copy(self, **_):
        return parse(json.dumps(self))

    # -- what tools know from a memory object: only where there are blocks -----

    def _blocks(self):
        if not isinstance(self.get("blocks"), list):
            raise AttributeError("there are no memory blocks here")
        return self["blocks"]

    def list_block_labels(self):
        return [block["label"] for block in self._blocks()]

    def get_blocks(self):
        return self._blocks()

    def get_block(self, label):
        for block in self._blocks():
            if block.get("label") == label:
                return block
        known = ", ".join(map(str, self.list_block_labels()))
        raise KeyError(f"no memory block labelled {label!r}; there is {known}")

    def update_block_value(self, label, value):
        if not isinstance(value, str):
            raise TypeError("the value of a memory block must be a string")
        self.get_block(label)["value"] = value


def parse(text):
    return json.loads(text, object_hook=State)
