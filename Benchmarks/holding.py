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
STALLED = 100
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


def web_socket(port):
    connection = plain(port)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET /websocket/echo HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        .encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    if not answer.startswith(b"HTTP/1.1 101"):
        raise RuntimeError(f"no WebSocket: {answer[:40]}")
    return connection


def echoed(connection):
    """One message there and back, after which the WebSocket is idle."""
    connection.sendall(frame(1, b"x" * 32))
    answer = b""
    while len(answer) < 34:
        answer += connection.recv(100)
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
        while quiet < 20:
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
        port = int(re.search(r":(\d+)", process.stdout.readline())[1])

        def read():
            with open(f"/proc/{process.pid}/status") as status:
                return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1]) * 1024

        yield port, read
        process.terminate()


def measure_http(rounds, found):
    """Idle connections and the flood."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    count = min(3000, (limit - 2 * WARM) // 2)
    with tempfile.TemporaryDirectory() as root:
        server.make_root(root)
        for is_secure, opener in [(False, plain), (True, secure)]:
            with servers.running(["nginx", "ours"], root, secure=is_secure) as running:
                for name, one in running.items():
                    def read(one=one):
                        return one.memory("RssAnon") * 1024

                    def open_one(one=one, opener=opener):
                        return request(opener(int(one.port)))

                    kind = "idle over TLS" if is_secure else "idle"
                    found.setdefault(f"{kind}, bytes", {})[name] = [
                        round(idle_bytes(read, open_one, count))]
        with servers.running(["nginx", "ours"], root, secure=True) as running:
            for _ in range(rounds):
                for name, one in running.items():
                    part, rate = under_flood(one)
                    found.setdefault("part of the rate in a flood", {}).setdefault(
                        name, []).append(round(part, 2))
                    found.setdefault("handshakes of the flood in a second", {}).setdefault(
                        name, []).append(round(rate))


def measure_web_sockets(found):
    with bin_server() as (port, read):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        count = min(3000, (limit - 2 * WARM) // 2)
        found["idle WebSocket, bytes"] = {
            "ours": [round(idle_bytes(read, lambda: echoed(web_socket(port)), count))]}
    with bin_server() as (port, read):
        grown, sent = stalled_bytes(read, port)
        found[f"{STALLED} stalled WebSockets, MiB"] = {"ours": [round(grown / 2**20, 1)]}
        found["of which the clients had sent, MiB"] = {"ours": [round(sent / 2**20, 1)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of the flood (3)")
    parser.add_argument("--no-build", action="store_true",
                        help="take the programs as they were built before")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    harness.compile_c(server.LOAD / "flood.c", "flood", "-lssl", "-lcrypto")
    if not options.no_build:
        harness.build_product("BenchServer")
        harness.build_product("httpkit", harness.HERE.parent)
    found = {}
    measure_web_sockets(found)
    measure_http(options.rounds, found)
    for title, values in found.items():
        print(f"{title}: " + ", ".join(
            f"{name} {'/'.join(map(str, samples))}" for name, samples in values.items()))


if __name__ == "__main__":
    main()
