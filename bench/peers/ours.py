"""leat among the peers, by its Python package: TensorFlow's own functions of the cases, with leat in the place of TensorFlow."""
import json
import os
import subprocess
import sys

from cases.jpeg import tf_full_accurate, tf_rrc
from cases.records import tf_parse, tf_stream
from cases.small import tf_chain, tf_small
from cases.train import keras_fit, tf_step
from common import BUILD, Missing


def leat():
    sys.path.insert(0, os.path.join(BUILD, "python"))
    try:
        import leat as package
    except ImportError as e:
        raise Missing(e)
    return package


def allreduce(context, kind):
    """The program of `make bench`, which measures itself."""
    binary = os.path.join(BUILD, "bench", "leat_allreduce")
    if not os.path.exists(binary):
        raise Missing("bench/leat_allreduce is not built")
    out = subprocess.run([binary, str(context.seconds), kind], check=True, capture_output=True, text=True).stdout
    line = json.loads(out.strip().split("\n")[-1])
    return {"rate": line["rate"], "text": "mean %g" % line["mean"]}


def training(kind):
    return {"leat": lambda c: tf_step(c, kind, tf=leat()), "leat-fit": lambda c: keras_fit(c, kind, tf=leat())}


CASES = {
    "allreduce": {"leat": lambda c: allreduce(c, "shared"), "leat-gloo": lambda c: allreduce(c, "gloo")},
    "jpeg_full": {"leat": lambda c: tf_full_accurate(c, leat())},
    "jpeg_rrc": {"leat": lambda c: tf_rrc(c, leat()), "leat-fast": lambda c: tf_rrc(c, leat(), "fast")},
    "small_shuffle": {"leat": lambda c: tf_small(c, "plain", leat())},
    "chain_1": {"leat": lambda c: tf_chain(c, 1, tf=leat())},
    "chain_4": {"leat": lambda c: tf_chain(c, 4, tf=leat())},
    "chain_8": {"leat": lambda c: tf_chain(c, 8, tf=leat())},
    "tfrecord_small": {"leat": lambda c: tf_parse(c, "small", False, tf=leat())},
    "tfrecord_large": {"leat": lambda c: tf_parse(c, "large", False, tf=leat())},
    "stream_memory": {"leat": lambda c: tf_stream(c, leat())},
    "train_cnn8": training("cnn8"),
    "train_cnn28": training("cnn28"),
    "train_resnet50": training("resnet50"),
}
