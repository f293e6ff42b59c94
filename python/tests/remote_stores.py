"""Object stores on the loopback for the tests of remote files: Google's and Azure's, after what their makers publish
of the protocols, with all that is signed checked. Nothing here knows how leat writes its requests."""
import base64
import collections
import contextlib
import hashlib
import hmac
import http.server
import itertools
import json
import threading
import time
import urllib.parse
import xml.sax.saxutils

from remote_servers import Handler, http_date, running

PAGE = 5  # names of a list's page, so that there are several


class Store(http.server.ThreadingHTTPServer):
    """`objects` are {(bucket, key): (data, etag, time)}; `plan` are faults, one for each next request, functions of the
    handler that return True where they have answered."""
    daemon_threads = True

    def __init__(self, handler):
        self.buckets, self.objects, self.uploads, self.plan = set(), {}, {}, []
        self.numbers, self.lock, self.over = itertools.count(1), threading.Lock(), threading.Event()
        self.tokens = set()  # without any, everybody may do all
        self.key = None
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def put(self, name, data):
        """A new version of an object."""
        self.objects[name] = (data, f'"{next(self.numbers)}"', int(time.time()))

    def names(self, bucket, prefix, delimiter, after, most):
        """(keys, prefixes, where the next page begins or None) of a page of the list of a bucket."""
        found = {}
        for owner, key in sorted(self.objects):
            if owner == bucket and key.startswith(prefix):
                head, mark, _ = key[len(prefix):].partition(delimiter) if delimiter else (key, "", "")
                found[prefix + head + mark if mark else key] = bool(mark)
        page = [name for name in sorted(found) if after is None or name > after][:min(most, PAGE) + 1]
        more = len(page) > min(most, PAGE)
        page = page[:min(most, PAGE)]
        return ([name for name in page if not found[name]], [name for name in page if found[name]],
                page[-1] if more else None)

    def handle_error(self, request, client_address):
        pass


class StoreHandler(Handler):
    """One connection to a Store."""

    def do_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        with self.server.lock:
            fault = self.server.plan.pop(0) if self.server.plan else None
        if fault is None or not fault(self):
            self.serve(path, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_any

    def give(self, data, *headers, code=200):
        """An answer with a body."""
        self.status(code, *headers, body=data)

    def give_object(self, name):
        """The object, or its range."""
        if name not in self.server.objects:
            return self.refuse(404, "NoSuchKey")
        data, etag, changed = self.server.objects[name]
        headers = [("ETag", etag), ("Last-Modified", http_date(changed))]
        want = self.range(len(data))
        if want and want.start >= len(data):
            return self.status(416, ("Content-Range", f"bytes */{len(data)}"))
        if want:
            part = data[want]
            return self.give(part, ("Content-Range", f"bytes {want.start}-{want.start + len(part) - 1}/{len(data)}"),
                             *headers, code=206)
        if self.command != "HEAD":
            return self.give(data, *headers)
        self.send_response(200)
        for header in (*headers, ("Content-Length", str(len(data)))):
            self.send_header(*header)
        return self.end_headers()


class Google(StoreHandler):
    """Cloud Storage's JSON API, its server of tokens, and a machine's."""

    def refuse(self, code, word):
        return self.give(json.dumps({"error": {"code": code, "message": word}}, indent=1).encode(), code=code)

    def serve(self, path, body):
        server = self.server
        if path in ("/token", "/computeMetadata/v1/instance/service-accounts/default/token"):
            return self.give_token(path, urllib.parse.parse_qs(body.decode()))
        if path == "/session":
            return self.go_on(body)
        if server.tokens and self.headers.get("Authorization", "").removeprefix("Bearer ") not in server.tokens:
            return self.refuse(401, "Invalid Credentials")
        parts = path.split("/")
        upload = parts[1] == "upload"
        _, version, kind, bucket, items = parts[1 + upload:6 + upload]
        assert (version, kind, items) == ("v1", "b", "o"), path
        if bucket not in server.buckets:
            return self.refuse(404, "The specified bucket does not exist.")
        if upload:
            return self.begin(bucket, body)
        if len(parts) == 6:
            return self.give_list(bucket)
        name = bucket, urllib.parse.unquote(parts[6])
        assert len(parts) == 7, path
        if name not in server.objects:
            return self.refuse(404, "No such object")
        if self.command == "DELETE":
            del server.objects[name]
            return self.status(204)
        if self.query.get("alt") == "media":
            return self.give_object(name)
        data, _, changed = server.objects[name]
        return self.give_json({"name": name[1], "size": str(len(data)), "updated": time.strftime(
            "%Y-%m-%dT%H:%M:%S.123Z", time.gmtime(changed))})

    def give_json(self, value):
        return self.give(json.dumps(value).encode(), ("Content-Type", "application/json"))

    def give_list(self, bucket):
        keys, prefixes, after = self.server.names(bucket, self.query.get("prefix", ""), self.query.get("delimiter"),
                                                  self.query.get("pageToken"), int(self.query["maxResults"]))
        page = {"kind": "storage#objects"}
        page.update({"items": [{"name": key} for key in keys]} if keys else {})
        page.update({"prefixes": prefixes} if prefixes else {})
        page.update({"nextPageToken": after} if after else {})
        return self.give_json(page)

    def give_token(self, path, said):
        """For whom `server.claims` takes what they say."""
        if path == "/token":
            good = self.command == "POST" and self.server.claims(said)
            good = good and self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        else:
            good = self.headers.get("Metadata-Flavor") == "Google"
        if not good:
            return self.refuse(403, "invalid_grant")
        token = f"token-{next(self.server.numbers)}"
        self.server.tokens.add(token)
        return self.give_json({"access_token": token, "expires_in": self.server.life, "token_type": "Bearer"})

    def begin(self, bucket, body):
        if self.query["uploadType"] == "media":
            self.server.put((bucket, self.query["name"]), body)
            return self.give_json({})
        assert self.query["uploadType"] == "resumable" and not body
        number = str(next(self.server.numbers))
        self.server.uploads[number] = [(bucket, self.query["name"]), b""]
        return self.status(200, ("Location", f"{self.server.url}/session?upload_id={number}"))

    def go_on(self, body):
        """A piece of an upload; of one that is not the last the server keeps whole units of 256 KiB, and less of it
        where `server.keeps` says so."""
        number = self.query["upload_id"]
        if number not in self.server.uploads:
            return self.refuse(404, "no such upload")
        if self.command == "DELETE":
            del self.server.uploads[number]
            return self.status(499)
        upload = self.server.uploads[number]
        span, _, whole = self.headers["Content-Range"].removeprefix("bytes ").partition("/")
        first = len(upload[1]) if span == "*" else int(span.split("-")[0])
        if span != "*" and int(span.split("-")[1]) - first + 1 != len(body) or first > len(upload[1]):
            return self.refuse(400, f"bad range {span} of {len(body)}")
        data = upload[1] + body[len(upload[1]) - first:]
        is_last = whole != "*" and len(data) == int(whole)
        if not is_last or self.server.keeps:
            keep = self.server.keeps.popleft() if self.server.keeps else len(data)
            upload[1] = data[:max(len(upload[1]), min(keep, len(data)) // 262144 * 262144)]
            kept = [("Range", f"bytes=0-{len(upload[1]) - 1}")] if upload[1] else []
            return self.status(308, *kept)
        self.server.put(upload[0], data)
        del self.server.uploads[number]
        return self.give_json({})


class Azure(StoreHandler):
    """Azure's Blob service for the account "someone"."""

    def refuse(self, code, word):
        return self.give(f'<?xml version="1.0"?><Error><Code>{word}</Code><Message>{word}.\nTime: 1</Message></Error>'
                         .encode(), code=code)

    def is_signed(self, path):
        """By the account's key (Shared Key, 2015-02-21 and later), or a token in the query."""
        headers, given = self.headers, self.headers.get("Authorization")
        if "sig" in self.query:
            return self.query["sig"] in self.server.tokens
        if self.server.key is None:
            return given is None
        if given is None:
            return False
        length = headers.get("Content-Length", "")
        fields = [self.command, *(headers.get(name, "") for name in ("Content-Encoding", "Content-Language")),
                  "" if length == "0" else length,
                  *(headers.get(name, "") for name in ("Content-MD5", "Content-Type", "Date", "If-Modified-Since",
                                                       "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"))]
        own = sorted((name.lower(), " ".join(value.split())) for name, value in headers.items()
                     if name.lower().startswith("x-ms-"))
        words = sorted(self.query.items())
        resource = "/someone" + path + "".join(f"\n{name.lower()}:{value}" for name, value in words)
        text = "\n".join([*fields, *(f"{name}:{value}" for name, value in own), resource])
        code = base64.b64encode(hmac.new(base64.b64decode(self.server.key), text.encode(), hashlib.sha256).digest())
        return given == f"SharedKey someone:{code.decode()}" and "x-ms-date" in headers

    def serve(self, path, body):
        server = self.server
        if self.headers.get("x-ms-version", "") < "2015-02-21":
            return self.refuse(400, "UnsupportedHeader")
        if not self.is_signed(path):
            return self.refuse(403, "AuthenticationFailed")
        bucket, _, key = path[1:].partition("/")
        name = bucket, urllib.parse.unquote(key)
        if bucket not in server.buckets:
            return self.refuse(404, "ContainerNotFound")
        kind = self.query.get("comp")
        if kind == "list":
            assert self.query["restype"] == "container" and not key
            return self.give_list(bucket)
        if self.command == "PUT":
            return self.write(name, kind, body)
        if self.command == "DELETE" and name in server.objects:
            del server.objects[name]
            return self.status(202)
        return self.give_object(name)

    def write(self, name, kind, body):
        blocks = self.server.uploads.setdefault(name, {})
        if kind == "block":
            lengths = {len(other) for other in blocks} | {len(base64.b64decode(self.query["blockid"], validate=True))}
            if len(lengths) > 1:
                return self.refuse(400, "InvalidBlobOrBlock")
            blocks[base64.b64decode(self.query["blockid"])] = body
            return self.status(201)
        if kind == "blocklist":
            names = [base64.b64decode(text.split("<")[0]) for text in body.decode().split("<Uncommitted>")[1:]]
            if any(block not in blocks for block in names):
                return self.refuse(400, "InvalidBlockList")
            body = b"".join(blocks[block] for block in names)
        elif self.headers.get("x-ms-blob-type") != "BlockBlob":
            return self.refuse(400, "InvalidHeaderValue")
        self.server.uploads.pop(name)
        self.server.put(name, body)
        return self.status(201, ("ETag", self.server.objects[name][1]))

    def give_list(self, bucket):
        keys, prefixes, after = self.server.names(bucket, self.query.get("prefix", ""), self.query.get("delimiter"),
                                                  self.query.get("marker"), int(self.query["maxresults"]))
        quote = xml.sax.saxutils.escape
        blobs = [f"<Blob><Name>{quote(key)}</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>"
                 for key in keys] + [f"<BlobPrefix><Name>{quote(prefix)}</Name></BlobPrefix>" for prefix in prefixes]
        return self.give(f'<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="{bucket}"><Blobs>'
                         f"{''.join(blobs)}</Blobs><NextMarker>{quote(after or '')}</NextMarker></EnumerationResults>"
                         .encode())


@contextlib.contextmanager
def store(handler):
    """A running Store that speaks as the handler."""
    server = Store(handler)
    server.claims, server.life, server.keeps = lambda said: True, 3600, collections.deque()
    with running(server):
        yield server
