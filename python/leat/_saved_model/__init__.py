"""SavedModels: TensorFlow's messages, functions as its graphs and back, saving and loading."""
