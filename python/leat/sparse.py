"""``tf.sparse``: functions of sparse tensors."""

from leat._structures.crosses import sparse_cross as cross
from leat._structures.crosses import sparse_cross_hashed as cross_hashed
from leat._structures.sparse import SparseTensor, SparseTensorValue
from leat._structures.sparse_numbers import bincount, maximum, minimum, sampled_addmm, softmax
from leat._structures.sparse_rows import (add, concat, expand_dims, eye, fill_empty_rows, from_dense, map_values, mask,
                                          reduce_max, reduce_sum, reorder, reset_shape, reshape, retain, segment_mean,
                                          segment_sqrt_n, segment_sum, slice, sparse_dense_matmul, split, to_dense,
                                          to_indicator, transpose)
