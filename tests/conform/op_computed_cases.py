"""Cases of `computed`: attributes of other operations that the last inputs give."""
import json

import numpy as np

from op_case_model import DTYPE, F32, F64, I32, I64, INVALID, SHAPE, VALUE, case, floats


def computed(name, op, inputs, bound, outputs=None, arguments=None, error=None, **more):
    attributes = {"op": op, "arguments": json.dumps(arguments or {}), "bound": list(bound)}
    case("computed", name, list(inputs) + list(bound.values()), outputs, attributes, error=error, **more)


x = floats(2, 6)


def v(*values):
    return np.array(values, I64)


computed("reshape", "reshape", [x], {"shape": v(3, 4)}, x.reshape(3, 4), {"shape": [0]})
computed("reshape_open", "reshape", [x], {"shape": np.array([-1, 2], I32)}, x.reshape(6, 2), {"shape": []})
computed("slice_begin", "slice", [x], {"begin": v(1, 2)}, x[1:2, 2:5], {"begin": [0, 0], "size": [1, 3]})
computed("slice_both", "slice", [x], {"begin": v(0, 4), "size": v(2, -1)}, x[:, 4:], {"begin": [], "size": []})
computed("slice_strings", "slice", [[b"a", b"bc", b"def"]], {"begin": v(1)}, [b"bc"], {"begin": [0], "size": [1]})
computed("one_hot", "one_hot", [np.array([2, 0], I32)], {"depth": I32(3)}, np.eye(3, dtype=F32)[[2, 0]], {"depth": 0})
computed("expand_dims", "expand_dims", [x], {"axis": I32(-1)}, x[..., None], {"axis": 0})
computed("reshape_wrong", "reshape", [x], {"shape": v(5, 5)}, error=(INVALID, SHAPE, "12"), arguments={"shape": []})
computed("slice_outside", "slice", [x], {"begin": v(1, 5)}, error=(INVALID, SHAPE, "leave"), arguments={"begin": [], "size": [1, 3]})
computed("not_to_compute", "cast", [x], {"dtype": I32(1)}, error=(INVALID, VALUE, "compute"), arguments={"dtype": "int32"})
computed("no_argument", "square", [x], {"axis": I32(1)}, error=(INVALID, VALUE, "compute"))
computed("no_operation", "computed", [x], {"op": b"square"}, error=(INVALID, VALUE, "operation"))
computed("another_dtype", "reshape", [x], {"shape": np.zeros(2, F64)}, error=(INVALID, DTYPE, "float64"), arguments={"shape": []})
