"""From any Python value to JSON.

Scalars, lists and dicts stay what they are. What has an obvious JSON form gets
it; docs/tools.md has the table. Everything else becomes its text, and the
answer says so (`fallback`).
"""

import json
import sys
from math import isfinite

MAX_DEPTH = 60  # levels; the engine accepts 64
MAX_ITEMS = 100_000  # of one generator, which might never end

_SIMPLE = frozenset((str, int, bool, type(None)))
_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode


class TooLarge(Exception):
    """Of more bytes than it may have, or, with a text, of what that says."""


def unlimited(make, value):
    """JSON numbers may be of any size. How many digits of one a tool reads and
    writes stays a matter of its own, also after us in the same process."""
    try:
        return make(value)
    except ValueError:
        limit = getattr(sys, "get_int_max_str_digits", int)()
        if not limit:
            raise
    sys.set_int_max_str_digits(0)
    try:
        return make(value)
    finally:
        sys.set_int_max_str_digits(limit)


class Converter:
    """One conversion: what it met on its way, and how much it may still make."""

    def __init__(self, budget, show=str, as_letta=False):
        self.fallback = False
        self.encoding = None  # of the whole value, where it is bytes
        self._as_letta = as_letta
        self.odd_numbers = False  # met one that JSON cannot write
        self._show = show
        self._left = budget
        self._open = set()  # ids of the containers we are inside of

    def plain(self, value, depth=0):
        kind = type(value)
        if kind in _SIMPLE:
            return value
        if kind is float:
            return value if isfinite(value) else self._odd(value)
        if depth >= MAX_DEPTH or id(value) in self._open:
            return self._text(value)
        self._open.add(id(value))
        try:
            if kind is dict:
                return self._members(value.items(), depth + 1)
            if kind is list or kind is tuple:
                return self._items(value, depth + 1)
            return self._special(value, depth)
        finally:
            self._open.discard(id(value))

    def _odd(self, number):
        self.odd_numbers = True
        return _name_of(number)

    def _spend(self, count):
        self._left -= count
        if self._left < 0:
            raise TooLarge

    def _items(self, values, depth):
        self._spend(len(values) + 1)
        if _SIMPLE.issuperset(map(type, values)):
            return values
        return [self.plain(v, depth) for v in values]

    def _members(self, pairs, depth):
        made = {}
        for key, value in pairs:
            self._spend(1)
            name = key if type(key) is str else self._key(key)
            if name in made:
                self.fallback = True  # 1 and "1": the later one stays
            made[name] = self.plain(value, depth)
        return made

    def _key(self, key):
        import enum

        if isinstance(key, enum.Enum):
            key = key.value
        if isinstance(key, str):
            return str.__str__(key)
        if key is None or isinstance(key, bool):
            return {None: "null", True: "true", False: "false"}[key]
        if isinstance(key, float):
            return _name_of(float(key))
        if isinstance(key, int):
            return unlimited(str, int(key))
        converted = _as_text(key)
        return self._text(key) if converted is None else converted

    def _iterated(self, values, depth):
        made = []
        endless = not hasattr(type(values), "__len__")
        for value in values:
            if endless and len(made) >= MAX_ITEMS:
                raise TooLarge(f"an iterator of more than {MAX_ITEMS} items")
            made.append(value)
        return self._items(made, depth)

    def _special(self, value, depth):
        if issubclass(type(value), dict):
            return self._members(dict.items(value), depth + 1)
        try:
            kind, content = _form_of(value)
        except Exception:  # of the object's own code: its text has to do
            kind, content = None, None
        if kind is _AS_IS:
            return content
        if kind is float:
            return self._odd(content)
        if kind is bytes:
            return self._bytes(content, depth)
        if kind is dict:
            return self._members(content.items(), depth + 1)
        if kind is list:
            return self._iterated(content, depth + 1)
        return self._text(value) if kind is None else self.plain(content, depth + 1)

    def _bytes(self, data, depth):
        import base64

        if self._as_letta:
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError:
                self.fallback = True
        self._spend(len(data))
        text = base64.b64encode(data).decode("ascii")
        if self._as_letta:
            return text
        if depth == 0:
            self.encoding = "base64"
            return text
        return {"$bytes": text}

    def _text(self, value):
        self.fallback = True
        try:
            text = self._show(value)
            if type(text) is not str:
                text = str.__str__(text)
        except (Exception, RecursionError):
            text = f"<{type(value).__name__} without a text form>"
        self._spend(len(text))
        return text


_AS_IS, _CONVERTED = object(), object()


def _form_of(value):
    """(what is made of it, from what); (None, None) for its text. Asks classes
    and not their instances, which may have an answer to everything."""
    for convert in (_scalar, _as_text):
        made = convert(value)
        if type(made) is float and not isfinite(made):
            return float, made
        if made is not None:
            return _AS_IS, made
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes, bytes(value)
    members = _members_of(value)
    if members is not None:
        return dict if isinstance(members, dict) else _CONVERTED, members
    if _is_sequence(value):
        return list, value
    if isinstance(value, (set, frozenset)):
        return list, _sorted(value)
    return None, None


def _sorted(values):
    try:
        return sorted(values)
    except Exception:
        return values


def _name_of(number):
    if isfinite(number):
        return float.__repr__(number)
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def _scalar(value):
    """Subclasses of scalars, enumerations, numbers of numpy."""
    import enum

    if isinstance(value, enum.Enum):
        inner = value.value
        if type(inner) in _SIMPLE:
            return inner
        return _scalar(inner) if not isinstance(inner, enum.Enum) else str(inner)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if _home_of(value) == "numpy" and hasattr(value, "item"):
        if getattr(value, "shape", None) == ():
            inner = value.item()
            return inner if type(inner) in _SIMPLE else _scalar(inner)
    return None


def _home_of(value):
    return str(type(value).__module__)


def _as_text(value):
    """Types whose text is their usual JSON form."""
    import datetime
    import decimal
    import pathlib
    import uuid

    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath, complex)):
        return str(value)
    home = _home_of(value)
    if home in ("fractions", "ipaddress", "yarl", "pydantic_core._pydantic_core"):
        return str(value) if not hasattr(type(value), "model_dump") else None
    return None


def _members_of(value):
    """The members of an object that has named ones, or a list in its place."""
    kind = type(value)
    if issubclass(kind, type):
        return None
    if hasattr(kind, "model_dump") or (
        hasattr(kind, "__fields__") and hasattr(kind, "parse_obj")
    ):
        return _of_pydantic(value)
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name, None) for name in kind.__dataclass_fields__}
    if hasattr(kind, "__attrs_attrs__"):
        return {a.name: getattr(value, a.name, None) for a in kind.__attrs_attrs__}
    from collections.abc import Mapping

    if isinstance(value, Mapping):
        return dict(value.items())
    home = _home_of(value)
    if home.startswith("pandas.") and hasattr(value, "columns"):
        return value.to_dict(orient="records")
    if home.startswith(("numpy", "pandas")) and hasattr(value, "tolist"):
        return value.tolist()
    if callable(getattr(kind, "to_dict", None)):
        made = value.to_dict()
        return made if isinstance(made, dict) else None
    return None


def _of_pydantic(value):
    if hasattr(type(value), "model_dump"):
        try:
            return value.model_dump(mode="json")
        except Exception:
            pass  # a member that pydantic cannot turn into JSON: we may
        try:
            return value.model_dump()
        except Exception:
            return None
    try:
        root = value.dict()
        return root["__root__"] if set(root) == {"__root__"} else root
    except Exception:
        return None


def _is_sequence(value):
    from collections import abc

    if isinstance(value, (abc.Iterator, tuple, list, range)):
        return True
    return isinstance(value, (abc.KeysView, abc.ValuesView, abc.ItemsView)) or type(
        value
    ).__name__ in ("deque", "array")


def to_json(value, limit, show=str, as_letta=False):
    """(JSON as bytes, what the answer has to say about it). Raises TooLarge
    beyond `limit` bytes."""
    converter = Converter(limit, show, as_letta)
    plain = converter.plain(value)
    text = unlimited(_encode, plain)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates have no UTF-8
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        data = text.encode("utf-8")
    if len(data) > limit:
        raise TooLarge
    about = {}
    if converter.fallback:
        about["fallback"] = True
    if converter.encoding:
        about["encoding"] = converter.encoding
    if converter.odd_numbers:
        about["odd_numbers"] = True
    return data, about
