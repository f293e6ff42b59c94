"""Records what TensorFlow gives for calls of a line each: run with a Python that has it, from the repository's root."""

import json
import pathlib
import sys

sys.path.insert(0, "python/tests")
import small_agreements
import tensorflow as tf

found = small_agreements.outcomes(tf)
lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
pathlib.Path("python/tests/data/small_agreements.json").write_text("{\n" + lines + "\n}\n")
