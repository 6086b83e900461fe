"""Applying a template at a hand-off: binding its holes to the program's expressions and writing the edits."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shardlint.fixes import imports
from shardlint.fixes.edits import ordered
from shardlint.fixes.surroundings import Surroundings
from shardlint.model import Edit
from shardlint.placement.table import Table
from shardlint.records.template import Template
from shardlint.syntax.tree import Chunk, Place, Tree
from shardlint.text import Span

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.JoinedStr)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_MAY_NOT_RUN = (
    ast.Lambda,
    ast.IfExp,
    ast.BoolOp,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.NamedExpr,
)


class NoFitError(Exception):
    """The template does not fit here; the message is a clause that says why."""


@dataclass(frozen=True)
class Site:
    """The hand-off to repair: its whole expression and what is handed over."""

    tree: Tree
    table: Table
    chunk: Chunk
    node: ast.expr
    operand: ast.expr | None
    is_package: bool


def rewrite(template: Template, site: Site) -> tuple[Edit, ...]:
    """The edits that do at `site` what the template's example does. Raises `NoFitError`."""
    return _Rewriter(template, site).edits()


class _Rewriter:
    def __init__(self, template: Template, site: Site) -> None:
        self._template = template
        self._site = site
        self._new_imports: dict[str, Edit] = {}

    def edits(self) -> tuple[Edit, ...]:
        template = self._template
        if template.keywords:
            return self._changed_keywords(template.keywords)
        node, holes = self._target()
        around = Surroundings(self._site.tree, self._site.table, self._site.chunk, node)
        renamed = {name: around.fresh(name) for name, _ in template.inserted}
        made = self._replaced(node, template.replacement, holes, renamed, around)
        if template.inserted:
            made.extend(self._inserted(holes, renamed, around))
        made.extend(self._new_imports.values())
        if not self._site.is_package:
            gone = _outside_holes(node, holes)
            new_text = " ".join(edit.text for edit in made)
            made.extend(imports.removed(item, self._site.tree) for item in imports.needless(around, gone, new_text))
        return ordered(made)

    def _target(self) -> tuple[ast.expr, dict[str, ast.expr]]:
        """The expression to replace and what the holes stand for."""
        pattern, operand = self._template.pattern, self._site.operand
        if self._template.operand_only and isinstance(pattern, ast.Name):
            if operand is None:
                raise NoFitError("it cannot be seen which argument is handed over")
            return operand, {pattern.id: operand}
        for node in (operand, self._site.node):
            holes: dict[str, ast.expr] = {}
            if node is not None and self._matches(pattern, node, holes):
                return node, holes
        raise NoFitError("the code is written in another way than the example")

    def _matches(self, pattern: ast.expr, node: ast.expr, holes: dict[str, ast.expr]) -> bool:
        if isinstance(pattern, ast.Name) and pattern.id not in self._template.modules:
            known = holes.setdefault(pattern.id, node)
            return known is node or ast.dump(known) == ast.dump(node)
        wanted = self._dotted(pattern)
        if wanted is not None:
            around = Surroundings(self._site.tree, self._site.table, self._site.chunk, self._site.node)
            return around.meaning(node) == wanted
        match pattern, node:
            case ast.Attribute(), ast.Attribute() if pattern.attr == node.attr:
                return self._matches(pattern.value, node.value, holes)
            case ast.Call(), ast.Call() if len(pattern.args) == len(node.args) and len(pattern.keywords) == len(
                node.keywords
            ):
                named = {keyword.arg: keyword.value for keyword in node.keywords}
                return (
                    self._matches(pattern.func, node.func, holes)
                    and all(self._matches(a, b, holes) for a, b in zip(pattern.args, node.args, strict=True))
                    and all(k.arg in named and self._matches(k.value, named[k.arg], holes) for k in pattern.keywords)
                )
            case ast.Constant(), ast.Constant():
                return pattern.value == node.value and type(pattern.value) is type(node.value)
            case _:
                return False

    def _dotted(self, node: ast.expr) -> str | None:
        """The canonical name of a dotted library name of the example."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._template.modules:
            return None
        return self._site.table.canonical(".".join([self._template.modules[node.id], *reversed(parts)]))

    def _replaced(
        self,
        node: ast.expr,
        replacement: ast.expr,
        holes: Mapping[str, ast.expr],
        renamed: Mapping[str, str],
        around: Surroundings,
    ) -> list[Edit]:
        """The edits that turn `node` into the replacement; a hole that stays where it was is not touched."""
        whole = self._span(node)
        text, kept = self._written(replacement, holes, renamed, around)
        if (len(kept) == 1 and node is not self._site.node) or len(kept) == 1:
            hole, marker = next(iter(kept.items()))
            bound = self._span(holes[hole])
            prefix, _, suffix = text.partition(marker)
            if whole.start <= bound.start and bound.end <= whole.end and suffix.count(marker) == 0:
                prefix, suffix = self._bracketed(prefix, suffix, holes[hole], node, around)
                ends = [Edit(Span(whole.start, bound.start), prefix), Edit(Span(bound.end, whole.end), suffix)]
                return [edit for edit in ends if edit.text or edit.span.start < edit.span.end]
        for hole, marker in kept.items():
            text = text.replace(marker, self._source(holes[hole]))
        return [Edit(whole, text)]

    def _bracketed(
        self, prefix: str, suffix: str, bound: ast.expr, node: ast.expr, around: Surroundings
    ) -> tuple[str, str]:
        """Brackets where the expression in the hole would otherwise fall apart in its new place."""
        stands_alone = prefix == "" and suffix == ""
        holder = around.path[1] if len(around.path) > 1 else None
        apart = isinstance(holder, ast.Call | ast.keyword) and getattr(holder, "func", None) is not node
        open_line = "\n" in self._source(bound) or "\r" in self._source(bound)
        whole_value = isinstance(holder, ast.Assign | ast.Return | ast.Expr) and not open_line
        touches = suffix.startswith((".", "["))
        if isinstance(bound, _ATOMS) or (isinstance(bound, ast.Tuple) and self._source(bound).startswith("(")):
            return prefix, suffix
        if isinstance(bound, ast.Constant) and not touches:
            return prefix, suffix
        if touches or (stands_alone and not (apart or whole_value)) or isinstance(bound, ast.NamedExpr | ast.Yield):
            return prefix + "(", ")" + suffix
        return prefix, suffix

    def _written(
        self,
        replacement: ast.expr,
        holes: Mapping[str, ast.expr],
        renamed: Mapping[str, str],
        around: Surroundings,
    ) -> tuple[str, dict[str, str]]:
        """The replacement as text, with markers for its holes, and which marker stands for which hole."""
        used = {
            name.id: f"__hole_{name.id}__"
            for name in ast.walk(replacement)
            if isinstance(name, ast.Name) and name.id in holes
        }
        filler = _Filler({**renamed, **used}, lambda node: self._spelled(node, around))
        text = ast.unparse(filler.visit(copy.deepcopy(replacement)))
        if any(text.count(marker) > 1 and not isinstance(holes[hole], ast.Name) for hole, marker in used.items()):
            raise NoFitError("the expression would be evaluated more than once")
        return text, used

    def _spelled(self, node: ast.expr, around: Surroundings) -> ast.expr | None:
        """A library name in the program's own spelling, None for any other; its import is added where there is none."""
        name = self._dotted(node)
        if name is None:
            return None
        spelled = around.spelled(name)
        if spelled is None:
            top = name.partition(".")[0]
            alias = {"numpy": "np"}.get(top, top)
            if around.taken(alias) and not self._only_a_module(alias, around):
                raise NoFitError(f"the name `{alias}` is taken, so {top} cannot be imported")
            statement = f"import {top}" + (f" as {alias}" if alias != top else "")
            self._new_imports.setdefault(statement, imports.added(statement, self._site.tree))
            spelled = alias + name.removeprefix(top)
        return ast.parse(spelled, mode="eval").body

    def _only_a_module(self, alias: str, around: Surroundings) -> bool:
        """Whether the word occurs in the file only as the head of a module's name in imports and dotted names."""
        bound = {item.name for item in around.imports}
        tree = self._site.tree
        for chunk in tree.chunks:
            for root in chunk.body:
                for node in ast.walk(root):
                    if isinstance(node, ast.Name) and node.id == alias:
                        return False
                    if isinstance(node, ast.arg) and node.arg == alias:
                        return False
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == alias:
                        return False
        return alias not in bound

    def _inserted(self, holes: Mapping[str, ast.expr], renamed: Mapping[str, str], around: Surroundings) -> list[Edit]:
        """The assignments ahead of the statement. They run before all of it, so what they evaluate must not matter there."""
        statement = next((part for part in around.path if isinstance(part, ast.stmt)), None)
        between = around.path[: around.path.index(statement)] if statement is not None else ()
        if not isinstance(statement, _SIMPLE) or any(isinstance(part, _MAY_NOT_RUN) for part in between):
            raise NoFitError("no statement can be put ahead of this expression")
        for bound in holes.values():
            if any(isinstance(part, ast.Call | ast.Await | ast.NamedExpr) for part in ast.walk(bound)):
                raise NoFitError("the expression would be evaluated earlier than it is now")
        text, span = self._site.tree.text, self._span(statement)
        start = text.line_starts[text.line_of(span.start)]
        indent = text.source[start : span.start]
        if indent.strip():
            raise NoFitError("the statement shares its line with another")
        lines: list[str] = []
        for name, value in self._template.inserted:
            written, kept = self._written(value, holes, renamed, around)
            for hole, marker in kept.items():
                written = written.replace(marker, self._source(holes[hole]))
            lines.append(f"{indent}{renamed[name]} = {written}{text.newline}")
        return [Edit(Span(start, start), "".join(lines))]

    def _changed_keywords(self, changes: Mapping[str, ast.expr | None]) -> tuple[Edit, ...]:
        call = self._site.node
        if not isinstance(call, ast.Call):
            raise NoFitError("this is no call")
        made: list[Edit] = []
        for name, value in changes.items():
            keyword = next((keyword for keyword in call.keywords if keyword.arg == name), None)
            if keyword is None:
                raise NoFitError(f"the call has no `{name}=`")
            if value is not None and not isinstance(value, ast.Constant):
                raise NoFitError(f"the example gives `{name}=` something other than a literal")
            if value is not None:
                made.append(Edit(self._span(keyword.value), ast.unparse(value)))
            else:
                made.append(Edit(self._keyword_with_comma(call, keyword), ""))
        return ordered(made)

    def _keyword_with_comma(self, call: ast.Call, keyword: ast.keyword) -> Span:
        parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        spans = sorted((self._span(part) for part in parts), key=lambda span: span.start)
        here = self._span(keyword)
        index = spans.index(here)
        if index > 0:
            return Span(spans[index - 1].end, here.end)
        return Span(here.start, spans[1].start) if len(spans) > 1 else here

    def _span(self, node: ast.expr | ast.stmt | ast.keyword) -> Span:
        return self._site.tree.span(Place(self._site.chunk, node))

    def _source(self, node: ast.expr) -> str:
        return self._site.tree.text.slice(self._span(node))


class _Filler(ast.NodeTransformer):
    """Writes names anew: given ones by a mapping, library names by a function that knows the program's spelling."""

    def __init__(self, names: Mapping[str, str], spell: Callable[[ast.expr], ast.expr | None]) -> None:
        self._names = names
        self._spell = spell

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._names:
            return ast.Name(self._names[node.id], ast.Load())
        return self._spell(node) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._spell(node) or self.generic_visit(node)


def _outside_holes(node: ast.expr, holes: Mapping[str, ast.expr]) -> list[ast.AST]:
    """The parts of `node` that a replacement takes away: all of it but what the holes hold."""
    held = set(holes.values())
    parts: list[ast.AST] = []
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        if part in held:
            continue
        if isinstance(part, ast.Name):
            parts.append(part)
        stack.extend(ast.iter_child_nodes(part))
    return parts
