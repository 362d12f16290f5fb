"""The table that the clients of both languages keep: sdk/contract.json."""
import asyncio
import json
import os
import unittest
from unittest import mock

from support import HERE, Script
import troupe
from troupe import _retry

PHRASES = {200: "OK", 302: "Found"}


def answer(word):
    """The bytes that a word of the table stands for."""
    kind, extra, status = "application/json", "", 200
    if word == "lost":
        return None
    if word == "ok":
        body = {"ready": True, "items": []}
    elif word == "run":
        body = {"id": "run-1", "status": "success", "reason": "exited", "value": 1}
    elif word == "cut":
        return b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\nconnection: close\r\n\r\n{"
    elif word == "html":
        kind, body = "text/html", "<h1>hello</h1>"
    elif word == "redirect":
        status, extra, body = 302, "location: http://elsewhere/\r\n", ""
    elif word == "late":
        status, extra = 429, "retry-after: 3600\r\n"
    elif word == "in use":
        status = 409
    else:
        status = word
        extra = "retry-after: 0\r\n" if word in (429, 503) else ""
    if status >= 400:
        kind = "application/problem+json"
        code = "idempotency_key_in_use" if word == "in use" else "scripted"
        body = {"type": "/problems/" + code, "status": status, "code": code,
                "title": "", "detail": "as told", "errors": [
                    {"pointer": "/code", "reason": "is wrong", "hint": "mend it"}]}
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    # The script forgets a connection that it has answered enough on.
    return (f"HTTP/1.1 {status} {PHRASES.get(status, 'No')}\r\n{extra}"
            f"content-type: {kind}\r\ncontent-length: {len(data)}\r\n"
            "connection: close\r\n\r\n").encode() + data


class Contract(unittest.TestCase):
    def check(self, case, call):
        script = Script([answer(word) for word in case["answers"]])
        try:
            with mock.patch.object(_retry, "FIRST", 0.001):
                value, error = None, None
                try:
                    value = call(script.url, case)
                except troupe.TroupeError as caught:
                    error = caught
        finally:
            script.close()
        self.assertEqual(type(error).__name__ if error else None,
                         case.get("error"), error)
        if "code" in case:
            self.assertEqual(error.code, case["code"])
        if "pointer" in case:
            self.assertEqual(error.errors[0].pointer, case["pointer"])
        if error is None:
            self.assertEqual(value, 1 if case["call"] == "run" else [])
        self.assertEqual(len(script.requests), case["requests"])
        keys = {line for request in script.requests
                for line in request.splitlines() if line.startswith("idempotency")}
        self.assertEqual(keys, {"idempotency-key: k"} if "key" in case else set())

    def each(self, call):
        with open(os.path.join(HERE, "../../contract.json"),
                  encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        for case in cases:
            with self.subTest(case["name"]):
                self.check(case, call)

    def test_is_kept_by_the_client(self):
        def call(url, case):
            with troupe.Troupe(url) as client:
                if case["call"] == "list":
                    return client.backends.list()
                return client.run("1", **options(case)).value
        self.each(call)

    def test_is_kept_by_the_client_for_asyncio(self):
        async def ask(url, case):
            async with troupe.AsyncTroupe(url) as client:
                if case["call"] == "list":
                    return await client.backends.list()
                return (await client.run("1", **options(case))).value
        self.each(lambda url, case: asyncio.run(ask(url, case)))


def options(case):
    return {"key": case["key"]} if "key" in case else {}


if __name__ == "__main__":
    unittest.main()
