"""Records what programs of compile and fit give and print under Keras: python/tests/data/keras_fits.json.

    python keras_fits.py python/tests/data/keras_fits.json         (with TensorFlow and Keras installed)
"""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile

import keras
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests"))
import keras_programs  # noqa: E402


def main(path):
    recorded = {}
    for program in keras_programs.PROGRAMS:
        keras.backend.clear_session()
        text = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(text):
            found = program(tf, keras, folder)
        recorded[program.__name__] = {"gives": found, "prints": re.sub(r"\d+(ms|us|s)\b", "T", text.getvalue())}
    with open(path, "w") as file:
        json.dump({"keras": keras.__version__, "programs": recorded}, file, indent=0)
        file.write("\n")


main(sys.argv[1])
