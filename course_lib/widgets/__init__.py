"""The widgets: `common` has the slider shell over a figure, the other files one lesson's each."""
