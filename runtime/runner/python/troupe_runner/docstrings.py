"""What a docstring says: Google, reST, NumPy and Epydoc style."""

import inspect
import re

_PARAMETER_SECTIONS = ("args", "arguments", "parameters", "params", "keyword args")
_OTHER_SECTIONS = (
    "attributes example examples except exceptions note notes raises references return"
    " returns todo warning warnings warns yield yields"
).split() + ["see also", "other parameters"]
_GOOGLE_TITLE = re.compile(r"([A-Z][A-Za-z ]*):[ \t]*$")
_GOOGLE_PARAMETER = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?\s*:(.*)$")
_FIELD = re.compile(r"[:@](\w+)\s*([^:]*):(.*)$")
_PARAMETER_FIELDS = ("param", "parameter", "arg", "argument", "key", "keyword")
_EXAMPLES = re.compile(r"Examples?:?\s*$")


class Docstring:
    def __init__(self):
        self.description = ""
        self.parameters = {}
        self.examples = ""


def _joined(first, rest):
    """One description from its first line and the indented ones below it."""
    return (first.strip() + "\n" + inspect.cleandoc("\n".join(rest))).strip()


def _indent(line):
    return len(line) - len(line.lstrip())


def _blocks(lines):
    """Splits lines at those that are indented least: (head, lines below)."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return
    base = min(map(_indent, filled))
    head, below = None, []
    for line in lines:
        if line.strip() and _indent(line) == base:
            if head is not None:
                yield head, below
            head, below = line.strip(), []
        elif head is not None:
            below.append(line)
    yield head, below


def _section_title(lines, i):
    """(name, where its text begins, underlined) of the section at line `i`."""
    found = _GOOGLE_TITLE.match(lines[i])
    if found:
        name = found.group(1).lower()
        if name in _PARAMETER_SECTIONS or name in _OTHER_SECTIONS:
            return name, i + 1, False
    name = lines[i].strip().lower()
    underlined = i + 1 < len(lines) and re.fullmatch(r"-{3,}|={3,}", lines[i + 1].strip())
    if underlined and (name in _PARAMETER_SECTIONS or name in _OTHER_SECTIONS):
        return name, i + 2, True
    return None, i, False


def _sections(lines):
    """(title, lines, underlined); the text before the first title has none."""
    name, taken, numpy, i = None, [], False, 0
    while i < len(lines):
        title, after, underlined = _section_title(lines, i)
        if title is None:
            taken.append(lines[i])
            i += 1
            continue
        yield name, taken, numpy
        name, taken, numpy, i = title, [], underlined, after
    yield name, taken, numpy


def _google_parameters(lines):
    for head, below in _blocks(lines):
        found = _GOOGLE_PARAMETER.match(head)
        if found:
            yield found.group(1), _joined(found.group(2), below)


def _numpy_parameters(lines):
    for head, below in _blocks(lines):
        names, _, _ = head.partition(":")
        text = inspect.cleandoc("\n".join(below)).strip()
        if text:
            for name in names.split(","):
                yield name.strip().lstrip("*"), text


def _parse_fields(lines, made):
    """reST and Epydoc: `:param int x: text`, `@param x: text`."""
    rest, at = [], 0
    while at < len(lines):
        found = _FIELD.match(lines[at].strip())
        if not found:
            rest.append(lines[at])
            at += 1
            continue
        base, below = _indent(lines[at]), []
        at += 1
        while at < len(lines) and (not lines[at].strip() or _indent(lines[at]) > base):
            below.append(lines[at])
            at += 1
        kind, subject, text = found.groups()
        if kind in _PARAMETER_FIELDS and subject.split():
            made.parameters[subject.split()[-1].lstrip("*")] = _joined(text, below)
    return rest


def parse(text):
    made = Docstring()
    if not text:
        return made
    lines = _parse_fields(inspect.cleandoc(text).split("\n"), made)
    for name, taken, numpy in _sections(lines):
        if name is None:
            made.description = _description("\n".join(taken).strip())
        elif name in _PARAMETER_SECTIONS:
            parser = _numpy_parameters if numpy else _google_parameters
            made.parameters.update(parser(taken))
        elif name in ("example", "examples"):
            made.examples = inspect.cleandoc("\n".join(taken)).strip()
    return made


def _description(text):
    """The first line, a blank one, the rest."""
    first, _, rest = text.partition("\n")
    return first.strip() + ("\n\n" + rest.strip() if rest.strip() else "")
