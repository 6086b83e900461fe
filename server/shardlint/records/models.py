"""pydantic models of the files that make a rule: `record.json`, `rule.toml`, `observed.json`, and `versions.toml`.

They are strict (no text is read as a number, no unknown key is passed over) but for one: a `Record` of somebody else's
may carry fields that this version does not know, and may leave out what finding and repairing does not need.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Any, Literal

from packaging.version import Version
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from shardlint.records.fields import (
    Dotted,
    ExampleText,
    Filled,
    Kebab,
    Kind,
    Level,
    Line,
    LineNumber,
    Pattern,
    Protocol,
    SafetyName,
    Short,
    Specifier,
    Template,
    VersionText,
)
from shardlint.records.wording import refuse_unknown_keys


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Table(BaseModel):
    """A table whose keys are all known; a wrong one is refused with the nearest right one named."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", alias_generator=_kebab)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        refuse_unknown_keys(cls, data)
        return data


class Record(BaseModel):
    """One record of the dataset's schema version 2, as anybody may drop it into a folder of their own.

    `line_number`, `source_code_start` and `source_code_end` are 1-based lines of `file_path`, both ends included.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", alias_generator=to_camel)

    id: Short
    repo: str | None = None
    slug: Short
    error_code: str | None = None
    error_message: Filled
    message_pattern: Pattern | None = None
    error_type: str | None = None
    error_class: str | None = None
    http_status: int | None = None
    severity: str | None = None
    file_path: str | None = None
    line_number: LineNumber | None = None
    source_code: str | None = None
    source_code_start: LineNumber | None = None
    source_code_end: LineNumber | None = None
    github_url: str | None = None
    documentation: str | None = None
    trigger_scenarios: str | None = None
    common_situations: str | None = None
    solutions: list[str] = []
    example_fix: ExampleText
    handling_strategy: str | None = None
    validation_code: str | None = None
    type_guard: str | None = None
    try_catch_pattern: str | None = None
    prevention_tips: list[str] = []
    tags: list[str] = []
    background_tag: str | None = None
    analyzed_sha: str | None = None
    analyzed_at: str | None = None
    schema_version: Literal[2]


class ShippedRecord(Record):
    """One of the project's own records: every field is there and no other, and what it says of the source agrees."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        refuse_unknown_keys(cls, data)
        return data

    @model_validator(mode="after")
    def _complete(self) -> ShippedRecord:
        missing = [_alias(name) for name in type(self).model_fields if name not in self.model_fields_set]
        if missing:
            raise ValueError(f"missing: {', '.join(missing)}")
        for name in (
            "repo",
            "message_pattern",
            "file_path",
            "line_number",
            "github_url",
            "documentation",
            "analyzed_sha",
        ):
            if getattr(self, name) is None:
                raise ValueError(f"`{_alias(name)}` must not be null in a shipped record")
        for name in ("source_code", "source_code_start", "source_code_end"):
            if getattr(self, name) is not None:
                raise ValueError(f"`{_alias(name)}` must be null in a shipped record: the link says where the code is")
        return self

    @model_validator(mode="after")
    def _pattern_matches(self) -> ShippedRecord:
        literal = "{" not in self.error_message
        if literal and self.message_pattern and not re.search(self.message_pattern, self.error_message):
            raise ValueError("`messagePattern` does not match `errorMessage`")
        return self

    @model_validator(mode="after")
    def _link_agrees(self) -> ShippedRecord:
        page = f"https://github.com/{self.repo}/blob/{self.analyzed_sha}/{self.file_path}"
        link = re.fullmatch(re.escape(page) + r"#L(\d+)(?:-L(\d+))?", self.github_url or "")
        if link is None:
            raise ValueError(f"`githubUrl` must be {page}#L<line>, made of `repo`, `analyzedSha` and `filePath`")
        if not int(link[1]) <= (self.line_number or 0) <= int(link[2] or link[1]):
            raise ValueError("`lineNumber` does not lie in the lines of `githubUrl`")
        return self


class Envelope(BaseModel):
    """A record as the dataset hands it out, with the time stamp of the dataset that it comes from."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", alias_generator=to_camel)

    record: dict[str, Any]
    dataset_version: str | None = None


class MatchTable(_Table):
    """Which hand-offs a rule looks at: those of some protocols, of these only some names if any are given; or, without a protocol, the
    names of removed APIs: those that are given, or all of which the timeline of the table tells it.
    """

    protocol: list[Protocol] = []
    direction: Literal["export", "import"] | None = None
    name: list[Dotted] = []
    timeline: Literal["removed", "to-come", "leaving"] | None = None

    @model_validator(mode="after")
    def _something(self) -> MatchTable:
        if not (self.protocol or self.name or self.timeline):
            raise ValueError("needs `protocol`, `name` or `timeline`")
        if self.timeline and (self.protocol or self.name):
            raise ValueError("`timeline` stands alone: it means every name that no other rule is about")
        return self


class WhenTable(_Table):
    """A condition on the placement and on the arguments: all keys that are there must hold."""

    devices: Literal["many", "one"] | None = None
    spans_processes: bool | None = None
    split: Literal[True] | None = None
    shard: Literal["partial", "any"] | None = None
    onto: Literal["one-device", "processes", "other-process", "many-devices"] | None = None
    tiled: Literal[False] | None = None
    traced: Literal[True] | None = None
    dtype: Annotated[list[Filled], Field(min_length=1)] | Literal["refused", "narrowed"] | None = None
    key: Literal[True] | None = None
    deleted: Literal[True] | None = None
    value: Literal["capsule", "array", "used-capsule", "none", "swapped"] | None = None
    copy_: Annotated[bool | Literal["allowed"] | None, Field(alias="copy")] = None
    device: Literal["other"] | None = None
    marks: Annotated[list[Kebab] | None, Field(min_length=1)] = None
    shares: Literal["jax-array"] | None = None
    library: Annotated[list[Kebab] | None, Field(min_length=1)] = None
    left: Annotated[list[Kebab] | None, Field(min_length=1)] = None
    right: Annotated[list[Kebab] | None, Field(min_length=1)] = None
    other: Annotated[list[Kebab] | None, Field(min_length=1)] = None
    other_dtype: Annotated[list[Filled] | None, Field(min_length=1)] = None
    asked_dtype: Annotated[list[Filled] | None, Field(min_length=1)] = None


class FixWhenTable(WhenTable):
    """When a fix may be offered: a rule's condition, what takes the repaired value, or which hand-offs it is right for."""

    consumed_by: Literal["importer"] | None = None
    consumer: Annotated[list[Dotted] | None, Field(min_length=1)] = None
    not_consumer: Annotated[list[Dotted] | None, Field(min_length=1)] = None


class FixTable(_Table):
    """One `[[fix]]` of a rule."""

    title: Template
    safety: SafetyName
    when: FixWhenTable = FixWhenTable()
    example: ExampleText


class RuleFile(_Table):
    """`rule.toml`: what to look for so that a record's error is found before it happens."""

    summary: Line
    family: Annotated[str, StringConstraints(pattern=r"^[A-Z]?$")] = ""
    jax: Specifier
    severity: Level
    possible: Level
    severity_by: dict[Dotted, Level] = {}
    jax_by: dict[Dotted, Specifier] = {}
    message: Template
    handled_by: list[Dotted] = []
    tags: list[Literal["deprecated", "unnecessary"]] = []
    check: Kebab | None = None
    match: MatchTable
    when: WhenTable = WhenTable()
    opt_in: bool = False
    outcome: dict[Kind, Line] = {}
    fix: list[FixTable] = []


class ObservationEntry(_Table):
    """What one run of a rule's cases showed."""

    model_config = ConfigDict(alias_generator=None)

    platform: Filled
    jax: VersionText
    consumer: Dotted
    consumer_version: str
    kind: Kebab
    exception: str | None
    message: str | None
    fixed: list[str]

    @model_validator(mode="after")
    def _raises_what(self) -> ObservationEntry:
        if self.kind == "raises" and not self.exception:
            raise ValueError("a run that raises has an `exception`")
        return self


class ObservedFile(_Table):
    """`observed.json`: written by `shardlint records verify`, one entry a key."""

    format: Annotated[Literal[1], Field(alias="schema")]
    observations: list[ObservationEntry]

    @model_validator(mode="after")
    def _one_of_a_key(self) -> ObservedFile:
        seen: set[tuple[str, str, str, str]] = set()
        for entry in self.observations:
            key = (entry.platform, entry.jax, entry.consumer, entry.consumer_version)
            if key in seen:
                raise ValueError(f"two observations for {' '.join(key)}")
            seen.add(key)
        return self


class Hazard(_Table):
    """One table of `ledger.toml`: a known way to go wrong, with the reason why no rule's example shows it if none does."""

    title: Line
    covered: bool = True
    reason: Line | None = None

    @model_validator(mode="after")
    def _reason_if_not_covered(self) -> Hazard:
        if self.covered is not (self.reason is None):
            raise ValueError("`covered = false` and a `reason` go together")
        return self


class VersionsFile(_Table):
    """`versions.toml`: the JAX versions on which the catalogue was verified, ascending, and where the list comes from."""

    jax: Annotated[list[VersionText], Field(min_length=1)]
    origin: Line

    @model_validator(mode="after")
    def _ascending(self) -> VersionsFile:
        versions = [Version(text) for text in self.jax]
        if any(not earlier < later for earlier, later in pairwise(versions)):
            raise ValueError("`jax` must be in ascending order, each version once")
        return self


def _alias(name: str) -> str:
    return Record.model_fields[name].alias or name
