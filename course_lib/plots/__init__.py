"""The figures: `common` has those that several lessons use, the other files one lesson's each."""
