"""The built-in checks, one module per family. Pure functions of facts; found by entry point like any plug-in."""
