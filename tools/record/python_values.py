"""Records what TensorFlow makes of Python's values: run with a Python that has it, from the repository's root."""

import json
import pathlib
import sys

sys.path.insert(0, "python/tests")
import python_values
import tensorflow as tf

found = python_values.outcomes(tf)
lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
pathlib.Path("python/tests/data/python_values.json").write_text("{\n" + lines + "\n}\n")
