#!/usr/bin/env python3
"""packages.py TO [COMPILED]: wheel and sdist of the client for Python and, if a
folder with its compiled files is given, the npm archive of the one for
TypeScript. The same sources make the same bytes."""
import hashlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "python"))
import build_backend  # noqa: E402


def npm_archive(to, compiled):
    folder = os.path.join(HERE, "typescript")
    files = {"LICENSE": build_backend.license_text()}
    for name in ("package.json", "README.md"):
        with open(os.path.join(folder, name), "rb") as file:
            files[name] = file.read()
    package = json.loads(files["package.json"])
    del package["scripts"], package["devDependencies"]  # for this tree alone
    files["package.json"] = (json.dumps(package, indent=2) + "\n").encode()
    for at, _, names in os.walk(compiled):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                files["dist/" + os.path.relpath(path, compiled)] = file.read()
    name = "%s-%s.tgz" % (package["name"].strip("@").replace("/", "-"),
                          package["version"])
    build_backend.write_tar(os.path.join(to, name), "package", files)
    return name


def main(to, compiled=None):
    os.makedirs(to, exist_ok=True)
    made = [build_backend.build_wheel(to), build_backend.build_sdist(to)]
    if compiled:
        made.append(npm_archive(to, compiled))
    for name in made:
        with open(os.path.join(to, name), "rb") as file:
            data = file.read()
        print("%s  %d bytes  sha256 %s"
              % (name, len(data), hashlib.sha256(data).hexdigest()))


if __name__ == "__main__":
    main(*sys.argv[1:])
