#!/usr/bin/env python3
"""make_types.py [--check]: writes the data types of both SDKs from
net/api/openapi.json, so that no member is forgotten or misspelled. With --check
it only says whether they are up to date."""
import json
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True

# One module per topic, with the schemas that it has.
MODULES = {
    "runs": ["EngineError", "RunUsage", "RunResult", "RunRecord", "RunSummary",
             "RunEvent", "RunLogs", "Explanation", "BatchLine"],
    "requests": [],
    "tools": ["Tool", "DerivedSchema"],
    "configs": ["SandboxConfig", "Variable", "AgentVariable"],
    "packages": ["PackageSet", "PackageSetEvent"],
    "engine": ["BackendNode", "Backend", "Key", "NewKey", "AuditEntry",
               "Organization", "OrganizationSummary", "Backup",
               "MasterKeyChange", "Drained"],
    "sandboxes": ["Sandbox", "SandboxEvent", "Snapshot", "SandboxPort",
                  "SandboxPortOpened", "SandboxEntry"],
    "processes": ["Process", "ExecResult", "ProcessOutput", "ProcessEvent"],
    "contexts": ["Context", "CellOutput", "CellError", "CellResult",
                 "CellEvent", "ContextInterruption"],
}
# What is sent. Python takes these members as keyword arguments.
INPUTS = {
    "requests": ["Limits", "RunRequest"],
    "tools": ["ToolInput", "ToolChange"],
    "sandboxes": ["SandboxInput", "SandboxChange", "SandboxForkInput"],
    "processes": ["ProcessInput"],
    "contexts": ["ContextInput"],
}
# The handles of the SDKs have the short names.
RENAMED = {"EngineError": "Failure", "Tool": "StoredTool",
           "Sandbox": "SandboxInfo", "Process": "ProcessInfo",
           "Context": "ContextInfo"}
# Objects that have no name in the document.
INLINE = {
    ("Failure", "errors"): "Mistake",
    ("RunResult", "error"): "ToolError",
    ("RunResult", "files"): "RunFile",
    ("RunResult", "stages"): "Stage",
    ("RunResult", "failover"): "Failover",
    ("RunResult", "isolation"): "Isolation",
    ("Isolation", "layers"): "IsolationLayer",
    ("RunResult", "network"): "Connection",
    ("Explanation", "variables"): "ExplainedVariable",
    ("SandboxInfo", "resources"): "Resources",
}
# What people wrote about these in the SDKs themselves: properties beside the
# members, in troupe/_added.py.
ADDED = {"RunFile": "RunFileAdded", "RunResult": "RunResultAdded",
         "ExecResult": "ExecResultAdded", "CellResult": "CellResultAdded",
         "CellOutput": "CellOutputAdded"}
# These are shown once: a repr leaves them out.
SECRETS = {"NewKey": ["key"], "SandboxPortOpened": ["url", "path_url", "token"]}
NOTE = "Written by sdk/make_types.py from net/api/openapi.json: do not edit."


class Type:
    def __init__(self, python, typescript, nested=None, many=False,
                 nullable=False):
        self.python, self.typescript = python, typescript
        self.nested, self.many, self.nullable = nested, many, nullable


class Member:
    def __init__(self, name, type, required, text):
        self.name, self.type = name, type
        self.required, self.text = required, text


class Record:
    def __init__(self, name, text, members):
        self.name, self.text, self.members = name, text, members


class Document:
    """The schemas as records, with the objects inside of them beside them."""

    def __init__(self, document):
        self.schemas = document["components"]["schemas"]
        self.found = []

    def record(self, name):
        schema = self.schemas[name]
        name = RENAMED.get(name, name)
        self.found = []
        one = self.make(name, schema)
        return self.found + [one]

    def make(self, name, schema):
        required = schema.get("required", [])
        members = [Member(k, self.type_of(name, k, v), k in required,
                          v.get("description", ""))
                   for k, v in schema["properties"].items()]
        return Record(name, schema.get("description", ""), members)

    def type_of(self, owner, member, schema):
        if "$ref" in schema:
            name = schema["$ref"].split("/")[-1]
            if name in ("BackendName", "Limits"):
                return (Type("str", "string") if name == "BackendName"
                        else Type("Dict[str, Any]", "Limits"))
            known = [n for names in MODULES.values() for n in names]
            if name not in known:  # it is not worth a type of its own
                return self.type_of(owner, member, self.schemas[name])
            name = RENAMED.get(name, name)
            # A reference cannot say by itself that it may be null.
            return Type(name, name, nested=name,
                        nullable="null:" in schema.get("description", ""))
        if "oneOf" in schema:
            return self.union(owner, member, schema["oneOf"])
        if "enum" in schema:
            words = [json.dumps(w) for w in schema["enum"] if w is not None]
            return Type("Literal[%s]" % ", ".join(words), " | ".join(words),
                        nullable=None in schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self.union(owner, member, [{**schema, "type": k} for k in kind])
        if kind == "array":
            return self.array(owner, member, schema["items"])
        if "properties" in schema:
            name = INLINE.get((owner, member))
            if name is None:
                return Type("Dict[str, Any]", self.literal(owner, member, schema))
            self.found.append(self.make(name, schema))
            return Type(name, name, nested=name)
        if kind == "object":
            more = schema.get("additionalProperties")
            if isinstance(more, dict) and more:
                value = self.type_of(owner, member, more)
                end = (" | None", " | null") if value.nullable else ("", "")
                return Type("Dict[str, %s%s]" % (value.python, end[0]),
                            "Record<string, %s%s>" % (value.typescript, end[1]))
            return Type("Dict[str, Any]", "Record<string, unknown>")
        plain = {"string": ("str", "string"), "integer": ("int", "number"),
                 "number": ("float", "number"), "boolean": ("bool", "boolean"),
                 None: ("Any", "unknown"), "null": (None, None)}
        return Type(*plain[kind], nullable=kind == "null")

    def literal(self, owner, member, schema):
        required = schema.get("required", [])
        return "{ %s }" % "; ".join(
            "%s%s: %s" % (k, "" if k in required else "?",
                          self.type_of(owner, member, v).typescript)
            for k, v in schema["properties"].items())

    def array(self, owner, member, items):
        one = self.type_of(owner, member, items)
        wrap = one.typescript if re.fullmatch(r"\w+", one.typescript) \
            else "(%s)" % one.typescript
        return Type("List[%s]" % one.python, wrap + "[]", nested=one.nested,
                    many=True)

    def union(self, owner, member, parts):
        types = [self.type_of(owner, member, p) for p in parts]
        real = [t for t in types if t.python is not None]
        names = dict.fromkeys(t.python for t in real)
        other = dict.fromkeys(t.typescript for t in real)
        python = next(iter(names)) if len(names) == 1 \
            else "Union[%s]" % ", ".join(names)
        nested = real[0].nested if len(real) == 1 else None
        return Type(python, " | ".join(other), nested=nested,
                    nullable=len(real) < len(types))


def paragraph(text, width, first, rest):
    return "\n".join(textwrap.wrap(" ".join(text.split()), width,
                                   initial_indent=first, subsequent_indent=rest,
                                   break_long_words=False,
                                   break_on_hyphens=False))


# -- Python --------------------------------------------------------------------

def python_record(record):
    base = ADDED.get(record.name)
    lines = ["@record(frozen=True)",
             "class %s(%s):" % (record.name, base + ", Wire" if base else "Wire")]
    if record.text:
        lines.append(paragraph(record.text, 75, '    """', "    ") + '"""\n')
    for m in record.members:
        hint = m.type.python
        # What is missing is false, or empty, or None.
        empty = m.type.many or hint in ("bool", "Any")
        if hint != "Any" and (m.type.nullable or not (m.required or empty)):
            hint = "Optional[%s]" % hint
        name = m.name + "_" if m.name == "from" else m.name
        lines.append("    %s: %s" % (name, hint))
        if m.text:
            lines.append(paragraph(m.text, 75, '    """', "    ") + '"""')
    nested = ['"%s": %s' % (m.name, m.type.nested) for m in record.members
              if m.type.nested]
    if nested:
        lines.append("\n    _nested = {%s}" % ", ".join(nested))
    if record.name in SECRETS:
        lines.append("\n    _secret = (%s,)" % ", ".join(
            '"%s"' % name for name in SECRETS[record.name]))
    return "\n".join(lines)


def python_input(record):
    lines = ["class %s(TypedDict, total=False):" % record.name]
    if record.text:
        lines.append(paragraph(record.text, 75, '    """', "    ") + '"""\n')
    for m in record.members:
        hint = m.type.python
        if m.type.nullable:
            hint = "Optional[%s]" % hint
        if m.required:
            hint = "Required[%s]" % hint
        lines.append("    %s: %s" % (m.name, hint))
        if m.text:
            lines.append(paragraph(m.text, 75, '    """', "    ") + '"""')
    return "\n".join(lines)


def python_module(module, records, inputs, homes):
    body = "\n\n\n".join([python_record(r) for r in records]
                         + [python_input(r) for r in inputs])
    typing = [n for n in ("Any", "Dict", "List", "Literal", "Optional",
                          "TypedDict", "Union")
              if re.search(r"\b%s\b" % n, re.sub(r'"""[\s\S]*?"""', "", body))]
    if "Required[" in body:
        typing.insert(0, "TYPE_CHECKING")
    out = ['"""%s"""' % NOTE, "from __future__ import annotations", ""]
    if typing:
        out.append("from typing import " + ", ".join(typing))
    out.append("")
    added = [ADDED[r.name] for r in records if r.name in ADDED]
    if added:
        out.append("from .._added import " + ", ".join(sorted(added)))
    if records:
        out.append("from .._wire import Wire, record")
    own = {r.name for r in records + inputs}
    elsewhere = {}
    for name, home in homes.items():
        code = re.sub(r'"""[\s\S]*?"""', "", body)
        if name not in own and re.search(r"\b%s\b" % name, code):
            elsewhere.setdefault(home, []).append(name)
    for home in sorted(elsewhere):
        out.append("from .%s import %s" % (home, ", ".join(sorted(elsewhere[home]))))
    if "Required[" in body:
        out += ["", "if TYPE_CHECKING:", "    from typing_extensions import Required"]
    return "\n".join(out).rstrip() + "\n\n\n" + body + "\n"


def python_index(contents):
    out = ['"""What the engine answers, and what it takes.', "", NOTE + '"""']
    for module, names in contents.items():
        out.append(paragraph(", ".join(names) + ")", 79,
                             "from .%s import (" % module, " " * 4))
    names = sorted(n for names in contents.values() for n in names)
    out.append("\n" + paragraph(", ".join('"%s"' % n for n in names) + "]", 79,
                                "__all__ = [", " " * 11))
    return "\n".join(out) + "\n"


# -- TypeScript ----------------------------------------------------------------

def typescript_record(record):
    lines = []
    if record.text:
        lines.append(comment(record.text, ""))
    generic = "<T = unknown>" if record.name == "RunResult" else ""
    lines.append("export interface %s%s {" % (record.name, generic))
    for m in record.members:
        if m.text:
            lines.append(comment(m.text, "  "))
        hint = m.type.typescript + (" | null" if m.type.nullable else "")
        if generic and m.name == "value":
            hint = "T"
        lines.append("  %s%s: %s;" % (m.name, "" if m.required else "?", hint))
    return "\n".join(lines + ["}"])


def comment(text, indent):
    one = "%s/** %s */" % (indent, text)
    if len(one) <= 80 and "\n" not in text:
        return one
    return (indent + "/**\n" + paragraph(text, 80, indent + " * ", indent + " * ")
            + "\n" + indent + " */")


def typescript_module(records, inputs, homes):
    body = "\n\n".join(typescript_record(r) for r in records + inputs)
    own = {r.name for r in records + inputs}
    code = re.sub(r"/\*\*[\s\S]*?\*/", "", body)
    elsewhere = {}
    for name, home in homes.items():
        if name not in own and re.search(r"\b%s\b" % name, code):
            elsewhere.setdefault(home, []).append(name)
    imports = ['import type { %s } from "./%s.ts";' % (", ".join(sorted(names)), home)
               for home, names in sorted(elsewhere.items())]
    head = ["// " + NOTE] + imports
    return "\n".join(head) + "\n\n" + body + "\n"


# -- all of it -----------------------------------------------------------------

def make():
    with open(os.path.join(HERE, "../net/api/openapi.json"),
              encoding="utf-8") as file:
        document = Document(json.load(file))
    records = {m: [r for n in names for r in document.record(n)]
               for m, names in MODULES.items()}
    inputs = {m: [r for n in INPUTS.get(m, []) for r in document.record(n)]
              for m in MODULES}
    homes = {r.name: m for m in MODULES for r in records[m] + inputs[m]}
    files, contents = {}, {}
    for m in MODULES:
        # Python has its own options for runs, with the shorter words.
        sent = [r for r in inputs[m] if r.name in ("Limits", "ToolInput", "ToolChange")]
        files["python/troupe/types/%s.py" % m] = python_module(
            m, records[m], sent, homes)
        contents[m] = [r.name for r in records[m] + sent]
        files["typescript/src/types/%s.ts" % m] = typescript_module(
            records[m], inputs[m], homes)
    files["python/troupe/types/__init__.py"] = python_index(contents)
    files["typescript/src/types/index.ts"] = "// %s\n%s\n" % (NOTE, "\n".join(
        'export type * from "./%s.ts";' % m for m in MODULES))
    return files


def main():
    stale = []
    for name, text in make().items():
        path = os.path.join(HERE, name)
        try:
            with open(path, encoding="utf-8") as file:
                same = file.read() == text
        except FileNotFoundError:
            same = False
        if not same:
            stale.append(name)
            if "--check" not in sys.argv:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if stale and "--check" in sys.argv:
        print("sdk/make_types.py was not run since openapi.json has changed:",
              ", ".join(stale))
        sys.exit(1)


if __name__ == "__main__":
    main()
