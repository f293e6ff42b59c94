"""How the real Keras learns of datasets, shown with a package of its form; python/interop has the real one."""

import os
import subprocess
import sys

import pytest

ADAPTERS = """
class data_adapter:
    __package__ = __name__
    class DataAdapter:
        pass
class distribution_lib:
    @staticmethod
    def distribution():
        return None
def get_data_adapter(x, y=None, sample_weight=None, batch_size=None, steps_per_epoch=None, shuffle=False,
                     class_weight=None):
    return f"keras takes {x}"
"""
UTILITIES = """
def unpack_x_y_sample_weight(data):
    data = data if isinstance(data, tuple) else (data,)
    return (*data, None, None)[:3]
def class_weight_to_sample_weights(y, class_weight):
    return [class_weight[int(i)] for i in y]
"""
PROGRAM = """
import leat
numbers = leat.data.Dataset.range(5).batch(2)
found = data_adapters.get_data_adapter(numbers)
assert isinstance(found, data_adapters.data_adapter.DataAdapter)
assert [batch.tolist() for batch in found.get_numpy_iterator()] == [[0, 1], [2, 3], [4]]
assert (found.num_batches, found.batch_size, found.has_partial_batch) == (3, None, None)
pairs = leat.data.Dataset.from_tensor_slices(([1., 2.], [0, 1])).batch(2)
(x, y, weights), = data_adapters.get_data_adapter(pairs, class_weight={0: 5, 1: 7}).get_numpy_iterator()
assert weights == [5, 7]
assert data_adapters.get_data_adapter(3) == "keras takes 3"
import sys
assert not any(type(finder).__module__ == "leat.data.real_keras" for finder in sys.meta_path)
"""


@pytest.mark.parametrize("first", ["", "import leat.data\n"])
def test_keras_learns_of_datasets_whichever_is_first(tmp_path, first):
    folder = tmp_path / "keras" / "src" / "trainers" / "data_adapters"
    folder.mkdir(parents=True)
    for package in ("keras", "keras/src", "keras/src/trainers"):
        (tmp_path / package / "__init__.py").write_text("")
    (folder / "__init__.py").write_text(ADAPTERS)
    (folder / "data_adapter_utils.py").write_text(UTILITIES)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run([sys.executable, "-c", first + "from keras.src.trainers import data_adapters\n" + PROGRAM],
                   check=True, timeout=120, env={**os.environ, "PYTHONPATH": path})


def test_a_program_without_keras_goes_on():
    subprocess.run([sys.executable, "-c", "import leat.data\ntry:\n    import keras.src.trainers.data_adapters\n"
                    "except ModuleNotFoundError:\n    pass"], check=True, timeout=120)
