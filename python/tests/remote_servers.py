"""Servers on the loopback for the tests of remote files: one that fails as it is told, nginx, and S3 by moto."""
import contextlib
import email.utils
import hashlib
import hmac
import http.server
import os
import pathlib
import random
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOTO = next((path for path in ROOT.glob(".venv*/bin/moto_server")), None)
GCS = next((path for path in ROOT.glob(".venv*/bin/gcp-storage-emulator")), None)
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def content(size, seed=1):
    """Bytes that tell where they stand."""
    return random.Random(seed).randbytes(size)


class Faults(http.server.ThreadingHTTPServer):
    """Serves `files`, {path: bytes}, by ranges; `plans`, {path: [fault, ...]}, says what happens to the next requests
    for one, and `always` what happens to all. `seen` are the requests: (method, path, headers)."""
    daemon_threads = True

    def __init__(self, tls=None):
        self.files, self.plans, self.always, self.seen = {}, {}, {}, []
        self.lock = threading.Lock()
        self.under_way = self.most_under_way = 0
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http{'s' if tls else ''}://localhost:{self.server_address[1]}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def add(self, path, data, *plan, always=None):
        """A file and its faults; returns its URL."""
        self.files[path] = data
        self.plans[path] = list(plan)
        if always:
            self.always[path] = always
        return self.url + path

    def fault_of(self, path):
        """What shall happen to a request for the path now."""
        with self.lock:
            plan = self.plans.get(path)
            return plan.pop(0) if plan else self.always.get(path)

    def count(self, path):
        """How often it was asked for."""
        return sum(seen[1] == path for seen in self.seen)

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection to Faults. Faults are functions of the handler that return True where they have answered."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # heads and bodies are written one after the other

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        server = self.server
        with server.lock:
            server.seen.append((self.command, self.path, dict(self.headers)))
            server.under_way += 1
            server.most_under_way = max(server.most_under_way, server.under_way)
        try:
            fault = server.fault_of(self.path)
            if fault is None or not fault(self):
                self.answer()
        finally:
            with server.lock:
                server.under_way -= 1

    def range(self, size):
        """The bytes that are asked for, as a slice, or None."""
        text = self.headers.get("Range")
        if text is None:
            return None
        first, _, last = text.removeprefix("bytes=").partition("-")
        return slice(int(first), min(int(last) + 1, size))

    def answer(self, etag='"one"', cut=None, more=(), pause=0, ranges=True, length=True, shift=0):
        """Sends the file or its range; `cut` bytes of it, the connection then closed."""
        data = self.server.files.get(self.path)
        if data is None:
            return self.status(404)
        want = self.range(len(data)) if ranges else None
        if want and want.start >= len(data):
            return self.status(416, ("Content-Range", f"bytes */{len(data)}"))
        part = data[want] if want else data
        self.send_response(206 if want else 200)
        if want:
            first = want.start + shift
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
        if length:
            self.send_header("Content-Length", str(len(part) if length is True else length))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        if etag:
            self.send_header("ETag", etag)
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return True
        part = part if cut is None else part[:cut]
        step = 65536 if pause else len(part) or 1
        for at in range(0, len(part), step):
            self.wfile.write(part[at:at + step])
            if pause and self.server.over.wait(pause):
                break
        if cut is not None:
            self.drop()
        return True

    def status(self, code, *headers, body=b""):
        """An answer without the file."""
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        return True

    def drop(self):
        """Cuts the connection, also what was sent and not yet read."""
        self.wfile.flush()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True
        return True

    def hang(self):
        """Says nothing until the server ends."""
        self.server.over.wait(60)
        return self.drop()


@contextlib.contextmanager
def running(server):
    """A server of http.server on a thread of its own; its event `over` ends what it holds back."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def faults(tls=None):
    """A running Faults; `tls` is (certificate, key)."""
    return running(Faults(tls))


def free_port():
    """A port that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for_port(port, process):
    """Until somebody listens there."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, process.stdout and process.stdout.read()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise AssertionError("nobody listens")


@contextlib.contextmanager
def process_at(port, *command, **more):
    """A program that listens at the port."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    try:
        wait_for_port(port, process)
        yield process
    finally:
        process.terminate()
        process.wait()


def certificate(folder, name="localhost"):
    """(certificate, key) of a server that vouches for itself, in files."""
    paths = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
                    "-keyout", paths[1], "-out", paths[0]], check=True, capture_output=True)
    return paths


NGINX_CONF = """
daemon off; master_process off; pid {work}/pid; error_log stderr crit;
events {{ worker_connections 256; }}
http {{
    access_log off; client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;
    uwsgi_temp_path {work}/u; scgi_temp_path {work}/s; sendfile on; keepalive_requests 100000;
    server {{ listen 127.0.0.1:{port}; root {root}; location /slow/ {{ alias {root}/; limit_rate {rate}; }} }}
}}
"""


@contextlib.contextmanager
def nginx(root, work, rate="64m"):
    """nginx over a folder, which below /slow/ gives a connection `rate` bytes a second."""
    port = free_port()
    conf = pathlib.Path(work) / "nginx.conf"
    conf.write_text(NGINX_CONF.format(work=work, port=port, root=root, rate=rate))
    with process_at(port, NGINX, "-c", str(conf), "-p", str(work), "-e", "stderr"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def moto():
    """An S3 service; its endpoint."""
    port = free_port()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with process_at(port, str(MOTO), "-H", "127.0.0.1", "-p", str(port), env=environment):
        yield f"http://127.0.0.1:{port}"


def make_bucket(endpoint, name):
    """A bucket of moto, which asks nobody who they are."""
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT")).read()


@contextlib.contextmanager
def google_emulator():
    """An emulator of Google's Cloud Storage; its endpoint."""
    port = free_port()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with process_at(port, str(GCS), "start", "--host=127.0.0.1", f"--port={port}", "--in-memory", env=environment):
        yield f"http://127.0.0.1:{port}"


def make_google_bucket(endpoint, name):
    """A bucket of the emulator."""
    urllib.request.urlopen(urllib.request.Request(
        f"{endpoint}/storage/v1/b?project=p", data=b'{"name": "%s"}' % name.encode(), method="POST",
        headers={"Content-Type": "application/json"})).read()


# ---- Signature Version 4, after Amazon's description of it ----

def signature(secret, method, target, headers, body_hash):
    """(signature that the request should have, the one that it has); `headers` is any mapping that ignores case."""
    given = headers["Authorization"]
    assert given.startswith("AWS4-HMAC-SHA256 ")
    fields = dict(field.strip().split("=", 1) for field in given.split(" ", 1)[1].split(","))
    _, date, region, service, end = fields["Credential"].split("/")
    path, _, query = target.partition("?")
    quote, unquote = urllib.parse.quote, urllib.parse.unquote
    pairs = sorted(tuple(quote(unquote(word), safe="-_.~") for word in (pair + "=").split("=")[:2])
                   for pair in query.split("&") if pair)
    names = fields["SignedHeaders"].split(";")
    canonical = "\n".join([
        method, quote(unquote(path), safe="/-_.~"), "&".join("=".join(pair) for pair in pairs),
        *(f"{name}:{' '.join(headers[name].split())}" for name in names), "", fields["SignedHeaders"], body_hash])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["X-Amz-Date"], "/".join([date, region, service, end]),
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for word in (date, region, service, end):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), fields["Signature"]


def http_date(seconds):
    """As servers write it."""
    return email.utils.formatdate(seconds, usegmt=True)
