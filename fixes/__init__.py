"""The built-in fixes, one module each. Pure functions of a situation; found by entry point like any plug-in."""
