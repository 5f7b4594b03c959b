"""What the validation library says of a pipeline file, in words of ours.

in    Object contains unknown field `windw` - at `$.streams`
out   streams: there is no key windw; did you mean window?
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from ebbtide.pipeline.file import model
from ebbtide.program.wording import did_you_mean

#: Kinds of values by the names that the library has for them.
_KINDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


def said(error: msgspec.ValidationError, value: Any, kind: Any) -> tuple[str, str]:
    """The path of the key that is wrong in a value, and what is wrong with it."""
    sentence, _, at = str(error).partition(" - at `$")
    path = at.rstrip("`").removeprefix(".")
    # The library does not tell the key of a table in which any may stand.
    while "[...]" in path and (key := _wrong_key(value, kind, path.partition("[...]")[0])):
        path = path.replace("[...]", f".{key}", 1)
    return path, _sentence(sentence, value, kind, _last_key(path))


def _wrong_key(value: Any, kind: Any, path: str) -> str | None:
    """The first key of an inner table that is wrong by itself."""
    inner = value
    for part in path.split("."):
        inner = inner[part]
    return next((key for key in inner if _fails(_only(value, path.split("."), key), kind)), None)


def _only(value: Any, path: list[str], key: str) -> Any:
    """A value whose inner table has one key alone."""
    if not path:
        return {key: value[key]}
    return {**value, path[0]: _only(value[path[0]], path[1:], key)}


def _fails(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return True
    return False


def _sentence(sentence: str, value: Any, kind: Any, key: str) -> str:
    """The sentence, with the nearest known key."""
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", sentence)
    if unknown is not None:
        return f"there is no key {unknown[1]}{did_you_mean(unknown[1], _keys(kind))}"
    missing = re.fullmatch(r"Object missing required field `(.*)`", sentence)
    if missing is not None:
        return f"the key {missing[1]} is missing"
    invalid = re.fullmatch(r"Invalid value '(.*)'", sentence)
    if invalid is not None and isinstance(value, Mapping):
        known = ", ".join(_tags(kind))
        return f"{invalid[1]} is none of {known}" if known else sentence
    invalid = re.fullmatch(r"Invalid enum value '(.*)'", sentence)
    if invalid is not None and (known := ", ".join(_choices(kind, key, value))):
        return f"{invalid[1]} is none of {known}"
    if repr(model.COLUMN_TYPE) in sentence:
        return model.NO_COLUMN_TYPE
    if "matching regex" in sentence:
        return "not a duration (such as 500 ms, 3 s, 10 min, 2 h)"
    return _plain(sentence)


def _plain(sentence: str) -> str:
    """A sentence about kinds of values.

    >>> _plain("Expected `int | null`, got `str`")
    'expected a whole number, got a text'
    >>> _plain("Expected `array` of length >= 1")
    'expected a list of length >= 1'
    """

    def kinds(found: re.Match[str]) -> str:
        names = [name for name in found[1].split(" | ") if name != "null"]
        return " or ".join(_KINDS.get(name, name) for name in names)

    return re.sub("`(.*?)`", kinds, sentence[0].lower() + sentence[1:])


def _structs(kind: Any) -> list[Any]:
    parts = getattr(kind, "__args__", (kind,))
    return [part for part in parts if isinstance(part, type) and issubclass(part, model.Table)]


def _keys(kind: Any) -> set[str]:
    """Every key of the tables that `kind` may be, and of those within."""
    known: set[str] = set()
    for struct in _structs(kind):
        for each in msgspec.structs.fields(struct):
            known.add(each.encode_name)
            known |= _keys(each.type)
    return known


def _last_key(path: str) -> str:
    """The key that a path ends with.

    >>> _last_key("screen.changes[0]")
    'changes'
    """
    return re.sub(r"\[.*?\]", "", path).rpartition(".")[2]


def _choices(kind: Any, key: str, value: Any) -> list[str]:
    """What a key of a table, or of one within, may be; `value` tells which table it is."""
    found: dict[str, None] = {}
    for struct in _structs(kind):
        config = struct.__struct_config__
        if config.tag and isinstance(value, Mapping) and value.get(config.tag_field) != config.tag:
            continue
        for each in msgspec.structs.fields(struct):
            if each.encode_name == key:
                found |= dict.fromkeys(_literals(each.type))
            else:
                found |= dict.fromkeys(_choices(each.type, key, None))
    return list(found)


def _literals(kind: Any) -> Iterator[str]:
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    else:
        for part in get_args(kind):
            yield from _literals(part)


def _tags(kind: Any) -> list[str]:
    return [tag for struct in _structs(kind) if (tag := struct.__struct_config__.tag)]
