"""``tf.experimental``: DLPack, optional values, types of one's own and what operations do with them."""

from leat._core import later
from leat.data.optional import Optional
from leat.experimental import dlpack

__all__ = ["Optional", "dlpack"]
later.module(__name__, {}, homes={
    "leat._api.rare": "async_clear_error async_scope",
    "leat._structures.extension_type": "BatchableExtensionType ExtensionType ExtensionTypeSpec",
    "leat._structures.ragged_shapes": "DynamicRaggedShape RowPartition",
    "leat._graph.dispatching": "dispatch_for_api dispatch_for_binary_elementwise_apis "
                               "dispatch_for_binary_elementwise_assert_apis dispatch_for_unary_elementwise_apis "
                               "unregister_dispatch_for",
}, modules=["leat.experimental.extension_type", "leat.experimental.numpy"])
