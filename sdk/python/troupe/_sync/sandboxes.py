# Made of ../_async/sandboxes.py by make/sync.py: do not edit.
"""Sandboxes that live between calls: /v1/sandboxes."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from .._options import Network, Seconds, given, network_body
from ..types import SandboxInfo
from .http import Http, segment
from .pages import Pages
from .sandbox import Sandbox


class Sandboxes:
    """`troupe.sandboxes`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, template: Optional[str] = None, *,
                     name: Optional[str] = None, place: Optional[str] = None,
                     snapshot: Optional[str] = None,
                     session: Optional[str] = None,
                     timeout: Optional[Seconds] = None,
                     on_timeout: Optional[str] = None,
                     idle_timeout: Optional[Seconds] = None,
                     on_idle: Optional[str] = None,
                     auto_resume: Optional[bool] = None,
                     env: Optional[Mapping[str, str]] = None,
                     metadata: Optional[Mapping[str, str]] = None,
                     network: Optional[Network] = None,
                     isolation: Optional[str] = None,
                     resources: Optional[Mapping[str, Any]] = None,
                     wait: Optional[str] = None,
                     key: Optional[str] = None) -> Sandbox:
        """A sandbox. As a context manager it is deleted at the end; its
        timeout is a net for what is forgotten. With `session`: the one of that
        session, made if need be."""
        body = given(
            template=template, name=name, place=place, snapshot=snapshot,
            session=session, timeout=timeout, on_timeout=on_timeout,
            idle_timeout=idle_timeout, on_idle=on_idle, auto_resume=auto_resume,
            env=env, metadata=metadata, isolation=isolation,
            resources=resources, wait=wait)
        if network is not None:
            body["network"] = network_body(network)
        data = self._http.json("POST", "/v1/sandboxes", body=body, key=key,
                                     within=None)
        return Sandbox(self._http, SandboxInfo.read(data))

    def get(self, id: str) -> Sandbox:
        """By its id, as it is."""
        data = self._http.json("GET", "/v1/sandboxes/" + segment(id))
        return Sandbox(self._http, SandboxInfo.read(data))

    def connect(self, id: str, *,
                      timeout: Optional[Seconds] = None) -> Sandbox:
        """By its id, and running: it is resumed if it is paused."""
        sandbox = self.get(id)
        sandbox.connect(timeout)
        return sandbox

    def list(self, *, limit: Optional[int] = None,
             state: Optional[Sequence[str]] = None, name: Optional[str] = None,
             template: Optional[str] = None, session: Optional[str] = None,
             place: Optional[str] = None,
             metadata: Mapping[str, str] = {}) -> Pages[SandboxInfo]:
        """Those that are not over, unless `state` says which."""
        return Pages(self._http, "/v1/sandboxes", SandboxInfo, {
            "limit": limit, "state": state, "name": name, "template": template,
            "session": session, "place": place,
            "metadata": [f"{name}:{value}" for name, value in metadata.items()]})
