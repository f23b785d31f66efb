"""The tasks of the lessons: one seeded, offline generator a file."""
