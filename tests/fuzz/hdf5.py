"""Weights in HDF5: hdf5.py [libFuzzer's flags] [CORPUS...], or hdf5.py --seeds FOLDER. `make fuzz TARGET=hdf5` runs it.

h5py reads the file and leat.keras decides what it may ask for, so the target is Python's, for atheris, which follows
leat's own lines; HDF5's library is not followed. Whatever the bytes are, a model either takes them as its weights or
refuses them by a ValueError or TypeError, and then no variable has changed; no other file is opened. One file in memory,
which has no name in any folder and so ends with the process however that ends, is read again and again.
"""

import os
import sys
import warnings

import atheris
import numpy as np

with atheris.instrument_imports(include=["leat.keras.saving", "leat._files"]):
    from leat import keras
    from leat.keras import layers
    from leat.keras.saving.files import load_weights_file, weights_bytes


def model():
    made = keras.Sequential([keras.Input((2,)), layers.Dense(2, activation="relu"), layers.BatchNormalization(),
                             layers.Dense(1)])
    made.compile("adam", "mse")
    made.optimizer.build(made.trainable_variables)
    return made


def seeds(folder):
    """Whole files to start from: of this model, and of one that it does not fit."""
    other = keras.Sequential([keras.Input((2,)), layers.Dense(3), layers.Dense(1)])
    for number, one in enumerate((model(), other)):
        one.save_weights(os.path.join(folder, "seed-%d.weights.h5" % number))
        os.rename(os.path.join(folder, "seed-%d.weights.h5" % number), os.path.join(folder, "seed-%04d" % number))


class Target:
    def __init__(self):
        self.model = model()
        self.file = os.memfd_create("weights")
        self.path = "/proc/self/fd/%d" % self.file
        self.write(weights_bytes(self.model))
        load_weights_file(self.model, self.path)  # what is imported late is there from now on
        self.variables = self.model.variables
        self.before = [variable.numpy() for variable in self.variables]
        self.opened = []
        sys.addaudithook(lambda event, args: self.opened.append(args[0]) if event == "open" else None)

    def write(self, data):
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, data, 0)

    def __call__(self, data):
        self.write(data)
        self.opened.clear()
        try:
            load_weights_file(self.model, self.path)
        except (ValueError, TypeError, NotImplementedError):
            for variable, old in zip(self.variables, self.before):
                if not np.array_equal(variable.numpy(), old):
                    raise RuntimeError("what is refused has changed %s" % variable.path) from None
        else:
            for variable, old in zip(self.variables, self.before):
                variable.assign(old)
        outside = [one for one in self.opened if not isinstance(one, int) and os.fspath(one) != self.path
                   and not str(one).endswith((".py", ".pyc"))]  # a traceback's lines
        if outside:
            raise RuntimeError("opened %s" % outside)


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--seeds"]:
        seeds(sys.argv[2])
        return
    atheris.Setup(sys.argv, Target())
    atheris.Fuzz()


if __name__ == "__main__":
    main()
