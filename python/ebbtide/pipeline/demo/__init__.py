"""The demo: the paper's mobility scenario, an ordinary pipeline file that comes with the package.

Reports come once a second and hold for three, so when a train leaves a city, its passengers leave
the city three seconds later by themselves: nobody has to say that they are gone.
"""

from __future__ import annotations

from importlib.resources import as_file, files

from msgspec.structs import replace

from ebbtide.pipeline.file import Pipeline, load_pipeline
from ebbtide.pipeline.file.model import Generated


def demo_pipeline(seconds: int, seed: int) -> Pipeline:
    """The pipeline of the demo, for some seconds of a stream."""
    with as_file(files("ebbtide.pipeline.demo")) as folder:
        pipeline = load_pipeline(folder / "commuters.toml")
    reports = pipeline.streams["reports"]
    assert isinstance(reports, Generated)
    return replace(pipeline, streams={"reports": replace(reports, seconds=seconds, seed=seed)})
