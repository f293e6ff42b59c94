"""A network between the workers and their meeting point: a port whose connections can be held or cut after so many bytes."""
import selectors
import socket
import struct
import threading

CHUNK = 1 << 16


class Proxy(threading.Thread):
    """Passes what comes to its `port` on to `target`. `mode` is "pass", "slow" (a piece, and then a while nothing), "hold" (nothing moves,
    nothing breaks) or "cut" (what is connected is reset, once); it may be set from any thread, or after `limit` more bytes by itself
    (`arm`)."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target, self.mode, self.bytes, self.armed, self.came = target, "pass", 0, None, False
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.selector, self.ended = selectors.DefaultSelector(), False
        self.selector.register(self.listening, selectors.EVENT_READ)

    def arm(self, limit, mode):
        self.armed = (self.bytes + limit, mode)

    def run(self):
        while not self.ended:
            if self.mode == "cut":
                self.mode = "pass"
                for key in list(self.selector.get_map().values()):
                    if key.fileobj is not self.listening:
                        self.drop(key.fileobj)
            for key, _ in self.selector.select(0.02):
                if key.fileobj is self.listening:
                    self.accept()
                elif self.mode == "hold":
                    threading.Event().wait(0.01)
                elif key.fileobj.fileno() >= 0:
                    self.forward(key.fileobj, key.data)
                    if self.mode == "slow":
                        threading.Event().wait(0.005)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()

    def accept(self):
        inner, _ = self.listening.accept()
        try:
            outer = socket.create_connection(self.target, timeout=1)
        except OSError:
            inner.close()    # who connects tries again
            return
        for one, other in ((inner, outer), (outer, inner)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            one.settimeout(5)
            self.selector.register(one, selectors.EVENT_READ, other)

    def forward(self, source, other):
        try:
            data = source.recv(CHUNK)
            other.sendall(data)
        except OSError:
            data = b""
        if not data:
            self.drop(source, reset=False)
            self.drop(other, reset=False)
        self.bytes += len(data)
        if self.armed and self.bytes >= self.armed[0]:
            self.mode, self.armed, self.came = self.armed[1], None, True

    def drop(self, one, reset=True):
        if one.fileno() < 0:
            return
        self.selector.unregister(one)
        if reset:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()

    def close(self):
        self.ended = True
        self.join()
