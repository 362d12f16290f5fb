# Made of ../_async/engine.py by make/sync.py: do not edit.
"""The engine itself: backends, keys, organizations, the audit log, maintenance."""
from __future__ import annotations

from typing import List, Optional, Sequence

from .._options import given
from ..types import (AuditEntry, Backend, Backup, Drained, Key, MasterKeyChange,
                     NewKey, Organization, OrganizationSummary)
from .http import Http, segment
from .pages import Pages


class Backends:
    """`troupe.backends`: where runs are carried out."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> List[Backend]:
        """All of them, with their health."""
        data = self._http.json("GET", "/v1/backends")
        return [Backend.read(item) for item in data["items"]]


class Keys:
    """`troupe.keys`: API keys of the organization."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, name: str, scopes: Sequence[str], *,
                     expires_in_days: Optional[int] = None,
                     organization_id: Optional[str] = None) -> NewKey:
        """`key` of the answer is the key; it is never shown again."""
        return NewKey.read(self._http.json("POST", "/v1/keys", body=given(
            name=name, scopes=list(scopes), expires_in_days=expires_in_days,
            organization_id=organization_id)))

    def list(self, *, limit: Optional[int] = None) -> Pages[Key]:
        return Pages(self._http, "/v1/keys", Key, {"limit": limit})

    def delete(self, id: str) -> None:
        self._http.call("DELETE", "/v1/keys/" + segment(id))


class Organizations:
    """`troupe.organizations`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def self(self) -> Organization:
        """Whose key this is, and what it allows."""
        return Organization.read(
            self._http.json("GET", "/v1/organizations/self"))

    def list(self, *, limit: Optional[int] = None
             ) -> Pages[OrganizationSummary]:
        """All of them for an operator, else one's own."""
        return Pages(self._http, "/v1/organizations", OrganizationSummary,
                          {"limit": limit})

    def delete(self, id: str) -> None:
        """Deletes its tools, configs, variables and keys."""
        self._http.call("DELETE", "/v1/organizations/" + segment(id))


class Audit:
    """`troupe.audit`: what was run and changed."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, *, limit: Optional[int] = None,
             after: Optional[str] = None) -> Pages[AuditEntry]:
        """The oldest first."""
        return Pages(self._http, "/v1/audit", AuditEntry,
                          {"limit": limit, "after": after})

    def last(self, count: int = 50) -> List[AuditEntry]:
        """The newest entries, in order."""
        data = self._http.json("GET", "/v1/audit", query={"last": count})
        return [AuditEntry.read(item) for item in data["items"]]


class Maintenance:
    """`troupe.maintenance`: for operators."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def back_up(self, directory: str) -> Backup:
        """Copies the store into a new directory on the engine's machine."""
        return Backup.read(self._http.json(
            "POST", "/v1/maintenance/backups", body={"directory": directory},
            within=None))

    def rotate_master_key(self) -> MasterKeyChange:
        return MasterKeyChange.read(self._http.json(
            "POST", "/v1/maintenance/master-key", within=None))

    def drain(self, timeout_seconds: Optional[int] = None) -> Drained:
        """Refuses new runs from now on, and waits for the others."""
        return Drained.read(self._http.json(
            "POST", "/v1/maintenance/drain", within=None,
            body=given(timeout_seconds=timeout_seconds)))
