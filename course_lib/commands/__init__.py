"""The larger commands of the command line, one file each. At import time they need the standard library alone."""
