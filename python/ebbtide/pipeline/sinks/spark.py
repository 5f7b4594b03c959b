"""Any sink that Spark can write a DataFrame to, batch by batch.

    path       a folder a batch in it, path/batch=12, which a batch that comes again replaces
    no path    what `format` and `options` say: JDBC, a table format, a Python data source

Invariant: with a path every batch is there once. Without one it is once if the format can tell that
a batch came again, from `{batch}` in its options (Delta's txnVersion); else the last batch may be
there twice after a crash.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ebbtide.pipeline.errors import PipelineError
from ebbtide.testing.crash import crash_point


class BatchFolders:
    """The folders of batches that are in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, batch: int) -> Path:
        """The folder of a batch."""
        return self.folder / f"batch={batch}"

    def written(self) -> list[Path]:
        """Those that are there."""
        return sorted(path for path in self._visible() if self._is_own(path))

    def others(self) -> list[Path]:
        """What else is there, and a reader of the folder would take for rows."""
        return sorted(path for path in self._visible() if not self._is_own(path))

    def reset(self) -> None:
        """Take away what was written."""
        for folder in self.written():
            shutil.rmtree(folder)

    def _visible(self) -> Iterator[Path]:
        return self.folder.glob("[!._]*")

    def _is_own(self, path: Path) -> bool:
        return re.fullmatch(r"batch=\d+", path.name) is not None and path.is_dir()


class SparkSink:
    """Writes rows, made into a table, with `DataFrame.write`."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        format: str,
        table: Callable[[Any], Any],
        folders: BatchFolders | None,
        mode: str,
        options: Mapping[str, str],
    ) -> None:
        self._spark = spark
        self._name = name
        self._format = format
        self._table = table
        self._folders = folders
        self._mode = mode
        self._options = dict(options)

    def write(self, batch: int, rows: Any) -> None:
        """Write the rows of a batch."""
        table = self._table(rows)
        folder = None if self._folders is None else self._folders.of(batch)
        if table.num_rows:
            self._save(batch, table, folder)
        elif folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        crash_point("sink", f"{self._name}-{batch}")

    def close(self) -> None:
        """Nothing is open."""

    def _save(self, batch: int, table: Any, folder: Path | None) -> None:
        given = {
            name: value.replace("{batch}", str(batch)) for name, value in self._options.items()
        }
        # One task: a file a batch, with the rows in order.
        frame = self._spark.createDataFrame(table).coalesce(1)
        writer = frame.write.format(self._format).options(**given)
        try:
            if folder is None:
                writer.mode(self._mode).save()
            else:
                writer.mode("overwrite").save(str(folder))
        except (PySparkException, Py4JJavaError) as error:
            told = getattr(error, "java_exception", error)
            sentence = str(told).splitlines()[0]
            # Most formats have no structs, which answers are unless they are said to be plain.
            structs = [field.name for field in table.schema if pa.types.is_struct(field.type)]
            plain = ", ".join(f'{name} = "string"' for name in structs)
            way = f"; types = {{ {plain} }} makes it plain" if "STRUCT<" in sentence.upper() else ""
            raise PipelineError(f"{self._name}: Spark cannot write it: {sentence}{way}") from None
