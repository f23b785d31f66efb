"""Training for real: on a CPU, a GPU or several; to be stopped and continued. `training.py` has the small loop."""
