"""What several commands need: how a person is told something, the catalogue, and what is in force where the person is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardlint.report.excerpt import harmless

if TYPE_CHECKING:
    from shardlint.model import Problem, Target
    from shardlint.project import Scope
    from shardlint.records.catalogue import Catalogue, Rule

CLEAN, FOUND, FAILED = 0, 1, 2
PATIENCE = 60.0
"""Seconds in which jedi answers the questions of one file. Nobody waits for the next keystroke here."""


def tell(message: str) -> None:
    """Say something on stderr, out of the way of what stdout is read for."""
    click.echo(f"shardlint: {harmless(message)}", err=True)


def shipped_catalogue() -> Catalogue:
    """The rules that shardlint brings. Raises `ClickException` where there are none."""
    from shardlint.records.catalogue import CatalogueError, load

    try:
        return load()
    except CatalogueError as error:
        raise click.ClickException(str(error)) from None


def scope_here(shipped: Catalogue, target: Target | None = None) -> tuple[Scope, tuple[Problem, ...]]:
    """What is in force in the folder that the person is in, records of the person's own among it."""
    from shardlint.project import scope_of

    return scope_of(Path(), shipped, os.environ, target)


def target_of(jax_version: str | None, shipped: Catalogue) -> Target | None:
    """The target that `--jax-version` names. Raises `BadParameter` for what is no version."""
    from shardlint.environment import exact_target, version_problem

    if jax_version is None:
        return None
    wrong = version_problem(jax_version)
    if wrong:
        raise click.BadParameter(wrong, param_hint="'--jax-version'")
    return exact_target(jax_version, "--jax-version", shipped.jax_versions)


def rule_called(name: str, rules: Mapping[str, Rule], parameter: str) -> Rule:
    """The rule that a person means. Raises `BadParameter` where there is none of that name."""
    from shardlint.config import nearest

    if name not in rules:
        message = f"there is no rule {name!r}; {nearest(name, rules)}"
        raise click.BadParameter(message, param_hint=f"'{parameter}'")
    return rules[name]
