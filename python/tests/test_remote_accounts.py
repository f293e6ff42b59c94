"""Who asks gs:// and az://, and what only one of them has (docs/REMOTE.md), beside the servers of remote_stores.py."""
import base64
import json
import pathlib
import subprocess
import time

import pytest

import leat as tf
import remote_servers as servers
import remote_stores as stores
from test_remote_stores import KEY, MIB, account  # pylint: disable=unused-import

pytestmark = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_curl.so").exists(),
                                reason="this build has no libcurl")
needs_openssl = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_crypto.so").exists(),
                                   reason="this build has no OpenSSL")


def works(scheme):
    """Every kind of request is answered."""
    path = f"{scheme}://bucket/a b+ä%/c"
    tf.io.write_file(path, "text")
    assert tf.io.read_file(path).numpy() == b"text"
    assert tf.io.gfile.stat(path).length == 4
    assert tf.io.gfile.listdir(f"{scheme}://bucket/a b+ä%") == ["c"]
    tf.io.gfile.remove(path)
    assert not tf.io.gfile.exists(path)


# ---- Google's ----

@pytest.fixture(name="google")
def of_google(monkeypatch):
    """A server that wants tokens."""
    with stores.store(stores.Google) as server:
        server.buckets.add("bucket")
        server.tokens.add("nobody's")
        monkeypatch.setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", server.url + "/storage/v1/")
        yield server


def letters(text):
    """The bytes behind base64 of web addresses."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@needs_openssl
def test_service_accounts(google, monkeypatch, tmp_path):
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(key)],
                   check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", str(key), "-pubout", "-out", str(tmp_path / "pub.pem")], check=True)
    seen = []

    def claims(said):
        head, body, signature = said["assertion"][0].split(".")
        assert said["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        assert json.loads(letters(head)) == {"alg": "RS256", "typ": "JWT"}
        (tmp_path / "signature").write_bytes(letters(signature))
        (tmp_path / "text").write_text(f"{head}.{body}")
        seen.append(json.loads(letters(body)))
        return subprocess.run(["openssl", "dgst", "-sha256", "-verify", str(tmp_path / "pub.pem"), "-signature",
                               str(tmp_path / "signature"), str(tmp_path / "text")], check=False,
                              capture_output=True).returncode == 0

    google.claims = claims
    file = tmp_path / "account.json"
    account_of = {"type": "service_account", "client_email": "me@project.iam", "private_key": key.read_text(),
                  "token_uri": google.url + "/token"}
    file.write_text(json.dumps(account_of))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    works("gs")
    assert len(seen) == 1  # one token does for all
    assert seen[0]["iss"] == "me@project.iam" and seen[0]["aud"] == google.url + "/token"
    assert abs(seen[0]["iat"] - time.time()) < 100 and seen[0]["exp"] == seen[0]["iat"] + 3600
    assert seen[0]["scope"] == "https://www.googleapis.com/auth/devstorage.read_write"
    for change, error, word in (
            ({"private_key": "none"}, tf.errors.InvalidArgumentError, "private_key"),
            ({"client_email": None}, tf.errors.InvalidArgumentError, "client_email"),
            ({"type": "external_account"}, tf.errors.UnimplementedError, "CLOUDSDK_AUTH_ACCESS_TOKEN")):
        other = tmp_path / f"{word}.json"
        other.write_text(json.dumps({**account_of, **change}))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other))
        with pytest.raises(error, match=word):
            tf.io.gfile.listdir("gs://bucket")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none"))
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.listdir("gs://bucket")


def test_logins(google, monkeypatch, tmp_path):
    login = {"type": "authorized_user", "client_id": "id/1", "client_secret": "s&=", "refresh_token": "1//r+",
             "token_uri": google.url + "/token"}
    google.claims = lambda said: (said["grant_type"], said["client_id"], said["client_secret"],
                                  said["refresh_token"]) == (["refresh_token"], ["id/1"], ["s&="], ["1//r+"])
    folder = tmp_path / ".config" / "gcloud"
    folder.mkdir(parents=True)
    (folder / "application_default_credentials.json").write_text(json.dumps(login))
    works("gs")
    (tmp_path / "application_default_credentials.json").write_text(json.dumps({**login, "client_secret": "no"}))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    with pytest.raises(tf.errors.PermissionDeniedError, match="invalid_grant"):
        works("gs")


def test_other_tokens(google, monkeypatch):
    with pytest.raises(tf.errors.PermissionDeniedError, match="GOOGLE_APPLICATION_CREDENTIALS"):
        tf.io.gfile.listdir("gs://bucket")
    monkeypatch.setenv("GCE_METADATA_HOST", google.url.removeprefix("http://"))
    works("gs")
    monkeypatch.delenv("GCE_METADATA_HOST")
    google.tokens.add("mine")
    monkeypatch.setenv("CLOUDSDK_AUTH_ACCESS_TOKEN", "mine")
    works("gs")


def test_tokens_that_end(google, monkeypatch):
    """A file is read for longer than its token lasts."""
    data = servers.content(MIB + 65536)
    google.put(("bucket", "data"), data)
    monkeypatch.setenv("GCE_METADATA_HOST", google.url.removeprefix("http://"))
    google.life = 300  # of which leat leaves five minutes
    with tf.io.gfile.GFile("gs://bucket/data", "rb") as file:
        have = file.read(10)  # nothing is asked for ahead
        google.tokens.clear()
        google.tokens.add("nobody's")
        file.seek(MIB)  # behind what was asked for at first
        have += file.read()
    assert have == data[:10] + data[MIB:]
    assert len(google.tokens) > 1


@pytest.mark.parametrize("keeps", [[0], [16 * MIB, 20 * MIB], [1, 0, 0, 5 * MIB], [16 * MIB, 32 * MIB, 33 * MIB]])
def test_servers_that_keep_less(google, monkeypatch, keeps):
    """Of a piece that they are sent; the rest comes again."""
    google.tokens.clear()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", google.url)
    data = servers.content(33 * MIB + 5)
    google.keeps.extend(keeps)
    tf.io.write_file("gs://bucket/data", data)
    assert google.objects["bucket", "data"][0] == data


def test_uploads_that_are_given_up(google, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", google.url)
    google.tokens.clear()
    google.keeps.extend([0] * 20)
    with pytest.raises(tf.errors.DataLossError, match="again"):
        tf.io.write_file("gs://bucket/data", bytes(40 * MIB))
    deadline = time.monotonic() + 60
    while google.uploads and time.monotonic() < deadline:
        tf.io.gfile.exists("gs://bucket/data")
    assert not google.uploads and not google.objects


def test_answers_that_are_none(google, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", google.url)
    for body, word in ((b"<html>", "STORAGE_EMULATOR_HOST"), (b'{"items": [{}]}', "name"), (b"[1]", "Google")):
        google.plan.append(lambda handler, body=body: handler.give(body) or True)
        with pytest.raises(tf.errors.DataLossError, match=word):
            tf.io.gfile.listdir("gs://bucket")
    names = b'{"items": [{"name": "a/b"}, {"name": ".."}, {"name": "c"}]}'
    google.plan.append(lambda handler: handler.give(names) or True)
    assert tf.io.gfile.listdir("gs://bucket") == ["c"]


def test_endpoints_that_are_none(monkeypatch):
    for endpoint in ("ftp://host", "http://", "http://me:secret@host"):
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", endpoint)
        with pytest.raises(tf.errors.InvalidArgumentError, match="STORAGE_EMULATOR_HOST") as caught:
            tf.io.read_file("gs://bucket/key")
        assert "secret" not in str(caught.value)


# ---- Azure's ----

@pytest.fixture(name="azure")
def of_azure():
    with stores.store(stores.Azure) as server:
        server.buckets.update(("bucket", "$root"))
        server.key = KEY
        yield server


def test_accounts(azure, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_SERVICE_ENDPOINT", azure.url)
    for name, key in (("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"),
                      ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY")):
        monkeypatch.setenv(name, "someone")
        monkeypatch.setenv(key, KEY)
        works("az")
        monkeypatch.delenv(name)
        monkeypatch.delenv(key)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING",
                       f"DefaultEndpointsProtocol=https;AccountName=someone;AccountKey={KEY};"
                       f"BlobEndpoint={azure.url}")
    works("az")
    tf.io.write_file("az://$root/a", "a")
    for key in ("d3Jvbmc=", "???", ""):
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING",
                           f"AccountName=someone;AccountKey={key};BlobEndpoint={azure.url}")
        with pytest.raises(tf.errors.PermissionDeniedError, match="AuthenticationFailed"):
            tf.io.gfile.listdir("az://bucket")


def test_tokens_in_queries(azure, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_SERVICE_ENDPOINT", azure.url)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "someone")
    azure.tokens.add("s+/=")
    for mark in ("", "?"):
        monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", mark + "sv=2020-08-04&sp=rwdl&sig=s%2B%2F%3D")
        works("az")
        data = servers.content(40 * MIB)
        tf.io.write_file("az://bucket/data", data)
        assert tf.io.read_file("az://bucket/data").numpy() == data
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "sig=secret")
    with pytest.raises(tf.errors.PermissionDeniedError, match="AZURE_STORAGE_SAS_TOKEN") as caught:
        tf.io.read_file("az://bucket/data")
    assert "secret" not in str(caught.value)


def test_without_an_account(azure, monkeypatch):
    with pytest.raises(tf.errors.InvalidArgumentError, match="AZURE_STORAGE_ACCOUNT"):
        tf.io.read_file("az://bucket/a")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "someone")
    monkeypatch.setenv("AZURE_STORAGE_SERVICE_ENDPOINT", azure.url)
    with pytest.raises(tf.errors.PermissionDeniedError, match="AZURE_STORAGE_KEY"):
        tf.io.read_file("az://bucket/a")
    azure.key = None
    azure.put(("bucket", "a"), b"public")
    assert tf.io.read_file("az://bucket/a").numpy() == b"public"


def test_two_writers_of_a_blob(azure, monkeypatch):
    """Their blocks are told from each other, so the blob is one of theirs and no mixture."""
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING",
                       f"AccountName=someone;AccountKey={KEY};BlobEndpoint={azure.url}")
    one, other = (tf._native.FileWriter.open("az://bucket/a") for _ in range(2))
    for _ in range(3):
        one.write(b"1" * (16 * MIB))
        other.write(b"2" * (16 * MIB))
    one.close()
    assert tf.io.read_file("az://bucket/a").numpy() == b"1" * (48 * MIB)
    with pytest.raises(tf.errors.InvalidArgumentError, match="InvalidBlockList"):
        other.close()
    assert tf.io.read_file("az://bucket/a").numpy() == b"1" * (48 * MIB)


def test_lists_that_are_none(azure, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING",
                       f"AccountName=someone;AccountKey={KEY};BlobEndpoint={azure.url}")
    azure.plan.append(lambda handler: handler.give(b"<html>") or True)
    with pytest.raises(tf.errors.DataLossError, match="blobs"):
        tf.io.gfile.listdir("az://bucket")
    with pytest.raises(tf.errors.InvalidArgumentError, match="container"):
        tf.io.read_file("az://a/b")
