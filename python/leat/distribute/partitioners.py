"""``tf.distribute.experimental.partitioners``: UnimplementedError, since leat has no parameter servers."""

from leat.distribute.absent import absent

FixedShardsPartitioner = absent("FixedShardsPartitioner", "parameter servers with shards of variables")
MaxSizePartitioner = absent("MaxSizePartitioner", "parameter servers with shards of variables")
MinSizePartitioner = absent("MinSizePartitioner", "parameter servers with shards of variables")
Partitioner = absent("Partitioner", "parameter servers with shards of variables")

__all__ = ["FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner"]
