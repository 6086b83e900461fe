"""A user's own records: what is usable works, what is not is told in one sentence, nothing raises."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shardlint.model import Safety, Severity
from shardlint.records.catalogue import Match
from shardlint.records.own import load_own

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"


def _write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _only_problem(path: Path) -> str:
    rules, problems = load_own([path])
    assert rules == ()
    assert len(problems) == 1
    assert problems[0].path is not None
    assert problems[0].message.startswith(f"{problems[0].path}: ")
    return problems[0].message


@pytest.mark.shared
@pytest.mark.skipif(not SEEDS.is_dir(), reason="there is no ../shared beside the repository")
def test_the_public_seed_records_load_unchanged():
    """Files of the dataset, in its own envelope, need no editing."""
    rules, problems = load_own([SEEDS])
    assert problems == ()
    assert [rule.record["backgroundTag"] for rule in rules] == [
        "cuda-array-interface-sharded-array",
        "cross-device-zero-copy",
    ]
    for rule, file in zip(rules, sorted(SEEDS.iterdir()), strict=True):
        assert rule.record == json.loads(file.read_text(encoding="utf-8"))["record"]


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name", ["a.json", "a.txt", "a"])
def test_a_record_alone_becomes_a_rule_of_low_severity(tmp_path, record, wrapped, name):
    """Bare or in the envelope, whatever the file is called: its example is the one fix, its text the message."""
    content = {"record": record, "datasetVersion": "2026-01-02T00:00:00.000Z"} if wrapped else record
    rules, problems = load_own([_write(tmp_path / name, content)])
    assert problems == ()
    [rule] = rules
    assert (rule.name, rule.shipped, rule.jax) == ("lib-takes-one-device", False, "")
    assert (rule.severity, rule.possible) == (Severity.INFORMATION, Severity.INFORMATION)
    assert (rule.match, rule.when, rule.observed) == (Match((), None, ()), {}, ())
    assert [(fix.example, fix.safety) for fix in rule.fixes] == [(record["exampleFix"], Safety.CHANGES_MEANING)]
    assert "BufferError: take() wants one device." in rule.message
    assert rule.record == record


def test_the_page_of_a_record_is_made_from_its_fields(tmp_path, record):
    """Whoever asks for the rule's page reads what the record says, and that nobody verified it."""
    record["validationCode"] = "```"
    [rule], _ = load_own([_write(tmp_path / "a.json", record)])
    for text in (
        record["errorMessage"],
        record["documentation"],
        record["solutions"][0],
        "y = lib.take(x)",
        "not verified",
    ):
        assert text in rule.page
    assert record["githubUrl"] in rule.page
    assert "````python\n```\n````" in rule.page


def test_fields_that_this_version_does_not_know_are_left_out(tmp_path, record):
    """The dataset may grow; ours is what we know of it."""
    [rule], problems = load_own([_write(tmp_path / "a.json", {**record, "confidence": 0.5})])
    assert problems == ()
    assert rule.record == record


def test_what_finding_does_not_need_may_be_absent(tmp_path, record):
    """A hand-written record is short."""
    needed = {key: record[key] for key in ("id", "slug", "errorMessage", "exampleFix", "schemaVersion")}
    [rule], problems = load_own([_write(tmp_path / "a.json", needed)])
    assert problems == ()
    assert rule.message.endswith("take() wants one device.")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Got {device=} and {repr(other)}.", "Got … and …."),
        ("'{' was expected", "'{' was expected"),
        ("two\nlines\x1b[31m", "two lines?[31m"),
        ("x" * 10_000, "x" * 200),
    ],
)
def test_the_message_is_one_printable_line(tmp_path, record, message, shown):
    """Holes of a format string are shown as such, and rendering the message as a template gives it back."""
    record |= {"errorMessage": message, "errorClass": "{Odd}"}
    [rule], _ = load_own([_write(tmp_path / "a.json", record)])
    rendered = rule.message.format()
    assert shown in rendered
    assert "{Odd}: " in rendered
    assert rendered.isprintable()
    assert len(rendered) < 500


@pytest.mark.parametrize(
    ("slug", "name"),
    [("Lib_Takes One--Device!", "lib-takes-one-device"), ("-x-", "x"), ("../../etc/passwd", "etc-passwd")],
)
def test_the_rule_is_named_after_the_slug(tmp_path, record, slug, name):
    """People write the name in comments, so it is made to fit."""
    [rule], _ = load_own([_write(tmp_path / "a.json", {**record, "slug": slug})])
    assert rule.name == name


def test_a_name_that_is_taken_is_told_apart(tmp_path, record):
    """A record about the same thing as a shipped rule stands beside it."""
    [rule], problems = load_own([_write(tmp_path / "a.json", record)], taken={"lib-takes-one-device"})
    assert problems == ()
    assert rule.name == "own-lib-takes-one-device"


def test_of_two_records_with_one_name_the_first_counts(tmp_path, record):
    """The second is reported with the place of the first."""
    first = _write(tmp_path / "a.json", record)
    second = _write(tmp_path / "b.json", {**record, "documentation": "Another."})
    rules, problems = load_own([tmp_path])
    assert [rule.record["documentation"] for rule in rules] == [record["documentation"]]
    assert [problem.path for problem in problems] == [str(second)]
    assert str(first) in problems[0].message


def test_a_folder_with_a_rule_file_is_a_full_rule(tmp_path, write_rule):
    """It may do all that a shipped rule may, page and observations included."""
    folder = write_rule(tmp_path, "Taken As-One")
    [rule], problems = load_own([folder])
    assert problems == ()
    assert (rule.name, rule.shipped, rule.severity) == ("taken-as-one", False, Severity.ERROR)
    assert rule.match == Match(("dlpack",), "export", ())
    assert rule.page == (folder / "cases.md").read_text(encoding="utf-8")
    assert [run.consumer for run in rule.observed] == ["lib.take"]


def test_a_full_rule_needs_neither_page_nor_observations(tmp_path, write_rule, record):
    """The page is then made from the record."""
    folder = write_rule(tmp_path)
    (folder / "cases.md").unlink()
    (folder / "observed.json").unlink()
    [rule], problems = load_own([folder])
    assert problems == ()
    assert rule.observed == ()
    assert record["documentation"] in rule.page


def test_a_folder_of_everything_is_read_one_level_deep(tmp_path, write_rule, record):
    """Files, rule folders and folders with a record alone may lie side by side; other things are left alone."""
    _write(tmp_path / "a.json", record)
    write_rule(tmp_path, "full-rule")
    (tmp_path / "alone").mkdir()
    _write(tmp_path / "alone" / "record.json", {**record, "slug": "alone"})
    (tmp_path / "README.md").write_text("notes", encoding="utf-8")
    (tmp_path / ".hidden.json").write_text("{", encoding="utf-8")
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    rules, problems = load_own([tmp_path])
    assert problems == ()
    assert {rule.name for rule in rules} == {"lib-takes-one-device", "full-rule", "alone"}


def test_a_users_rule_cannot_name_a_check_function(tmp_path, write_rule, valid_rule):
    """A record is data and never brings code."""
    folder = write_rule(tmp_path, rule=f'check = "anything"\n{valid_rule}')
    message = _only_problem(folder)
    assert message.startswith(f"{folder / 'rule.toml'}: ")
    assert "`check`" in message


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"slug": None}, "`slug`", "must be a string"),
        ({"slug": "!!"}, "`slug`", "no letter or digit"),
        ({"slug": "x" * 201}, "`slug`", "longer than 200 characters"),
        ({"errorMessage": 3}, "`errorMessage`", "must be a string"),
        ({"errorMessage": ""}, "`errorMessage`", "must not be empty"),
        ({"exampleFix": None}, "`exampleFix`", "must be a string"),
        ({"exampleFix": "y = 1"}, "`exampleFix`", "`# before`"),
        ({"messagePattern": "("}, "`messagePattern`", "not a regular expression"),
        ({"messagePattern": "(" * 4000}, "`messagePattern`", "not a regular expression"),
        ({"messagePattern": "a{99999999999999999999}"}, "`messagePattern`", "not a regular expression"),
        ({"lineNumber": "7"}, "`lineNumber`", "must be a whole number"),
        ({"lineNumber": 1.5}, "`lineNumber`", "must be a whole number"),
        ({"lineNumber": True}, "`lineNumber`", "must be a whole number"),
        ({"lineNumber": -1}, "`lineNumber`", "must be at least 1"),
        ({"solutions": ["a", 1]}, "`solutions[1]`", "must be a string"),
        ({"tags": {"a": 1}}, "`tags`", "must be a list"),
        ({"schemaVersion": 1}, "`schemaVersion`", "must be 2"),
        ({"schemaVersion": "2"}, "`schemaVersion`", "must be 2"),
    ],
)
def test_a_malformed_field_is_named_with_the_reason(tmp_path, record, changes: dict[str, Any], field, reason):
    """One sentence says file, field and reason."""
    message = _only_problem(_write(tmp_path / "a.json", {**record, **changes}))
    assert field in message
    assert reason in message


def test_missing_fields_are_named(tmp_path):
    """Something that is JSON but no record says what it lacks."""
    message = _only_problem(_write(tmp_path / "a.json", {"name": "x"}))
    for field in ("id", "slug", "errorMessage", "exampleFix", "schemaVersion"):
        assert f"`{field}` is missing" in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"{", "is not JSON"),
        (b"# a note", "is not JSON"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
        (b'{"slug": "\xff"}', "is not UTF-8"),
        (b'{"lineNumber": NaN}', "NaN is not a JSON value"),
        (b'{"lineNumber": -Infinity}', "-Infinity is not a JSON value"),
        (b'{"lineNumber": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b'{"slug": "\\ud800"}', "surrogate"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'"record"', "must be a JSON object"),
        (b'{"record": []}', "`record` must be a table"),
        (b'{"record": {}, "datasetVersion": 1}', "`datasetVersion` must be a string"),
        (b'{"x": "' + b"x" * 5_000_000 + b'"}', "larger than 5000 kB"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else None,
)
def test_a_file_that_holds_no_record_is_told(tmp_path, content, reason):
    """Whatever the bytes are, the answer is one sentence."""
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert reason in _only_problem(path)


def test_a_byte_order_mark_is_no_harm(tmp_path, record):
    """Some editors write one."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record), encoding="utf-8-sig")
    rules, problems = load_own([path])
    assert problems == ()
    assert len(rules) == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("absent", "does not exist"),
        ("empty", "holds no record"),
        ("n" * 300, "cannot be read"),
        ("n\0", "is not a path"),
    ],
    ids=["absent", "empty", "long", "nul"],
)
def test_a_path_that_leads_to_no_record_is_told(tmp_path, name, reason):
    """A slip in the configuration is one sentence."""
    (tmp_path / "empty").mkdir()
    _, [problem] = load_own([tmp_path / name])
    assert reason in problem.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_told_and_not_waited_for(tmp_path):
    """Opening it would wait for somebody to write."""
    os.mkfifo(tmp_path / "pipe.json")
    assert "is not a regular file" in _only_problem(tmp_path / "pipe.json")


def test_folders_and_loops_among_the_files_are_told(tmp_path, record):
    """They cost themselves alone."""
    _write(tmp_path / "good.json", record)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    (tmp_path / "up").symlink_to(tmp_path)
    rules, problems = load_own([tmp_path])
    assert len(rules) == 1
    assert sorted(Path(problem.path or "").name for problem in problems) == ["folder.json", "loop.json"]


def test_an_unreadable_file_is_told(tmp_path, record):
    """It says so and the others still work."""
    _write(tmp_path / "good.json", record)
    shut = _write(tmp_path / "shut.json", record)
    shut.chmod(0)
    if os.access(shut, os.R_OK):
        pytest.skip("this user may read everything")
    rules, problems = load_own([tmp_path])
    assert len(rules) == 1
    assert "cannot be read" in problems[0].message


def test_a_bad_file_costs_only_itself(tmp_path, record):
    """The records around it still work."""
    _write(tmp_path / "a.json", record)
    (tmp_path / "b.json").write_text("{", encoding="utf-8")
    _write(tmp_path / "c.json", {**record, "slug": "another"})
    rules, problems = load_own([tmp_path])
    assert [rule.name for rule in rules] == ["lib-takes-one-device", "another"]
    assert len(problems) == 1


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "x = [" + "[" * 10_000,
        "a" + ".a" * 20_000 + " = 1",
        "match = 1",
        "fix = [1]",
        "\x00",
        "when = { copy = nan }",
    ],
    ids=["empty", "deep", "long", "number", "list", "nul", "nan"],
)
def test_a_rule_file_of_any_content_is_told(tmp_path, write_rule, rule):
    """A user's `rule.toml` is as foreign as the record beside it."""
    folder = write_rule(tmp_path, rule=rule)
    assert _only_problem(folder).startswith(f"{folder / 'rule.toml'}: ")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = ("slug", "id", "errorMessage", "errorClass", "exampleFix", "messagePattern", "solutions", "githubUrl")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(st.sampled_from(_FIELDS), _JSON | st.text(max_size=40), max_size=4))
def test_any_values_give_a_rule_or_a_sentence(tmp_path, record, changes):
    """Whatever stands in the fields, a record is used or reported, and its message always renders."""
    rules, problems = load_own([_write(tmp_path / "a.json", {**record, **changes})])
    assert len(rules) + len(problems) == 1
    for rule in rules:
        assert rule.message.format().isprintable()
        assert rule.page
    for problem in problems:
        assert problem.message.isprintable()
