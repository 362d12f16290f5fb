"""Answers are read whatever the pieces are that they come in."""
import unittest

import support  # noqa: F401
from troupe._http1 import ResponseReader, request_bytes
from troupe.errors import UnexpectedAnswer

WHOLE = {
    "with a length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "in chunks": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                  b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nx-trailer: 1\r\n\r\n"),
    "after 100 Continue": (b"HTTP/1.1 100 Continue\r\n\r\n"
                           b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"),
}


class Reading(unittest.TestCase):
    def test_an_answer_may_come_in_any_pieces(self):
        for name, data in WHOLE.items():
            for size in (1, 2, 7, len(data)):
                with self.subTest(name, size=size):
                    reader = ResponseReader("GET")
                    body = b""
                    for at in range(0, len(data), size):
                        self.assertFalse(reader.done)
                        reader.feed(data[at:at + size])
                        body += reader.take()
                    self.assertEqual((reader.status, body), (200, b"hello"))
                    self.assertTrue(reader.done and reader.reusable)

    def test_without_a_length_it_ends_with_the_connection(self):
        reader = ResponseReader("GET")
        reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhel")
        reader.feed(b"lo")
        self.assertFalse(reader.done)
        reader.feed(b"")
        self.assertEqual(reader.take(), b"hello")
        self.assertTrue(reader.done and not reader.reusable)

    def test_an_answer_without_a_body_is_whole_at_once(self):
        for method, head in (("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
                             ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
                             ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")):
            reader = ResponseReader(method)
            reader.feed(head)
            self.assertTrue(reader.done and reader.reusable)

    def test_an_end_in_the_middle_is_a_lost_connection(self):
        for data in WHOLE.values():
            reader = ResponseReader("GET")
            reader.feed(data[:-3])
            self.assertRaises(ConnectionResetError, reader.feed, b"")

    def test_what_is_not_http_is_refused(self):
        for data in (b"220 ftp ready\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
                     b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n",
                     b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70000):
            reader = ResponseReader("GET")
            self.assertRaises(UnexpectedAnswer, reader.feed, data)

    def test_more_than_was_asked_for_ends_the_use_of_a_connection(self):
        reader = ResponseReader("GET")
        reader.feed(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n")
        self.assertFalse(reader.reusable)


class Writing(unittest.TestCase):
    def test_a_line_break_cannot_smuggle_a_header(self):
        with self.assertRaises(ValueError):
            request_bytes("GET", "/", {"x": "a\r\nb: c"}, None)

    def test_a_post_without_a_body_says_so(self):
        self.assertIn(b"content-length: 0\r\n",
                      request_bytes("POST", "/", {}, None))


if __name__ == "__main__":
    unittest.main()
