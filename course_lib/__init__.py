"""The companion package of the course *Attention, one cell at a time*."""

__version__ = "0.1.0"
