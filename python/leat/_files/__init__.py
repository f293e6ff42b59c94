"""What reads and writes files of records and examples: the parts of ``tf.io`` and ``tf.train``."""
