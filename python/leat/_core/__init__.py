"""The lowest drawer: dtypes, shapes, specs and tensors, and functions that are made of tables."""
