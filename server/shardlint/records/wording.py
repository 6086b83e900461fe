"""pydantic's validation errors in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shardlint.records.files import UnusableError

_Model = TypeVar("_Model", bound=BaseModel)

_MOST_REASONS = 5
_LONGEST_KEY = 50

_REASONS: Mapping[str, str] = {
    "missing": "is missing",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_too_short": "must not be empty",
    "string_too_long": "must not be longer than {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "too_short": "must have at least {min_length} entry",
    "greater_than_equal": "must be at least {ge}",
}


def validated(model: type[_Model], data: object) -> _Model:
    """`data` as a `model`. Raises `UnusableError` with one clause that names each bad field and says what it should be."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        reasons = [_reason(item) for item in error.errors(include_url=False, include_input=False)]
    left = len(reasons) - _MOST_REASONS
    raise UnusableError("; ".join(reasons[:_MOST_REASONS]) + (f"; and {left} more" if left > 0 else ""))


def refuse_unknown_keys(model: type[BaseModel], data: object) -> None:
    """Raises ValueError for the first key of `data` that `model` does not have, naming the nearest that it has."""
    known = {field.alias or name for name, field in model.model_fields.items()}
    keys = list(cast("Mapping[str, object]", data)) if isinstance(data, Mapping) else []
    for key in keys:
        if key not in known:
            near = get_close_matches(key[:_LONGEST_KEY], known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(sorted(known))}"
            raise ValueError(f"unknown key `{key[:_LONGEST_KEY]}` ({hint})")


def _reason(item: ErrorDetails) -> str:
    context = item.get("ctx", {})
    where = _where(item["loc"])
    if item["type"] == "value_error":
        clause = str(context["error"])
        return f"`{where}`: {clause}" if where else clause
    template = _REASONS.get(item["type"])
    clause = template.format_map(context) if template else item["msg"]
    return f"`{where}` {clause}" if where else f"the whole {clause}"


def _where(loc: tuple[int | str, ...]) -> str:
    """`fix[0].title` for ("fix", 0, "title")."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return path.removeprefix(".")
