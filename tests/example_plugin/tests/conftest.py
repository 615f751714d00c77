"""The fixtures that come with treescribe."""

pytest_plugins = ["treescribe.testing"]
