"""The servers under comparison: how each is started, sampled and ended."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import harness

KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG
CLEAR_PEAK = "5"      # what proc(5) wants in clear_refs to reset VmHWM
NGINX = """
daemon off;
master_process {master};
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
worker_processes {threads};
worker_rlimit_nofile 20000;
events {{ worker_connections 19000; }}
http {{
    access_log {log};
    gzip {gzip};
    gzip_types text/plain;
    open_file_cache {cache};
    open_file_cache_valid 60s;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 300s;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    default_type text/plain;
    client_body_temp_path {folder};
    proxy_temp_path {folder};
    fastcgi_temp_path {folder};
    uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    server {{
        listen 127.0.0.1:{port} backlog=4096 {tls};
        root {root};
        location = / {{ return 200 "Hello, world!"; }}
        location = /async {{ return 200 "Hello, world!"; }}
        location = /upload {{ return 200 ""; }}
        location = /json {{ default_type application/json; }}
        location = /json-uncached {{
            alias {root}/json;
            default_type application/json;
            gzip on;
            gzip_types application/json;
            gzip_comp_level 6;
        }}
    }}
}}
"""


# Of the servers that speak TLS: an ECDSA key, in the folder that they serve.
CERTIFICATE, KEY = "certificate.pem", "key.pem"


def make_certificate(root):
    """Makes a certificate for localhost that signs itself."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", f"{root}/{KEY}", "-out", f"{root}/{CERTIFICATE}"],
                   check=True, capture_output=True)


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def limit_command(setup):
    command = [harness.TOOLS / "limit", "--port", setup.port, "--threads", setup.threads]
    tls = ["--tls", f"{setup.root}/{CERTIFICATE}", f"{setup.root}/{KEY}"] if setup.secure else []
    return command + (["--close"] if setup.closes else []) + tls


def nginx_command(setup, keeps_files=False, logs=False):
    """
    :param keeps_files: it keeps files open, as the toolkit does; over TLS it always does.
    :param logs: it writes an access log and compresses text."""
    path = Path(setup.folder) / "nginx.conf"
    # Without a master where one process does, so that none outlives a script that is killed.
    master = "off" if setup.threads == "1" else "on"
    tls = "ssl; ssl_protocols TLSv1.2 TLSv1.3; {}; {}".format(
        f"ssl_certificate {setup.root}/{CERTIFICATE}",
        f"ssl_certificate_key {setup.root}/{KEY}") if setup.secure else ""
    path.write_text(NGINX.format(
        folder=setup.folder, port=setup.port, root=setup.root, threads=setup.threads, master=master,
        tls=tls, cache="max=1000" if keeps_files or setup.secure else "off",
        log=f"{setup.folder}/access.log" if logs else "off", gzip="on" if logs else "off"))
    return ["nginx", "-p", setup.folder, "-c", path, "-e", f"{setup.folder}/error.log"]


def nginx_keeping_files(setup):
    return nginx_command(setup, keeps_files=True)


def nginx_with_log(setup):
    return nginx_command(setup, logs=True)


def served_command(setup):
    """`httpkit serve` with all that it can do."""
    return [harness.built_product("httpkit", harness.HERE.parent), "serve", setup.root, "--port",
            setup.port, "--loops", setup.threads, "--webdav", "/dav", "--uploader", "/upload",
            "--access-log"]


def product_command(product, *flags, package=harness.HERE):
    """The command of one of the package's own servers, which all take the same options."""
    def command(setup):
        tls = ["--certificate", f"{setup.root}/{CERTIFICATE}", "--key",
               f"{setup.root}/{KEY}"] if setup.secure else []
        return [harness.built_product(product, package), "--port", setup.port, "--threads",
                setup.threads, "--root", setup.root, *tls, *flags]
    return command


COMMANDS = {
    "limit": limit_command,
    "nginx": nginx_command,
    "nginx-keeping": nginx_keeping_files,
    "nginx-log": nginx_with_log,
    "ours": product_command("BenchServer"),
    "served": served_command,
    # Nothing but a handler; and the same answer from a router with log and middleware.
    "bare": product_command("BenchServer", "--bare"),
    "dressed": product_command("BenchServer", "--dressed"),
    "nio": product_command("PeerNIO"),
    "hummingbird": product_command("PeerHummingbird"),
    "flyingfox": product_command("PeerFlyingFox"),
}
if harness.BASE:
    COMMANDS["base"] = product_command("BenchServer", package=harness.BASE / "Benchmarks")
# The packages of the peers, as SwiftPM identifies them.
PACKAGES = {"nio": "swift-nio", "hummingbird": "hummingbird", "flyingfox": "flyingfox"}
PRODUCTS = {"ours": "BenchServer", "bare": "BenchServer", "dressed": "BenchServer",
            "nio": "PeerNIO", "hummingbird": "PeerHummingbird", "flyingfox": "PeerFlyingFox"}
PEERS = ["nio", "hummingbird", "flyingfox"]

# FlyingFox keeps a connection only when the request says so, even in HTTP/1.1.
EXTRA_FIELDS = {"flyingfox": ["Connection: keep-alive"]}


def die_with_parent():
    ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)


class Server:
    """A running server process and, for nginx, its workers."""

    def __init__(self, name, root, threads=1, closes=False, secure=False, environment=None,
                 extra=()):
        self.name, self.root, self.threads, self.closes = name, root, str(threads), closes
        self.secure = secure
        self.port = str(free_port())
        self.files = tempfile.TemporaryDirectory()
        self.folder = self.files.name
        self.process = subprocess.Popen(
            [str(part) for part in [*COMMANDS[name](self), *extra]], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(f"{self.folder}/stderr", "wb"),
            env={**os.environ, **(environment or {})}, start_new_session=True,
            preexec_fn=die_with_parent)

    def wait_until_listening(self):
        for _ in range(200):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", int(self.port)), timeout=1).close()
                return
            time.sleep(0.05)
        text = Path(f"{self.folder}/stderr").read_text(errors="replace").strip()
        raise RuntimeError(f"{self.name} does not listen: {text[-300:]}")

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.files.cleanup()

    def processes(self):
        """The process and its children."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]

    def cpu_seconds(self):
        """User and system time of all threads, ended ones included, in nanosecond steps."""
        # The clock of another process, as clock_getcpuclockid(3) makes it; /proc/PID/stat counts
        # the same time in steps of 10 ms.
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.processes())

    def memory(self, key):
        """A line of /proc/PID/status in KiB."""
        total = 0
        for pid in self.processes():
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(key + ":"):
                    total += int(line.split()[1])
        return total

    def reset_peak(self):
        for pid in self.processes():
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text(CLEAR_PEAK)


@contextlib.contextmanager
def running(names, root, **options):
    """Servers by name, all listening; those that cannot start are told and left out."""
    servers = {}
    try:
        for name in names:
            try:
                servers[name] = Server(name, root, **options)
                servers[name].wait_until_listening()
            except (RuntimeError, OSError) as error:
                harness.leave_out(name.removeprefix("dav-"), f"which does not start: {error}")
                if name in servers:
                    servers.pop(name).stop()
        yield servers
    finally:
        for server in servers.values():
            server.stop()
