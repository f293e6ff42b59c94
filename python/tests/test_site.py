"""The site of `make docs` in a browser, from its files: links, search, scripts, a phone's width.

Skipped where Chromium, or the packages of python/requirements-docs.txt, are missing.
"""

import html.parser
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

import pytest
from test_web_page import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.skipif(shutil.which("chromedriver") is None, reason="chromium-driver is missing"),
    pytest.mark.skipif(importlib.util.find_spec("myst_parser") is None, reason="no Sphinx; `make docs` installs it"),
]

# What newcomers ask, and the page that has to be among the first three.
QUESTIONS = """
how do I install leat | guides/first_pipeline
getting started with a pipeline | guides/first_pipeline
how do I train a model | guides/first_model
save and load a keras model | guides/other_files
custom training loop with GradientTape | guides/first_model
train on two machines | guides/first_cluster
TF_CONFIG for several workers | guides/workers
how do I write TFRecord files | guides/tfrecords
read tf.train.Example | guides/tfrecords
load images from folders | guides/class_folders
write a program in C | guides/c_program
read a csv file | guides/text_and_csv
TextVectorization vocabulary | guides/text_and_csv
how do I pad sequences | guides/padding_and_buckets
batch sequences of different lengths | guides/padding_and_buckets
bucket_by_sequence_length | guides/padding_and_buckets
read files from s3 | REMOTE
sliding window over a time series | guides/time_series
forecast with LSTM | guides/time_series
random flip and crop augmentation | guides/augmentation
mixup cutmix | guides/augmentation
pytorch DDP with DistributedSampler | guides/torch_ddp
train on a GPU | DEVICES
feed jax with batches | guides/jax
resume training after a crash | guides/resume
checkpoint the iterator in mid-epoch | guides/resume
difference from tensorflow | COMPATIBILITY
data service dispatcher and worker | guides/data_service
my input pipeline is slow | guides/slow_input
explain bottleneck | guides/slow_input
from pandas dataframe | guides/pandas_and_arrow
parquet files | guides/pandas_and_arrow
load a SavedModel | guides/other_files
read a TensorFlow checkpoint | guides/other_files
Cannot batch tensors with different shapes | guides/troubleshooting
No gradients provided for any variable | guides/troubleshooting
does it use my GPU | guides/faq
make results reproducible with seeds | guides/faq
leat compared to Grain DALI and torch DataLoader | guides/comparison
which names of TensorFlow are missing | NAMES
""".strip().split("\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-B", str(ROOT / "tools/website/main.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


@pytest.fixture(scope="module", params=[360, 1280], ids=["phone", "desk"])
def browser(request):
    made = Browser(request.param, False)
    made.width = request.param
    yield made
    made.close()


class Links(html.parser.HTMLParser):
    """The links of a page, and the places on it that links may name."""

    def __init__(self):
        super().__init__()
        self.to, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.names.add(found["id"])
        self.to += [found[key] for key in ("href", "src") if found.get(key)]


def test_links_lead_somewhere(site):
    pages = {}
    for path in site.rglob("*.html"):
        pages[path] = Links()
        pages[path].feed(path.read_text())
    broken = []
    for path, page in pages.items():
        for link in page.to:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            place = urllib.parse.unquote(parts.fragment)
            known = target not in pages or not place or place in pages[target].names
            if not target.exists() or not known:
                broken.append(f"{path.relative_to(site)}: {link}")
    assert len(pages) > 150 and broken == []


def test_nothing_comes_from_a_network(site):
    text = "".join(path.read_text() for path in site.glob("guides/*.html"))
    assert 'src="http' not in text and '<link rel="stylesheet" type="text/css" href="http' not in text


def test_the_reference_has_public_names_alone(site):
    layers = (site / "reference/tf.keras.layers.html").read_text()
    assert 'id="tf.keras.layers.Conv2D"' in layers and 'id="tf.keras.layers.BorderLayer"' not in layers
    names = [path.name for path in site.glob("reference/*.html")]
    assert not [name for name in names if "._" in name or "optimizers.multiple" in name]
    assert 'id="tf.image.resize"' in (site / "reference/tf.image.html").read_text()


@pytest.mark.parametrize("page", ["index", "guides/padding_and_buckets", "guides/comparison", "NAMES",
                                  "reference/tf.data", "guides/troubleshooting", "search"])
def test_pages_fit(site, browser, page):
    browser.open((site / (page + ".html")).as_uri())
    assert browser.run("return document.querySelector('.top input').offsetWidth") > 100
    assert browser.run("return document.documentElement.scrollWidth") <= browser.width
    assert browser.mistakes() == []


def test_the_box_asks(site, browser):
    browser.open((site / "guides/faq.html").as_uri())
    browser.run("document.querySelector('.top input').value = 'pad'; document.querySelector('.top button').click()")
    browser.wait("document.querySelectorAll('#search-results li').length > 0")
    browser.run("document.querySelector('#search-results a').click()")
    browser.wait("document.querySelector('h1').textContent.startsWith('Padding')")
    assert browser.mistakes() == []


def answers(browser, site, question):
    browser.open((site / "search.html").as_uri() + "?q=" + urllib.parse.quote(question))
    browser.wait("document.querySelector('#search-results h2').textContent === 'Search Results'")
    links = "[...document.querySelectorAll('#search-results li a')]"
    script = "return %s.slice(0, 3).map(a => a.getAttribute('href'))" % links
    return [link.partition(".html")[0] for link in browser.run(script)]


def test_questions_are_answered(site):
    assert len(QUESTIONS) == 40
    browser = Browser(1280, False)
    try:
        wrong = []
        for question, page in (line.split(" | ") for line in QUESTIONS):
            found = answers(browser, site, question)
            if page not in found:
                wrong.append((question, page, found))
        assert wrong == []
        assert browser.mistakes() == []
    finally:
        browser.close()
