"""The trained experiments of the lessons: each file trains small PyTorch models and returns plain numbers."""
