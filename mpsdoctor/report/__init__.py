"""Formatters, one pure function per file, and the report that they format."""
