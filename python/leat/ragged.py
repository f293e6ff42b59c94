"""``tf.ragged``: making and joining ragged tensors."""

from leat._structures.crosses import ragged_cross as cross
from leat._structures.crosses import ragged_cross_hashed as cross_hashed
from leat._structures.ragged import RaggedTensor, constant
from leat._structures.ragged_rows import (boolean_mask, map_flat_values, range, row_splits_to_segment_ids,
                                          segment_ids_to_row_splits, stack, stack_dynamic_partitions)
