"""The trainable twins in PyTorch: the names of `reference` in CamelCase. Each is tested against its twin."""
