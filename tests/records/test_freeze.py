"""`freeze`: the folders of `records/` become one file and a page each, or nothing and the reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shardlint.model import Safety, Severity
from shardlint.records.catalogue import page_path, read
from shardlint.records.checks import CHECKS
from shardlint.records.freeze import freeze
from shardlint.records.rule_page import Place, rule_page_with_examples

PLACE = Place("A: Others", "README.md#a-others")


def _sentences(source: Path, target: Path) -> list[str]:
    return [problem.message for problem in freeze(source, target)]


def test_a_frozen_rule_reads_back_with_all_its_parts(tmp_path, source, write_rule, record):
    """What the folder says is what the catalogue holds: rule, record, page, observations and versions."""
    folder = write_rule(source)
    assert freeze(source, tmp_path / "out") == []
    catalogue = read(tmp_path / "out" / "frozen.json")
    assert catalogue.jax_versions == ("0.9.2", "0.10.2")
    rule = catalogue.rules["taken-as-one"]
    assert (rule.name, rule.jax, rule.shipped) == ("taken-as-one", ">=0.4.30", True)
    assert (rule.severity, rule.possible) == (Severity.ERROR, Severity.WARNING)
    assert (rule.match.protocols, rule.match.direction, rule.match.names) == (("dlpack",), "export", ())
    assert rule.when == {"devices": "many"}
    assert rule.handled_by == ("BufferError",)
    assert [(fix.title, fix.safety, fix.when) for fix in rule.fixes] == [
        ("Gather first (copies {devices})", Safety.MOVES_DATA, {})
    ]
    assert rule.record == record
    assert rule.page == (folder / "cases.md").read_text(encoding="utf-8")
    assert [(run.jax, run.consumer, run.fixed) for run in rule.observed] == [("0.10.2", "lib.take", ())]


def test_a_rule_may_have_no_repair_and_wait_to_be_asked_for(tmp_path, source, write_rule, valid_rule):
    """Without `[[fix]]` the record's example shows what to do by hand; `opt-in` and the rule's own outcomes are kept."""
    without = valid_rule[: valid_rule.index("[[fix]]")].replace("[match]", "opt-in = true\n\n[match]")
    write_rule(source, rule=without + '\n[outcome]\nsilent-dtype = "halves the bits"\n')
    write_rule(source, "another", record_changes={"id": "ff", "slug": "another"})
    assert freeze(source, tmp_path / "out") == []
    catalogue = read(tmp_path / "out" / "frozen.json")
    rule = catalogue.rules["taken-as-one"]
    assert (rule.fixes, rule.opt_in, rule.outcome) == ((), True, {"silent-dtype": "halves the bits"})
    assert catalogue.opt_in == {"taken-as-one"}
    page = rule_page_with_examples(rule, (), PLACE)
    assert "By hand:\n\n```python\n# before\ny = lib.take(x)\n# after\ny = lib.take(lib.gather(x))\n```\n" in page


def test_a_condition_that_is_false_is_kept(tmp_path, source, write_rule, valid_rule):
    """`copy = false` asks for something, so it must not be lost as if it were absent."""
    write_rule(source, rule=valid_rule.replace('devices = "many"', "copy = false"))
    assert freeze(source, tmp_path / "out") == []
    assert read(tmp_path / "out" / "frozen.json").rules["taken-as-one"].when == {"copy": False}


def test_the_page_is_for_people(tmp_path, source, write_rule):
    """The page that a diagnostic links to lies where `page_path` says, relative to the catalogue, and shows the rule."""
    write_rule(source)
    freeze(source, tmp_path)
    rule = read(tmp_path / "frozen.json").rules["taken-as-one"]
    page = (tmp_path / "pages" / page_path("taken-as-one").name).read_text(encoding="utf-8")
    assert page == rule_page_with_examples(rule, ("0.9.2", "0.10.2"), PLACE)
    assert page.startswith("# taken-as-one\n")
    assert "y = lib.take(x)  # error: [taken-as-one]" in page


def test_the_same_folders_freeze_to_the_same_bytes(tmp_path, source, write_rule, observation):
    """Neither the order in which folders were made nor an earlier run changes the result."""
    later = [{**observation, "jax": "0.9.2"}, observation]
    for name in ("zebra-taken", "ant-taken"):
        write_rule(source, name, observations=later)
    other = tmp_path / "other"
    other.mkdir()
    (other / "versions.toml").write_bytes((source / "versions.toml").read_bytes())
    for name in ("ant-taken", "zebra-taken"):
        write_rule(other, name, observations=later[::-1])
    assert freeze(source, tmp_path / "one") == []
    assert freeze(other, tmp_path / "two") == []
    assert freeze(other, tmp_path / "two") == []
    for file in ("frozen.json", "pages/ant-taken.md", "pages/zebra-taken.md"):
        first, second = ((tmp_path / name / file).read_bytes() for name in ("one", "two"))
        assert first == second


def test_a_page_of_a_rule_that_is_gone_is_removed(tmp_path, source, write_rule):
    """A renamed rule leaves no page behind."""
    old = write_rule(source, "old-name")
    write_rule(source, "new-name")
    freeze(source, tmp_path / "out")
    old.rename(tmp_path / "elsewhere")
    freeze(source, tmp_path / "out")
    pages = {page.name for page in (tmp_path / "out" / "pages").iterdir()}
    assert pages == {"README.md", "new-name.md", *(f"{name}.md" for name in CHECKS)}


@pytest.mark.parametrize("missing", ["record.json", "rule.toml", "cases.md", "observed.json"])
def test_an_incomplete_folder_is_named_and_nothing_is_written(tmp_path, source, write_rule, missing):
    """Each of the four files must be there; the sentence names the one that is not."""
    folder = write_rule(source)
    write_rule(source, "complete")
    (folder / missing).unlink()
    assert _sentences(source, tmp_path / "out") == [f"{folder / missing}: does not exist."]
    assert not (tmp_path / "out").exists()


def test_every_bad_folder_is_told_at_once(tmp_path, source, write_rule):
    """Whoever fixes records sees all that is wrong in one run."""
    for name in ("one-bad", "two-bad"):
        (write_rule(source, name) / "rule.toml").write_text("= nonsense", encoding="utf-8")
    sentences = _sentences(source, tmp_path / "out")
    assert [("one-bad" in text, "two-bad" in text) for text in sentences] == [(True, False), (False, True)]


def test_a_folder_name_that_is_no_rule_name_is_refused(tmp_path, source, write_rule):
    """The folder's name is the rule's name, which people write in comments."""
    folder = write_rule(source, "Taken_As_One")
    [sentence] = _sentences(source, tmp_path / "out")
    assert str(folder) in sentence
    assert "lower-case" in sentence


def test_without_a_list_of_versions_nothing_is_frozen(tmp_path, source, write_rule):
    """The catalogue says on which JAX versions it was verified."""
    write_rule(source)
    (source / "versions.toml").unlink()
    [sentence] = _sentences(source, tmp_path / "out")
    assert "versions.toml: does not exist" in sentence


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('origin = "a"\njax = ["0.10.2", "0.9.2"]', "ascending"),
        ('origin = "a"\njax = ["0.9.2", "0.9.2"]', "ascending"),
        ('origin = "a"\njax = ["newest"]', "'newest' is not a version"),
        ('jax = ["0.9.2"]', "`origin` is missing"),
    ],
)
def test_a_bad_list_of_versions_is_refused(tmp_path, source, text, reason):
    """Versions are PEP 440, ascending, and say where they come from."""
    (source / "versions.toml").write_text(text, encoding="utf-8")
    [sentence] = _sentences(source, tmp_path / "out")
    assert reason in sentence


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("summary =", "sumary =", "unknown key `sumary` (did you mean `summary`?)"),
        ('devices = "many"', 'devcies = "many"', "`when`: unknown key `devcies` (did you mean `devices`?)"),
        ("safety =", "saftey =", "`fix[0]`: unknown key `saftey` (did you mean `safety`?)"),
        ("handled-by =", "handled_by =", "did you mean `handled-by`?"),
        ('severity = "error"', 'severity = "fatal"', "`severity` must be 'error', 'warning', 'information' or 'off'"),
        ('safety = "moves-data"', 'safety = "careful"', "`fix[0].safety` must be 'safe'"),
        ('protocol = ["dlpack"]', 'protocol = ["dl-pack"]', "`match.protocol[0]` must be 'dlpack'"),
        ('protocol = ["dlpack"]', "", "`match`: needs `protocol`, `name` or `timeline`"),
        ('protocol = ["dlpack"]', 'protocol = "dlpack"', "`match.protocol` must be a list"),
        ('direction = "export"', 'direction = "out"', "`match.direction` must be 'export' or 'import'"),
        ('jax = ">=0.4.30"', 'jax = "from 0.4"', "`jax`: 'from 0.4' is not a version specifier"),
        ('jax = ">=0.4.30"', "", "`jax` is missing"),
        ("{consumer} is", "{customer} is", "unknown placeholder {customer}"),
        ("{consumer} is", "{consumer.__class__} is", "unknown placeholder {consumer.__class__}"),
        ("{consumer} is", "{consumer:>99} is", "with nothing else"),
        ("{consumer} is", "{consumer is", "`message`: is not a template"),
        ("[match]", '[outcome]\nloud = "x"\n\n[match]', "`outcome.loud.[key]` must be 'silent-copy'"),
        ("# after", "# then", "`fix[0].example`: needs code under a `# before` line"),
        ("lib.gather(x)", "lib.collect(x)", "must have the `exampleFix` of record.json"),
        ('summary = "an', 'summary = "an\\nold', "`summary`: must be one line"),
        ('summary = "an array on several devices is taken as one"', "summary = 3", "`summary` must be a string"),
    ],
)
def test_a_bad_rule_file_is_refused_by_key_and_reason(tmp_path, source, write_rule, valid_rule, old, new, reason):
    """The sentence names the file, the key and what would be right."""
    assert old in valid_rule
    folder = write_rule(source, rule=valid_rule.replace(old, new, 1))
    [sentence] = _sentences(source, tmp_path / "out")
    assert str(folder / "rule.toml") in sentence
    assert reason in sentence


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sluggish": 1}, "unknown key `sluggish` (did you mean `slug`?)"),
        ({"slug": None}, "`slug` must be a string"),
        ({"errorMessage": ""}, "`errorMessage` must not be empty"),
        ({"messagePattern": "take("}, "`messagePattern`: is not a regular expression"),
        ({"messagePattern": "give"}, "`messagePattern` does not match `errorMessage`"),
        ({"messagePattern": None}, "`messagePattern` must not be null"),
        ({"lineNumber": "12"}, "`lineNumber` must be a whole number"),
        ({"lineNumber": 0}, "`lineNumber` must be at least 1"),
        ({"lineNumber": 15}, "`lineNumber` does not lie in the lines of `githubUrl`"),
        ({"filePath": "lib/give.py"}, "`githubUrl` must be"),
        ({"sourceCode": "def take(x): ..."}, "`sourceCode` must be null"),
        ({"solutions": "Gather."}, "`solutions` must be a list"),
        ({"exampleFix": "y = lib.take(lib.gather(x))"}, "`exampleFix`: needs code under"),
        ({"schemaVersion": 3}, "`schemaVersion` must be 2"),
    ],
)
def test_a_bad_record_is_refused_by_field_and_reason(tmp_path, source, write_rule, changes: dict[str, Any], reason):
    """A shipped record has exactly the dataset's fields, and they agree with each other."""
    folder = write_rule(source, record_changes=changes)
    [sentence] = _sentences(source, tmp_path / "out")
    assert str(folder / "record.json") in sentence
    assert reason in sentence


def test_a_shipped_record_has_every_field(tmp_path, source, write_rule, record):
    """A field without a value is written as null, so that a forgotten one is noticed."""
    folder = write_rule(source)
    del record["typeGuard"]
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    [sentence] = _sentences(source, tmp_path / "out")
    assert "missing: typeGuard" in sentence


def test_a_pattern_is_not_held_against_a_message_with_holes(tmp_path, source, write_rule):
    """Braces stand for values that a run fills in, so the text as written need not match."""
    holes = {"errorMessage": "take() wants {count} device.", "messagePattern": r"wants \d+ device"}
    write_rule(source, record_changes=holes)
    assert freeze(source, tmp_path / "out") == []


def test_a_shipped_record_may_come_in_the_envelope(tmp_path, source, write_rule, record):
    """The dataset's own form is read as well as the bare record."""
    folder = write_rule(source)
    wrapped = json.dumps({"record": record, "datasetVersion": "2026-01-02T00:00:00.000Z"})
    (folder / "record.json").write_text(wrapped, encoding="utf-8")
    assert freeze(source, tmp_path / "out") == []
    assert read(tmp_path / "out" / "frozen.json").rules["taken-as-one"].record["slug"] == record["slug"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"jax": "main"}, "`observations[0].jax`: 'main' is not a version"),
        ({"exception": None}, "a run that raises has an `exception`"),
        ({"kind": "Raises"}, "`observations[0].kind` must match"),
        ({"fixed": "all"}, "`observations[0].fixed` must be a list"),
        ({"passed": True}, "unknown key `passed`"),
    ],
)
def test_a_bad_observation_is_refused(tmp_path, source, write_rule, observation, changes: dict[str, Any], reason):
    """What was seen has the form in which `shardlint records verify` writes it."""
    write_rule(source, observations=[{**observation, **changes}])
    [sentence] = _sentences(source, tmp_path / "out")
    assert "observed.json" in sentence
    assert reason in sentence


def test_two_observations_of_one_key_are_refused(tmp_path, source, write_rule, observation):
    """One platform, JAX, consumer and version has one outcome."""
    write_rule(source, observations=[observation, {**observation, "kind": "none", "exception": None}])
    [sentence] = _sentences(source, tmp_path / "out")
    assert "two observations for cpu 0.10.2 lib.take 1.0" in sentence


@pytest.mark.parametrize("cases", ["# Only prose\n", "# Fine\n\n```python\nx = 1\n```\n"])
def test_a_page_without_a_marked_program_is_refused(tmp_path, source, write_rule, cases):
    """A rule without a program that shows it is not proven."""
    write_rule(source, cases=cases)
    [sentence] = _sentences(source, tmp_path / "out")
    assert "cases.md: needs a case with a marked line" in sentence


def test_a_page_that_breaks_its_format_is_refused_with_the_line(tmp_path, source, write_rule):
    """A block without an end would swallow the rest of the page."""
    folder = write_rule(source, cases="# A rule\n\n```python\nx = 1\n")
    [sentence] = _sentences(source, tmp_path / "out")
    assert sentence.startswith(f"{folder / 'cases.md'}: line 3: ")
