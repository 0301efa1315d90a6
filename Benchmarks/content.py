#!/usr/bin/env python3
"""What content costs, and what hostile content comes to: speed, memory, and the status of the answer.

    Benchmarks/content.py [--no-build] [--mebibytes N]

Starts BenchServer on a free loopback port. A multipart upload of several files is compared with a
plain upload of as many bytes, in turns; then come the inputs that a server must survive. Ends with
1 when a check fails.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

import harness
import servers

MIB = 1 << 20
BLOCK = os.urandom(MIB)
rows = []


def check(passed, text, title, **row):
    """Tells how a check came out, and keeps it for the report."""
    print(("ok    " if passed else "FAIL  ") + text, flush=True)
    rows.append({"title": title, "passed": passed, **row})


def memory(server, key):
    """Bytes."""
    return server.memory(key) << 10


def connect(server):
    client = socket.create_connection(("127.0.0.1", int(server.port)), timeout=60)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def head(path, length, *fields):
    length_field = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    lines = [f"POST {path} HTTP/1.1", "Host: bench", length_field, *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer(client):
    """What has come of a response up to the end of its head; less when the connection is cut or silent."""
    received = b""
    try:
        while b"\r\n\r\n" not in received:
            piece = client.recv(1 << 16)
            if not piece:
                break
            received += piece
    except (ConnectionError, TimeoutError):
        pass
    return received.decode("latin-1")


def status(text):
    return text.split(" ")[1] if text.startswith("HTTP/") else "none"


def send(client, pieces):
    """Sends as long as the server takes it."""
    try:
        for piece in pieces:
            client.sendall(piece)
    except (ConnectionError, TimeoutError):
        pass


def post(server, path, pieces, length, *fields):
    with connect(server) as client:
        client.sendall(head(path, length, *fields))
        send(client, pieces)
        return answer(client)


def is_alive(server):
    with connect(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")
        return status(answer(client)) == "200"


def parts(files, mebibytes):
    """The pieces of a form with several files, and their length."""
    pieces = []
    for number in range(files):
        pieces.append(
            f'\r\n--limit\r\nContent-Disposition: form-data; name="f"; filename="{number}.bin"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n".encode())
        pieces += [BLOCK] * (mebibytes // files)
    pieces.append(b"\r\n--limit--\r\n")
    return pieces, sum(map(len, pieces))


def timed(server, path, pieces, length, *fields):
    """Seconds, processor seconds of the server, and how much its memory grew."""
    server.reset_peak()
    before, processor, start = memory(server, "VmRSS"), server.cpu_seconds(), time.monotonic()
    text = post(server, path, pieces, length, *fields)
    seconds = time.monotonic() - start
    if status(text) != "200":
        sys.exit(f"content: {path} was answered with {text!r}")
    return seconds, server.cpu_seconds() - processor, memory(server, "VmHWM") - before


def uploads(server, mebibytes, rounds):
    form, form_length = parts(8, mebibytes)
    plain = [BLOCK] * mebibytes
    kind = "Content-Type: multipart/form-data; boundary=limit"
    timed(server, "/multipart", *parts(8, 64), kind)
    ratios, cpu_ratios, growth = [], [], 0
    for _ in range(rounds):
        slow = timed(server, "/multipart", form, form_length, kind)
        fast = timed(server, "/upload", plain, mebibytes * MIB)
        ratios.append(fast[0] / slow[0])
        cpu_ratios.append(slow[1] / fast[1])
        growth = max(growth, slow[2])
    speed, cpu = statistics.median(ratios), statistics.median(cpu_ratios)
    check(
        speed >= 0.5 and growth < 8 * MIB,
        f"multipart of {mebibytes} MiB in 8 files: {speed:.2f} of the speed of a plain upload, "
        f"{cpu:.2f} times its CPU, memory +{growth / MIB:.1f} MiB",
        "multipart upload in 8 files", growth=growth / MIB, seconds=None,
        ratios={"speed": ratios, "processor time": cpu_ratios})


def hostile(server, name, expected, path, pieces, length, *fields):
    """One input, what it has to be answered with, and that it leaves no traces."""
    server.reset_peak()
    before, processor = memory(server, "VmRSS"), server.cpu_seconds()
    text = post(server, path, pieces, length, *fields)
    growth = memory(server, "VmHWM") - before
    seconds = server.cpu_seconds() - processor
    line = text.split("\r\n")[0] or "no answer"
    check(
        status(text) in expected and growth < 16 * MIB and is_alive(server),
        f"{name}: {line}, memory +{growth / MIB:.1f} MiB, {seconds:.2f} s of CPU", name,
        answer=status(text), growth=growth / MIB, seconds=seconds)


def bomb(mebibytes):
    """Zeros, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(MIB)
    pieces = [packer.compress(zeros) for _ in range(mebibytes)] + [packer.flush()]
    return b"".join(pieces)


def near_boundaries(count):
    """A part full of what is nearly its boundary."""
    nearly = b"\r\n--limi"
    return (
        b'--limit\r\nContent-Disposition: form-data; name="f"\r\n\r\n'
        + nearly * (count // len(nearly)) + b"\r\n--limit--\r\n")


def all_hostile(server):
    form = "Content-Type: multipart/form-data; boundary=limit"
    part = b'--limit\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
    packed = bomb(10 << 10)
    gzip = "Content-Encoding: gzip"
    hostile(server, f"10 GiB out of {len(packed) / MIB:.0f} MiB of gzip, collected", {"413"},
            "/form", [packed], len(packed), gzip, "Content-Type: application/x-www-form-urlencoded")
    hostile(server, "the same, streamed", {"413"}, "/upload", [packed], len(packed), gzip)
    many = part * 100_001 + b"--limit--\r\n"
    hostile(server, "100,001 parts", {"413"}, "/multipart", [many], len(many), form)
    endless = b"--limit\r\nX-Long: " + b"a" * (8 * MIB)
    hostile(server, "a part head without end", {"400", "413", "431"}, "/multipart", [endless],
            len(endless), form)
    pairs = b"&".join(b"a=%d" % number for number in range(11_000))
    hostile(server, "11,000 pairs", {"413"}, "/form", [pairs], len(pairs),
            "Content-Type: application/x-www-form-urlencoded")
    deep = b"[" * 1_000_000
    hostile(server, "1,000,000 opened arrays", {"400"}, "/number", [deep], len(deep),
            "Content-Type: application/json")
    near = near_boundaries(MIB)
    hostile(server, "1 MiB of what is nearly the boundary", {"200"}, "/multipart", [near],
            len(near), form)


def boundaries():
    """GB/s of the search for boundaries, and of memchr for an absent byte, by content."""
    program = harness.built_product("MultipartBench")
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=300)
    # Columns of 16 characters: the name, the whole, pieces of 64 KiB, memchr.
    return {line[:16].strip(): [float(line[32:48]), float(line[48:64])]
            for line in done.stdout.splitlines()[1:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the uploads (5)")
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of the uploads (1024)")
    options = parser.parse_args()
    if not options.no_build:
        harness.build_product("BenchServer")
        harness.build_product("MultipartBench")
    with tempfile.TemporaryDirectory() as root:
        with servers.running(["ours"], root) as running:
            uploads(running["ours"], options.mebibytes, options.rounds)
            all_hostile(running["ours"])
    path = harness.save("content", {
        "kind": "content", "machine": harness.machine(), "rounds": options.rounds, "rows": rows,
        "boundary": boundaries()})
    harness.note(f"written: {path}")
    return 0 if all(row["passed"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
