"""A proxy that cuts each connection after a number of bytes from the client, CUTS times.

    cutting_proxy.py SERVER-PORT BYTES CUTS [ROOM]

ROOM: the number of bytes that may wait for the server here; 0 for the system's buffers, which have
megabytes, more than a network does.
Prints its port, and at the end of each connection the number of bytes from clients so far, and the
number of remaining cuts.
"""

import socket, sys, threading

server, every, cuts, room = (*map(int, sys.argv[1:]), 0)[:4]
lock = threading.Lock()
passed = 0

def cut(sides):
    for side in sides:
        try: side.shutdown(socket.SHUT_RDWR)
        except OSError: pass

def forward(source, target, sides, limit):
    global cuts, passed
    count = 0
    try:
        while True:
            # Reads exactly up to the limit, not all received bytes.
            data = source.recv(min(65536, limit - count) if limit else 65536)
            if not data: break
            target.sendall(data)
            count += len(data)
            if limit and count >= limit:
                with lock: is_cut = cuts > 0; cuts -= is_cut
                if is_cut: break
                limit = 0
    except OSError: pass
    if limit is not None:
        with lock:
            passed += count
            print("passed", passed, "left", cuts, flush=True)
    cut(sides)

def connect(client):
    upstream = socket.socket()
    if room:
        upstream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room)
        # A segment of the loopback device would fill it, and wait for a late acknowledgement.
        upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)
    upstream.connect(("127.0.0.1", server))
    sides = (client, upstream)
    for source, target, limit in (client, upstream, every), (upstream, client, None):
        threading.Thread(
            target=forward, args=(source, target, sides, limit), daemon=True).start()

listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print("port", listener.getsockname()[1], flush=True)
# No socket is kept here, so that a cut one is closed.
while True: connect(listener.accept()[0])
