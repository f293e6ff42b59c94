"""Names, parameters and members of the data service: TensorFlow's 2.21, recorded by tools/record/service_names.py."""
import json
import pathlib

import pytest

import leat as tf

import signatures

RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "service_names.json").read_text())
OWN = json.loads(json.dumps(signatures.described(tf)))

VISITATION = {"name": "visitation", "kind": "positional_or_keyword", "default": "at_most_once"}
BYTES = ["snapshot_max_chunk_size_bytes", "memory_budget_bytes"]
# What leat has beyond TensorFlow, always behind what TensorFlow has.
MORE_PARAMETERS = {
    "experimental.service.distribute": [VISITATION],
    "experimental.service.from_dataset_id": [VISITATION],
    "experimental.service.WorkerConfig": [{"name": name, "kind": "positional_or_keyword", "default": None}
                                          for name in BYTES],
}
MORE_FIELDS = {"experimental.service.WorkerConfig": BYTES}
MORE_MEMBERS = {"experimental.service.WorkerConfig": dict.fromkeys(BYTES, "property")}


def test_names():
    assert sorted(OWN) == sorted(RECORDED)


@pytest.mark.parametrize("path", sorted(RECORDED))
def test_parameters_and_members(path):
    expected = RECORDED[path]
    if isinstance(expected, list):
        expected = expected + MORE_PARAMETERS.get(path, [])
    elif "parameters" in expected:
        expected = {"parameters": expected["parameters"] + MORE_PARAMETERS.get(path, []),
                    "fields": expected["fields"] + MORE_FIELDS.get(path, []),
                    "members": {**expected["members"], **MORE_MEMBERS.get(path, {})}}
    assert OWN[path] == expected
