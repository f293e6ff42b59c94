"""The library's table of dataset operators, and what makes a dataset of one."""

import json

from leat import _native
from leat._core.later import Hook

OPERATORS = {entry["name"]: entry for entry in json.loads(_native.dataset_operators())}
make = Hook()  # (operator, structure of datasets, arguments, name): a dataset; leat.data.dataset
