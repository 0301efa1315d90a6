"""A proxy that cuts connections: each after so many bytes of the client's, as often as it is told.

    cutting_proxy.py SERVER-PORT BYTES CUTS [ROOM]

ROOM: the bytes that may wait for the server here; 0 for as many as the system takes, which are megabytes
and more than there are in a network.
Prints its port, and at the end of each connection how many bytes of clients have passed and how many
cuts are left.
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
            # Exactly so many, and not the rest of what has come at once.
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
        # Segments of the loopback device would fill it alone, and each wait for a late acknowledgement.
        upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)
    upstream.connect(("127.0.0.1", server))
    sides = (client, upstream)
    for source, target, limit in (client, upstream, every), (upstream, client, None):
        threading.Thread(
            target=forward, args=(source, target, sides, limit), daemon=True).start()

listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print("port", listener.getsockname()[1], flush=True)
# No socket is kept here: one that was cut is closed.
while True: connect(listener.accept()[0])
