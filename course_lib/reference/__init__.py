"""The definitions in NumPy, as the lessons write them. They may be slow; they may not be clever."""
