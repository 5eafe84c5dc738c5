"""Writes the published JSON Schema files from the dataclasses."""

from pathlib import Path

from mpsdoctor.facts.schema import write_schemas

if __name__ == "__main__":
    write_schemas(Path(__file__).resolve().parent.parent / "mpsdoctor" / "facts")
