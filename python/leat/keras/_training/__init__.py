"""Training of models: what `fit` is given, and its loop."""
