#!/usr/bin/env python3
"""How much connections hold: memory of idle and of stalled ones, and the rate that is left to busy
ones in a flood of handshakes. nginx is measured in the same run where it can do the same."""

import argparse
import base64
import contextlib
import os
import re
import resource
import socket
import ssl
import struct
import subprocess
import tempfile
import time

import harness
import server
import servers

# Opened before the first look at the memory, so that no growth of tables is counted.
WARM = 200
MESSAGE = 60_000
STALLED, STALLED_SECONDS = 100, 60
BUSY, FLOODING, SECONDS = 64, 64, 3


def frame(opcode, payload):
    """A client's frame; a mask of zeros leaves the payload as it is."""
    count = len(payload)
    length = bytes([0x80 | count]) if count < 126 else b"\xfe" + struct.pack(">H", count)
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


def plain(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE


def secure(port):
    return CONTEXT.wrap_socket(plain(port), server_hostname="localhost")


def request(connection):
    """One request and its answer, after which the connection is idle."""
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = connection.recv(65536)
    if not answer.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"no answer of status 200: {answer[:40]}")
    return connection


def piece_of(connection):
    """The next bytes; a connection that ends is an error, and no reason to ask again."""
    piece = connection.recv(4096)
    if not piece:
        raise RuntimeError("the server has closed a connection")
    return piece


def web_socket(port):
    connection = plain(port)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET /websocket/echo HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        .encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += piece_of(connection)
    if not answer.startswith(b"HTTP/1.1 101"):
        raise RuntimeError(f"no WebSocket: {answer[:40]}")
    return connection


def echoed(connection):
    """One message there and back, after which the WebSocket is idle."""
    connection.sendall(frame(1, b"x" * 32))
    answer = b""
    while len(answer) < 34:
        answer += piece_of(connection)
    return connection


def settled(read):
    """A figure of memory once it has come to rest."""
    last = read()
    for _ in range(50):
        time.sleep(0.1)
        new = read()
        if new == last:
            return new
        last = new
    return last


def idle_bytes(read, open_one, count):
    """Bytes that each of `count` idle connections takes."""
    with contextlib.ExitStack() as stack:
        for _ in range(WARM):
            stack.enter_context(contextlib.closing(open_one()))
        before = settled(read)
        for _ in range(count):
            stack.enter_context(contextlib.closing(open_one()))
        return (settled(read) - before) / count


def stalled_bytes(read, port):
    """Growth while clients send whole messages to an echo and never read."""
    before = settled(read)
    message = frame(2, bytes(MESSAGE))
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(web_socket(port)))
                   for _ in range(STALLED)]
        positions = [0] * STALLED
        for client in clients:
            client.setblocking(False)
        sent, peak, quiet = 0, before, 0
        # A server without a bound would take it all until there is no memory.
        end = time.monotonic() + STALLED_SECONDS
        while quiet < 20 and time.monotonic() < end:
            moved = 0
            for index, client in enumerate(clients):
                with contextlib.suppress(BlockingIOError):
                    count = client.send(message[positions[index]:])
                    positions[index] = (positions[index] + count) % len(message)
                    moved += count
            peak = max(peak, read())
            sent += moved
            quiet = 0 if moved else quiet + 1
            time.sleep(0.02)
        return peak - before, sent


def busy_rate(running):
    requests, seconds, errors, _, _ = server.wrk(
        running, "/", BUSY, {"tls": True}, SECONDS, 1)
    if errors:
        raise RuntimeError(f"{errors} errors of busy connections")
    return requests / seconds


def under_flood(running):
    """The part of the rate that a flood leaves, and handshakes in a second."""
    alone = busy_rate(running)
    with subprocess.Popen([harness.TOOLS / "flood", running.port, str(FLOODING),
                           str(SECONDS + 1)], stdout=subprocess.PIPE, text=True) as flood:
        time.sleep(0.5)
        rate = busy_rate(running)
        return rate / alone, float(flood.communicate()[0])


@contextlib.contextmanager
def bin_server():
    """`httpkit bin`, which has the echo of WebSockets; its port and a reader of its memory."""
    command = [harness.built_product("httpkit", harness.HERE.parent), "bin", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=servers.die_with_parent) as process:
        def read():
            with open(f"/proc/{process.pid}/status") as status:
                return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1]) * 1024

        try:
            yield int(re.search(r":(\d+)", process.stdout.readline())[1]), read
        finally:
            process.terminate()


def add(found, row, name, value):
    found.setdefault(row, {}).setdefault(name, []).append(value)


def idle_count():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return min(3000, (limit - 2 * WARM) // 2)


def measure_idle(found):
    """Idle connections, of servers that have just started."""
    with tempfile.TemporaryDirectory() as root:
        server.make_root(root)
        for is_secure, opener in [(False, plain), (True, secure)]:
            with servers.running(["nginx", "ours"], root, secure=is_secure) as running:
                for name, one in running.items():
                    def read(one=one):
                        return one.memory("RssAnon") * 1024

                    def open_one(one=one, opener=opener):
                        return request(opener(int(one.port)))

                    kind = "an idle connection over TLS" if is_secure else "an idle connection"
                    add(found, f"{kind}, bytes", name,
                        round(idle_bytes(read, open_one, idle_count())))


def measure_flood(rounds, found):
    with tempfile.TemporaryDirectory() as root:
        server.make_root(root)
        with servers.running(["nginx", "ours"], root, secure=True) as running:
            for _ in range(rounds):
                for name, one in running.items():
                    part, rate = under_flood(one)
                    add(found, "part of the rate of 64 busy connections that a flood of handshakes "
                        "leaves", name, round(part, 2))
                    add(found, "handshakes that the flood gets in a second", name, round(rate))


def measure_web_sockets(found):
    with bin_server() as (port, read):
        add(found, "an idle WebSocket, bytes", "ours",
            round(idle_bytes(read, lambda: echoed(web_socket(port)), idle_count())))
    with bin_server() as (port, read):
        grown, sent = stalled_bytes(read, port)
        add(found, f"{STALLED} stalled WebSockets whose clients read nothing, MiB", "ours",
            round(grown / 2**20, 1))
        add(found, "MiB that those clients have sent", "ours", round(sent / 2**20, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of everything (5)")
    parser.add_argument("--no-build", action="store_true",
                        help="take the programs as they were built before")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    harness.compile_c(server.LOAD / "flood.c", "flood", "-lssl", "-lcrypto")
    if not options.no_build:
        harness.build_product("BenchServer")
        harness.build_product("httpkit", harness.HERE.parent, harness.release_flags())
    found = {}
    for number in range(options.rounds):
        harness.note(f"round {number + 1} of {options.rounds}")
        measure_idle(found)
        measure_web_sockets(found)
    harness.note("flood")
    measure_flood(options.rounds, found)
    for title, values in found.items():
        print(f"{title}: " + ", ".join(
            f"{name} {'/'.join(map(str, samples))}" for name, samples in values.items()))
    path = harness.save("holding", {
        "kind": "holding", "machine": harness.machine(), "rounds": options.rounds,
        "versions": {"nginx": harness.output_of("nginx", "-v"),
                     "OpenSSL": harness.output_of("openssl", "version")}, "figures": found})
    harness.note(f"written: {path}")


if __name__ == "__main__":
    main()
