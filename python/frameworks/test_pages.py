"""The blocks of docs/FRAMEWORKS.md and docs/COMING_FROM_TORCH.md, all of which run here."""

import importlib.util
import os

import pytest

import test_docs


@pytest.mark.parametrize("page", ["docs/FRAMEWORKS.md", "docs/COMING_FROM_TORCH.md"])
def test_blocks_run(page, tmp_path, monkeypatch):
    # Ray's workers are processes of their own, which find the package by the environment.
    monkeypatch.setenv("PYTHONPATH", os.path.abspath(os.environ["PYTHONPATH"]))
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    needed = {block.needs for block in test_docs.BLOCKS if block.page == page and block.needs is not None}
    assert needed and all(importlib.util.find_spec(name) is not None for name in needed)
    test_docs.test_blocks_run(page, tmp_path, monkeypatch)
