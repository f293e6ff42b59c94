"""s3:// (docs/REMOTE.md): beside moto's server, and signatures beside Amazon's description of them."""
import http.server
import os
import pathlib
import threading
import urllib.request

import pytest

import leat as tf
import remote_servers as servers

pytestmark = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_curl.so").exists(),
                                reason="this build has no libcurl")
needs_moto = pytest.mark.skipif(servers.MOTO is None, reason="moto is not installed: `sh tools/venv.sh remote`")
MIB = 1 << 20


@pytest.fixture(autouse=True)
def account(monkeypatch, tmp_path):
    """Nobody's own account counts."""
    for name in os.environ:
        if name.startswith(("AWS_", "LEAT_REMOTE_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="module", name="service")
def running():
    with servers.moto() as endpoint:
        yield endpoint


@pytest.fixture(name="bucket")
def made(service, monkeypatch, request):
    """A bucket of its own, as s3://name."""
    name = "b" + "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[:50].strip("-")
    servers.make_bucket(service, name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", service)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    return "s3://" + name


# ---- beside moto ----

@needs_moto
def test_more_names_than_a_page(bucket):
    names = [f"{i:04}" for i in range(1003)]
    for name in names:
        urllib.request.urlopen(urllib.request.Request(
            f"{os.environ['AWS_ENDPOINT_URL']}/{bucket[5:]}/many/{name}", data=b"", method="PUT")).read()
    assert tf.io.gfile.listdir(bucket + "/many") == names
    assert len(tf.io.gfile.glob(bucket + "/many/*7")) == 100


def uploads(bucket):
    """Uploads in parts that nobody has ended."""
    url = f"{os.environ['AWS_ENDPOINT_URL']}/{bucket[5:]}?uploads"
    return urllib.request.urlopen(url).read().count(b"<UploadId>")


@needs_moto
def test_what_is_given_up_leaves_nothing(bucket):
    writer = tf._native.FileWriter.open(bucket + "/data")
    writer.write(bytes(70 * MIB))
    assert uploads(bucket) == 1
    writer.discard()
    for _ in range(1000):
        if uploads(bucket) == 0:
            break
        tf.io.gfile.exists(bucket + "/data")
    assert uploads(bucket) == 0 and not tf.io.gfile.exists(bucket + "/data")
    tf.io.write_file(bucket + "/data", bytes(70 * MIB))
    assert uploads(bucket) == 0


# ---- signatures and accounts ----

class Checker(http.server.BaseHTTPRequestHandler):
    """Serves `objects` to whoever signs as `accounts`, {key: (secret, token)}, says; `seen` are the regions."""
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def answer(self, code, body=b"", *headers):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers.get("Authorization", "=/").split("Credential=")[-1].split("/")[0]
        secret, token = self.server.accounts.get(key, (None, None))
        claimed = self.headers.get("X-Amz-Content-Sha256", "")
        good = secret is not None and self.headers.get("X-Amz-Security-Token") == token
        if good:
            want, have = servers.signature(secret, self.command, self.path, self.headers, claimed)
            good = want == have and claimed in (servers.hashlib.sha256(body).hexdigest(), "UNSIGNED-PAYLOAD")
            self.server.seen.append(self.headers["Authorization"].split("/")[2])
        if not good:
            return self.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message></Error>")
        path = self.path.partition("?")[0]
        if self.command == "PUT":
            self.server.objects[path] = body
            return self.answer(200, b"", ("ETag", '"1"'))
        if "list-type=2" in self.path:
            keys = [f"<Contents><Key>{name.split('/', 2)[2]}</Key></Contents>" for name in sorted(self.server.objects)]
            text = f"<ListBucketResult>{''.join(keys)}<IsTruncated>false</IsTruncated></ListBucketResult>"
            return self.answer(200, text.encode())
        if self.command == "DELETE":
            self.server.objects.pop(path, None)
            return self.answer(204)
        if path not in self.server.objects:
            return self.answer(404)
        return self.answer(200, self.server.objects[path])

    do_GET = do_HEAD = do_PUT = do_DELETE = do_any


@pytest.fixture(name="checker")
def checking(monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Checker)
    server.daemon_threads = True
    server.accounts, server.objects, server.seen = {"id": ("s3cr3t/+=", None)}, {}, []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_address[1]}/")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def works():
    """Every kind of request is answered."""
    tf.io.write_file("s3://bucket/a b+ä%/c", "text")
    assert tf.io.read_file("s3://bucket/a b+ä%/c").numpy() == b"text"
    tf.io.gfile.listdir("s3://bucket/")
    tf.io.gfile.remove("s3://bucket/a b+ä%/c")


def test_signatures(checker, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t/+=")
    works()
    assert set(checker.seen) == {"us-east-1"}
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    works()
    assert "eu-central-1" in checker.seen
    checker.accounts["id"] = ("s3cr3t/+=", "token==")
    with pytest.raises(tf.errors.PermissionDeniedError, match="SignatureDoesNotMatch"):
        tf.io.gfile.listdir("s3://bucket/")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token==")
    works()


def test_names_that_are_listed(checker, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t/+=")
    checker.objects.update({"/bucket/a%2Fb": b"", "/bucket/": b"", "/bucket/c&#x41;&amp;+d": b""})
    assert tf.io.gfile.listdir("s3://bucket") == ["cA& d"]


def test_profiles(checker, monkeypatch, tmp_path):
    folder = tmp_path / ".aws"
    folder.mkdir()
    checker.accounts.update({"one": ("first", None), "two": ("second", "t"), "three": ("third", None)})
    (folder / "credentials").write_text(
        "# mine\n[default]\naws_access_key_id = one\naws_secret_access_key=first\n\n"
        "[other]\naws_access_key_id=two\naws_secret_access_key = second\naws_session_token = t\n")
    (folder / "config").write_text(
        "[default]\nregion = eu-west-1\ns3 =\n  region = none\n[profile other]\nregion=eu-west-2\n"
        "[profile three]\naws_access_key_id=three\naws_secret_access_key=third\n"
        "[profile role]\nrole_arn=arn:aws:iam::1:role/x\n"
        "[three]\nregion=nowhere\n")
    works()
    assert set(checker.seen) == {"eu-west-1"}
    monkeypatch.setenv("AWS_PROFILE", "other")
    works()
    assert checker.seen[-1] == "eu-west-2"
    monkeypatch.setenv("AWS_PROFILE", "three")
    works()
    assert checker.seen[-1] == "us-east-1"
    monkeypatch.setenv("AWS_PROFILE", "role")
    with pytest.raises(tf.errors.UnimplementedError, match="export"):
        works()
    monkeypatch.setenv("AWS_PROFILE", "none")
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        works()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    with pytest.raises(tf.errors.InvalidArgumentError, match="both"):
        works()
    monkeypatch.delenv("AWS_PROFILE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t/+=")
    works()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "mine"))
    (tmp_path / "mine").write_text(
        "[default]\naws_access_key_id=id\naws_secret_access_key=s3cr3t/+=\nendpoint_url=http://x\n")
    works()


def test_without_an_account(checker):
    with pytest.raises(tf.errors.PermissionDeniedError, match="credentials"):
        tf.io.read_file("s3://bucket/a")
    assert not checker.seen


def test_names_that_cannot_be(monkeypatch):
    for path, word in (("s3://", "bucket"), ("s3://a/b", "bucket"), ("s3://b ucket/key", "bucket")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=word):
            tf.io.read_file(path)
    for endpoint in ("localhost:9000", "ftp://host", "http://", "http://me:secret@host"):
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        with pytest.raises(tf.errors.InvalidArgumentError, match="AWS_ENDPOINT_URL_S3"):
            tf.io.read_file("s3://bucket/key")
