"""Makes the wheel and the sdist (PEP 517), with the standard library alone, and
twice the same bytes of the same files."""
import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TIME = (2020, 1, 1, 0, 0, 0)  # of every file, so that archives are reproducible
SECONDS = 1577836800


def _version():
    with open(os.path.join(HERE, "troupe/_version.py"), encoding="utf-8") as file:
        return re.search(r'__version__ = "(.*)"', file.read())[1]


def _read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def license_text():
    """That of the tree; in an sdist it lies beside this file."""
    own = os.path.join(HERE, "LICENSE")
    return _read("LICENSE" if os.path.exists(own) else "../../LICENSE")


def _package():
    """The files of the package, by their names in an archive."""
    files = {}
    for at, folders, names in os.walk(os.path.join(HERE, "troupe")):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            path = os.path.relpath(os.path.join(at, name), HERE)
            if name.endswith((".py", ".typed")):
                files[path] = _read(path)
    return files


def _metadata():
    return "\n".join([
        "Metadata-Version: 2.1", "Name: troupe", "Version: " + _version(),
        "Summary: Client of Troupe, an execution engine for the tools of AI agents",
        "License: Apache-2.0", "License-File: LICENSE",
        "Classifier: Typing :: Typed",
        "Requires-Python: >=3.9", "Description-Content-Type: text/markdown",
        "", ""]).encode() + _read("README.md")


def _wheel(directory, package):
    """Writes a wheel that has these files."""
    info = "troupe-%s.dist-info/" % _version()
    files = dict(package)
    files[info + "METADATA"] = _metadata()
    files[info + "LICENSE"] = license_text()
    files[info + "WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: troupe\n"
                             b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        record += "%s,sha256=%s,%d\n" % (name, digest.decode().rstrip("="),
                                         len(data))
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    name = "troupe-%s-py3-none-any.whl" % _version()
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, _package())


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    return _wheel(wheel_directory, {"troupe.pth": (HERE + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    root = "troupe-%s" % _version()
    files = {"PKG-INFO": _metadata(), "LICENSE": license_text(), **_package()}
    for name in ("README.md", "pyproject.toml", "build_backend.py"):
        files[name] = _read(name)
    write_tar(os.path.join(sdist_directory, root + ".tar.gz"), root, files)
    return root + ".tar.gz"


def write_tar(path, root, files):
    """A compressed archive whose bytes depend on these files alone."""
    with open(path, "wb") as out, \
            gzip.GzipFile("", "wb", 9, out, SECONDS) as packed, \
            tarfile.open(fileobj=packed, mode="w",
                         format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo("%s/%s" % (root, name))
            entry.size, entry.mtime, entry.mode = len(files[name]), SECONDS, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
