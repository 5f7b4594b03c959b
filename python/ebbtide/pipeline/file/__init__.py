"""The pipeline file: one validated TOML file that says what runs.

    streams, background, rules ──► outputs, dead letters      checkpoint, run, spark

`model` says what may stand in it, `load` reads one, `meaning` says what it means to the other
rooms, and an error names the key's path.
"""

from ebbtide.pipeline.file.load import load_pipeline, schema
from ebbtide.pipeline.file.model import Pipeline

__all__ = ["Pipeline", "load_pipeline", "schema"]
