# Made of ../_async/batch.py by make/sync.py: do not edit.
"""Many runs by few requests: /v1/batches."""
from __future__ import annotations

from itertools import islice
from typing import Any, Iterator, Dict, Iterable, List, Optional

from .._batch_item import BatchItem
from .._options import RunItem, run_body
from ..errors import ConnectError, error_of_stream
from ..types import BatchLine
from .http import Http

MOST_ITEMS = 1000  # of one request


def run_batch(http: Http, runs: Iterable[RunItem],
                    concurrency: Optional[int],
                    ordered: bool) -> Iterator[BatchItem]:
    """Takes the runs as it goes, at most 1,000 ahead."""
    left = iter(runs)
    begin = 0
    while True:
        part = [run_body(run) for run in islice(left, MOST_ITEMS)]
        if not part:
            return
        waiting: Dict[int, BatchItem] = {}
        at = begin
        for item in _one_request(http, part, concurrency, begin):
            if not ordered:
                yield item
                continue
            waiting[item.index] = item
            while at in waiting:
                yield waiting.pop(at)
                at += 1
        begin += len(part)


def _one_request(http: Http, part: List[Dict[str, Any]],
                       concurrency: Optional[int],
                       begin: int) -> Iterator[BatchItem]:
    body: Dict[str, Any] = {"items": part}
    if concurrency is not None:
        body["max_concurrency"] = concurrency
    for data in http.stream("POST", "/v1/batches", body=body):
        line = BatchLine.read(data)
        if line.type == "end":
            return
        if line.index is None:
            continue
        error = None
        if line.error is not None:
            error = error_of_stream({"code": line.error.code,
                                     "detail": line.error.detail,
                                     "run_id": line.run_id})
        yield BatchItem(begin + line.index, line.result, error)
    raise ConnectError("the batch ended before all of its runs had")
