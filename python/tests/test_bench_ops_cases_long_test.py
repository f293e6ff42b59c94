"""bench/ops: every line of its table runs, and says which operations have none."""

import importlib
import pathlib

ROOT = pathlib.Path(__file__).parents[2]


def test_every_line_of_the_table_runs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/ops"))
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    worker, cases = importlib.import_module("worker"), importlib.import_module("cases")
    side = worker.Side("leat")
    for case in cases.table().values():
        if "complexes" in str(case.made) and not hasattr(side.tf, "complex64"):
            continue
        for form in ("eager", *(["numpy"] if case.numpy else [])):
            assert side.prepare({"case": case.name, "size": "small", "form": form, "seconds": 0})["outputs"] is not None
    covered = side.covered({})
    assert "math.tanh" in covered["with"] and not {"math.tanh", "while_loop"} & set(covered["without"])
