"""Grading a class: submitted code runs in a sandbox that holds no answer, and a second process compares.

Two sides. The student side (`worker`, `child`, `cells`, `rules`) has the submission and the inputs of the probes, and
sends back plain arrays, numbers and texts. The trusted side (all other files) never runs submitted code. Between them
lies `wire`: JSON and raw bytes, never pickle.
"""
