#!/usr/bin/env python3
"""Compares the time of a login that fails for an unknown user with one that fails for a password.

    make build
    Benchmarks/login_time.py [--runs 2000] [--scheme basic|digest] [--httpkit .build/release/httpkit]

Both kinds are sent in turn, in random order, over one connection, so that whatever else the machine
does meets both. The medians, and the overlap of the two distributions, go to standard output: an
attacker who sees one answer tells right in this share of cases, 0.5 being a coin.
"""
import argparse
import base64
import bisect
import hashlib
import random
import re
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Client:
    """One connection, and the answer to one request after the other."""

    def __init__(self, port):
        self.port = port
        self.socket = None

    def ask(self, field):
        lines = f"Authorization: {field}\r\n" if field else ""
        request = f"GET / HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode()
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=20)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.perf_counter_ns()
        self.socket.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.receive()
        taken = time.perf_counter_ns() - start
        head, _, content = answer.partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head)[1])
        while len(content) < length:
            content += self.receive()
        return head.decode("latin-1"), taken

    def receive(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server has closed the connection")
        return piece


def basic(_, user):
    return "Basic " + base64.b64encode(f"{user}:wrong".encode()).decode()


def digest(client, user):
    head, _ = client.ask(None)
    given = dict(re.findall(r'(\w+)="?([^",\r]*)', head[head.index("Digest"):].split("\r\n")[0]))
    one = hashlib.sha256(f"{user}:{given['realm']}:wrong".encode()).hexdigest()
    two = hashlib.sha256(b"GET:/").hexdigest()
    text = f"{one}:{given['nonce']}:00000001:c:auth:{two}"
    return (f'Digest username="{user}", realm="{given["realm"]}", nonce="{given["nonce"]}", '
            f'uri="/", algorithm=SHA-256, qop=auth, nc=00000001, cnonce="c", '
            f'response="{hashlib.sha256(text.encode()).hexdigest()}", opaque="{given["opaque"]}"')


def told_right(unknown, wrong):
    """The share of pairs in which the unknown user took longer, ties halved; away from 0.5."""
    ordered = sorted(wrong)
    wins = sum(
        (bisect.bisect_left(ordered, value) + bisect.bisect_right(ordered, value)) / 2
        for value in unknown)
    share = wins / (len(unknown) * len(wrong))
    return max(share, 1 - share)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--scheme", choices=["basic", "digest"])
    parser.add_argument("--httpkit", default=str(ROOT / ".build/release/httpkit"))
    options = parser.parse_args()
    print("scheme   unknown user  wrong password   ratio  told right  (medians, microseconds)")
    for scheme, make in [("basic", basic), ("digest", digest)]:
        if options.scheme not in (None, scheme):
            continue
        with tempfile.TemporaryDirectory() as folder:
            server = subprocess.Popen(
                [options.httpkit, "serve", folder, "--port", "0", "--auth", scheme,
                 "--user", "annabel:correct"],
                stdout=subprocess.PIPE, text=True)
            try:
                port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
                client = Client(port)
                times = {"annabel": [], "nobody1": []}
                order = list(times) * (options.runs + 20)
                random.shuffle(order)
                for user in order:
                    head, taken = client.ask(make(client, user))
                    assert head.startswith("HTTP/1.1 401 "), head
                    times[user].append(taken / 1000)
                wrong, unknown = (times[user][20:] for user in ("annabel", "nobody1"))
                medians = statistics.median(unknown), statistics.median(wrong)
                print(f"{scheme:<8}{medians[0]:13.1f}{medians[1]:16.1f}"
                      f"{medians[0] / medians[1]:8.3f}{told_right(unknown, wrong):12.3f}")
            finally:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    main()
