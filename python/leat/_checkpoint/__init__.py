"""Checkpoints in TensorFlow's format: the graph of objects, files, restoring, and folders of checkpoints."""
