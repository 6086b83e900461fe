"""Applying a template at a hand-off: what is to become of the program, and the edits that make just that of its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shardlint.fixes import keywords, writing
from shardlint.fixes.edits import OverlapError, edited, ordered
from shardlint.fixes.evaluation import bound_in, has_effects, objection
from shardlint.fixes.fitting import Fit, NoFitError, fit
from shardlint.fixes.insertion import inlined, statement_to_precede
from shardlint.fixes.intent import Intent, realised
from shardlint.fixes.module import Module
from shardlint.fixes.names import Names
from shardlint.fixes.spelling import Speller
from shardlint.fixes.surroundings import Surroundings, ahead
from shardlint.model import Edit
from shardlint.records.template import Template
from shardlint.syntax.tree import Chunk, Tree, parse


@dataclass(frozen=True)
class Site:
    """The hand-off to repair: its whole expression and what is handed over."""

    module: Module
    chunk: Chunk
    node: ast.expr
    operand: ast.expr | None

    def names(self, node: ast.expr) -> Names:
        return Names(Surroundings(self.module, self.chunk, node))


@dataclass(frozen=True)
class Plan:
    """A repair: its edits, what they mean to make of the tree, and the names that they take away, with what was in sight."""

    edits: tuple[Edit, ...]
    intent: Intent
    gone: tuple[tuple[ast.Name, Names], ...] = ()


def plan(template: Template, site: Site) -> Plan:
    """What does at `site` what the template's example does, imports that it makes needless aside. Raises `NoFitError`."""
    try:
        for edits, intent, gone in _ways(template, site):
            made = ordered(edits)
            if is_exact(made, intent, site.module.tree):
                return Plan(made, intent, tuple(gone))
    except (RecursionError, ValueError):  # nested too deeply, or a number too large to be written down
        raise NoFitError("the code is too large") from None
    raise NoFitError("there is no room for the change")


def is_exact(edits: Sequence[Edit], intent: Intent, tree: Tree) -> bool:
    """Whether the edits make just that of the text."""
    try:
        text = edited(tree.text, edits)
    except OverlapError:
        return False
    return realised(intent, tree, parse(text, tree))


_Way = tuple[list[Edit], Intent, list[tuple[ast.Name, Names]]]


def _ways(template: Template, site: Site) -> Iterator[_Way]:
    if template.keywords:
        yield from _keyword_ways(template, site)
        return
    found = fit(template, site.node, site.operand, site.names(site.node))
    if found is None:
        raise NoFitError("the code is written in another way than the example")
    names = site.names(found.node)
    if template.inserted:
        try:
            anchor = statement_to_precede(template, found, names)
        except NoFitError:
            again = inlined(template, found, names.around.parent)
            if again is None:
                raise
            yield from _expression_ways(template, replace(found, replacement=again), names)
        else:
            yield from _statement_ways(template, found, anchor, names)
    else:
        yield from _expression_ways(template, found, names)


def _expression_ways(template: Template, found: Fit, names: Names) -> Iterator[_Way]:
    """Another expression in the place of one."""
    _refuse(objection(found.pattern, [found.replacement], found.holes))
    speller = Speller(template, names)
    speller.check([found.replacement], found.holes)
    parts, order = writing.pieces(found.replacement, found.holes, {}, speller)
    swap: dict[ast.AST, ast.AST] = {found.node: writing.filled(found.replacement, found.holes, speller)}
    gone = [(name, names) for name in _outside_holes(found)]
    for edits in writing.ways(found.node, parts, order, found.holes, names.around):
        yield [*_new_imports(speller), *edits], Intent(swap, _ahead(speller)), gone


def _statement_ways(template: Template, found: Fit, anchor: ast.stmt, names: Names) -> Iterator[_Way]:
    """New assignments ahead of a statement, and their names in it."""
    values = [value for _, value in template.inserted]
    _refuse(objection(found.pattern, [*values, found.replacement], found.holes))
    speller = Speller(template, names)
    expressions = [*values, found.replacement]
    own = _own_names(template, expressions, names)
    speller.check(expressions, {*found.holes, *own})
    renamed: dict[str, ast.expr] = {name: ast.Name(fresh, ast.Load()) for name, fresh in own.items()}
    swap: dict[ast.AST, ast.AST] = {found.node: writing.filled(found.replacement, {**found.holes, **renamed}, speller)}
    made: list[ast.stmt] = []
    lines: list[str] = []
    for name, value in template.inserted:
        made.append(
            ast.Assign([ast.Name(own[name], ast.Store())], writing.filled(value, {**found.holes, **renamed}, speller))
        )
        parts, order = writing.pieces(value, found.holes, renamed, speller)
        lines.append(f"{own[name]} = {writing.joined(parts, order, found.holes, names.around)}")
    if {added.name for added in speller.added} & set(own.values()):
        raise NoFitError("a new import has the name of a new variable")
    room = ahead(anchor, lines, names.around)
    if room is None:
        raise NoFitError("there is no room for a statement ahead of this one")
    parts, order = writing.pieces(found.replacement, found.holes, renamed, speller)
    before = _ahead(speller)
    before[anchor] = [*before.get(anchor, ()), *made]
    gone = [(name, names) for name in _outside_holes(found)]
    for edits in writing.ways(found.node, parts, order, found.holes, names.around):
        yield [*_new_imports(speller), room, *edits], Intent(swap, before), gone


def _own_names(template: Template, expressions: Sequence[ast.expr], names: Names) -> dict[str, str]:
    """Names for the new variables that neither the file nor the example has; a name given twice stays one."""
    taken = {node.id for expression in expressions for node in ast.walk(expression) if isinstance(node, ast.Name)}
    taken |= {name for expression in expressions for name in bound_in(expression)}
    fresh: dict[str, str] = {}
    for name, _ in template.inserted:
        wanted = name.partition("#")[0]
        fresh.setdefault(wanted, names.around.fresh(wanted, taken | set(fresh.values())))
    return {name: fresh[name.partition("#")[0]] for name, _ in template.inserted}


def _keyword_ways(template: Template, site: Site) -> Iterator[_Way]:
    """Other keyword arguments of a call."""
    call = site.node
    if not isinstance(call, ast.Call):
        raise NoFitError("this is no call")
    names = site.names(call)
    pattern = template.changes[0][0]
    shown = {keyword.arg for keyword in pattern.keywords} if isinstance(pattern, ast.Call) else set[str | None]()
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    for name in template.keywords:
        if (name in given) != (name in shown) or (name not in given and None in given):
            raise NoFitError(f"the call has {'' if name in given else 'no '}`{name}=`, other than the example")
        if name in given and has_effects(given[name]):
            raise NoFitError("an expression would no longer be evaluated")
    speller = Speller(template, names)
    speller.check([value for value in template.keywords.values() if value is not None], ())
    changes = {
        name: None if value is None else writing.filled(value, {}, speller) for name, value in template.keywords.items()
    }
    swap: dict[ast.AST, ast.AST] = {call: keywords.changed_call(call, changes)}
    made = writing.in_strings(keywords.edits(call, changes, names.around), names.around)
    if made is not None:
        yield [*_new_imports(speller), *made], Intent(swap, _ahead(speller)), []


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise NoFitError(reason)


def _new_imports(speller: Speller) -> list[Edit]:
    return [added.edit for added in speller.added]


def _ahead(speller: Speller) -> dict[ast.AST, Sequence[ast.stmt]]:
    """The new imports by the statements that they come to stand ahead of."""
    before: dict[ast.AST, Sequence[ast.stmt]] = {}
    for added in speller.added:
        before[added.before] = [*before.get(added.before, ()), added.statement]
    return before


def _outside_holes(found: Fit) -> list[ast.Name]:
    """The names that a replacement takes away: all in the expression but what the holes hold."""
    held = set(found.holes.values())
    parts: list[ast.Name] = []
    stack: list[ast.AST] = [found.node]
    while stack:
        part = stack.pop()
        if part in held:
            continue
        if isinstance(part, ast.Name):
            parts.append(part)
        stack.extend(ast.iter_child_nodes(part))
    return parts
