"""leat.data.browse: what the first elements are shown as, escaped, bounded and without anything from elsewhere."""

import base64
import collections
import html.parser
import re

import numpy as np
import pytest

import leat as tf

D, browse = tf.data.Dataset, tf.data.browse


class Page(html.parser.HTMLParser):
    """The tags, texts and pictures of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts, self.pictures = collections.Counter(), [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        if tag not in ("img", "br", "meta", "rect"):
            self.open.append(tag)
        if tag == "img":
            kind, data = re.fullmatch(r"data:image/(png|jpeg);base64,(.*)", dict(attributes)["src"]).groups()
            self.pictures.append((kind, base64.b64decode(data)))
        assert not any(name.startswith("on") or name in ("href", "srcdoc") for name, _ in attributes)

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def page_of(dataset, *arguments):
    page = Page(browse(dataset, *arguments)._repr_html_())
    assert page.open == [] and not page.tags.keys() & {"script", "iframe", "link", "object"}
    return page


def test_components_have_names_shapes_and_ranges():
    Pair = collections.namedtuple("Pair", "first second")
    rows = D.from_tensor_slices({"z": (np.arange(6), Pair([1.5] * 6, ["ab", "c", "", "d", "e", "f"])), "a": [True] * 6})
    shown = repr(browse(rows, 4)).splitlines()
    assert shown[0].startswith("4 elements of <_TensorSliceDataset")
    assert shown[1:] == ["  a: bool (), 1 to 1, mean 1", "  z[0]: int64 (), 0 to 3, mean 1.5",
                         "  z[1].first: float32 (), 1.5 to 1.5, mean 1.5", "  z[1].second: string (), 0 to 2 bytes"]
    page = page_of(rows, 4)
    assert page.tags["svg"] == 4 and page.tags["tr"] == 6 and "4 elements; more follow" in page.texts
    assert "6 elements; that is all of it" in page_of(rows, 9).texts
    assert repr(browse(D.range(3).map(lambda x: tf.cast(x, tf.float32) / 0))).endswith("3 not finite")
    assert repr(browse(D.range(0))).endswith("element: ")


def test_pictures_are_those_of_the_data():
    pixels = np.random.default_rng(0).integers(0, 256, (2, 5, 7, 3)).astype(np.uint8)
    page = page_of(D.from_tensor_slices(pixels))
    assert [kind for kind, _ in page.pictures] == ["png"] * 2
    for (_, data), expected in zip(page.pictures, pixels):
        assert np.array_equal(tf.io.decode_png(data).numpy(), expected)
    floats = page_of(D.from_tensors(pixels[0] / np.float32(255)))
    assert np.array_equal(tf.io.decode_png(floats.pictures[0][1]).numpy(), pixels[0])
    many = page_of(D.from_tensors(np.zeros((9, 8, 8, 1), np.uint8)))
    assert len(many.pictures) == 4 and " ..." in many.texts
    large, = page_of(D.from_tensors(np.zeros((1000, 300, 3), np.uint8))).pictures
    assert tf.io.decode_png(large[1]).shape == (125, 38, 3)
    signed = np.array([-2, 0, 2, np.nan], np.float32)[:, None, None] * np.ones((4, 4, 1))
    signed, = page_of(D.from_tensors(signed)).pictures
    assert tf.io.decode_png(signed[1]).numpy()[:, 0, 0].tolist() == [0, 128, 255, 0]


def test_files_of_pictures_are_shown_as_they_are():
    png = tf.io.encode_png(np.zeros((4, 4, 3), np.uint8)).numpy()
    page = page_of(D.from_tensors({"small": png, "large": png + bytes(50000)}))
    assert page.pictures == [("png", png)] and f"{len(png)} bytes of PNG" in page.texts
    assert f"{len(png) + 50000} bytes of PNG" in page.texts


def test_what_the_data_says_is_escaped():
    evil = b"</pre><script>alert(1)</script><img src=x onerror=alert(2)>\x00\xff\n&amp;"
    page = page_of(D.from_tensors({"<b onclick=x>": evil}))
    assert "<b onclick=x>" in page.texts
    assert "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\\x00\\xff\\n&amp;" in page.texts

    def fail(x):
        raise ValueError("<script>x</script>")
    failing = page_of(D.range(5).map(lambda x: tf.py_function(fail, [x], tf.int64)))
    assert any("<script>x</script>" in text for text in failing.texts)


def test_pages_have_a_largest_size():
    noise = np.random.default_rng(0).integers(0, 256, (400, 128, 128, 1)).astype(np.uint8)
    text = browse(D.from_tensor_slices(noise), 400)._repr_html_()
    assert 1 << 20 < len(text) < 3 << 20 and "left out, the page is full" in text
    assert len(browse(D.from_tensors("x" * 10**6))._repr_html_()) < 5000
    assert len(browse(D.from_tensors(np.arange(10**6)))._repr_html_()) < 5000


def test_elements_that_fail_have_their_place():
    rows = D.from_tensor_slices([1, 0, 2]).map(lambda x: 6 // x)
    shown = page_of(rows)
    assert any(text.startswith("InvalidArgumentError") for text in shown.texts) and "6" in shown.texts
    assert "3" in shown.texts and "3 elements; that is all of it" in shown.texts


def test_other_values():
    ragged = D.from_tensors(tf.ragged.constant([[1, 2], [3]]))
    assert "ragged [[1, 2], [3]]" in page_of(ragged).texts
    assert page_of(D.from_tensors((np.zeros((0, 3)), None))).tags["tr"] == 3
    assert page_of(D.range(4).window(2)).tags["tr"] == 4
    assert page_of(D.from_tensors(tf.constant([1.5], tf.bfloat16))).tags["tr"] == 3


def test_saved_pages_need_nothing(tmp_path):
    browse(D.range(3)).save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.startswith("<!DOCTYPE html>") and "default-src 'none'" in text
    assert Page(text).open == []
    D.range(100).map(lambda x: x + 1, name="<b>").explain().save(tmp_path / "explain.html")
    explained = Page((tmp_path / "explain.html").read_text())
    assert explained.open == [] and {"svg", "pre"} <= explained.tags.keys() and "script" not in explained.tags
    with pytest.raises(OSError):
        browse(D.range(3)).save(tmp_path / "nowhere" / "page.html")
    for wrong, error in ((lambda: browse([1]), TypeError), (lambda: browse(D.range(3), 0), ValueError)):
        with pytest.raises(error):
            wrong()
