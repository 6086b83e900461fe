"""What one client has open, and what is known of it.

A session turns the client's documents into snapshots and keeps each one's report until the document changes. It knows
nothing of messages: features ask it and speak LSP themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from shardlint.lsp.client import Client
from shardlint.lsp.convert import changed, path_of
from shardlint.model import Finding, Fix, Problem
from shardlint.text import Text

if TYPE_CHECKING:
    from shardlint.check import Report, Snapshot
    from shardlint.lsp.engine import Engine, Project


@dataclass(frozen=True, slots=True)
class Document:
    """An open document as the client last told it. `path` is the name that findings carry, `version` the client's."""

    uri: str
    path: str
    version: int
    text: Text

    @property
    def folder(self) -> Path | None:
        """The folder whose settings hold for it; None for a buffer that was never saved."""
        return Path(self.path).parent if self.uri.lower().startswith("file:") else None


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """One document in one version with what was found in it."""

    document: Document
    snapshot: Snapshot
    report: Report
    import_folders: tuple[Path, ...] = ()


class Session:
    """The documents of one client, their settings and their reports.

    `tell` is called once for every thing of the user's that cannot be used, such as a wrong key in a settings file, and again
    for one that comes back after it was corrected.
    """

    def __init__(self, engine: Engine, tell: Callable[[Problem], None]) -> None:
        self.client = Client()
        self.engine = engine
        self._tell = tell
        self._workspace: tuple[Path, ...] = ()
        self._documents: dict[str, Document] = {}
        self._checked: dict[str, CheckedDocument] = {}
        self._repairs: dict[str, dict[Finding, tuple[Fix, ...]]] = {}
        self._projects: dict[Path, Project] = {}
        self._told: set[Problem] = set()
        self._meanings: dict[Path, Mapping[str, str]] = {}
        self._asked: dict[Path, frozenset[str]] = {}

    def start(self, client: Client, workspace: Sequence[str]) -> None:
        """Take on a client. `workspace` is its folders, as URIs."""
        self.client = client
        self.change_workspace(added=workspace, removed=())

    def change_workspace(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """Add and remove workspace folders, as URIs; those that are no files on this machine have no settings."""
        gone = {path_of(uri) for uri in removed}
        kept = [folder for folder in self._workspace if str(folder) not in gone]
        paths = [path for uri in added if uri.lower().startswith("file:") and (path := path_of(uri))]
        self._workspace = tuple(dict.fromkeys([*kept, *map(Path, paths)]))
        self.forget_settings()

    def forget_settings(self) -> None:
        """Read settings and environments again before the next report."""
        self._told = {problem for project in self._projects.values() for problem in project.problems}
        self._projects.clear()
        self._checked.clear()
        self._meanings.clear()
        self._asked.clear()

    def notice_settings(self, uri: str) -> bool:
        """Forget all settings if a file that those of a document come from has changed. Returns whether that is so."""
        document = self._documents.get(uri)
        project = self._projects.get(self._folder(document)) if document else None
        if project is None or not project.outdated():
            return False
        self.forget_settings()
        return True

    def open(self, item: types.TextDocumentItem) -> bool:
        """Take a document; False if it is none of shardlint's business (not Python, or neither file nor unsaved)."""
        path = path_of(item.uri)
        if item.language_id != "python" or path is None:
            return False
        self._documents[item.uri] = Document(item.uri, path, item.version, Text(item.text))
        return True

    def change(self, uri: str, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
        """Bring a document to its next version; False if it is not open here."""
        document = self._documents.get(uri)
        if document is None:
            return False
        text = changed(document.text, changes, self.client.unit)
        self._documents[uri] = replace(document, version=version, text=text)
        return True

    def close(self, uri: str) -> bool:
        """Forget a document; False if it was not open here."""
        self._checked.pop(uri, None)
        self._repairs.pop(uri, None)
        return self._documents.pop(uri, None) is not None

    def is_open(self, uri: str) -> bool:
        return uri in self._documents

    @property
    def open_uris(self) -> Iterator[str]:
        return iter(tuple(self._documents))

    def checked(self, uri: str) -> CheckedDocument | None:
        """The report on a document's current text, made on the first call for that text. None if it is not open here."""
        document = self._documents.get(uri)
        if document is None:
            return None
        known = self._checked.get(uri)
        if known is None or known.document is not document:
            known = self._check(document)
            self._checked[uri] = known
            self._repairs.pop(uri, None)
        return known

    def questions(self, checked: CheckedDocument) -> frozenset[str]:
        """The names whose meaning matters to a report, and was not asked for since `doubt_meanings`."""
        names = {*checked.report.questions, *checked.snapshot.answers}
        return frozenset(names - self._asked.get(self._folder(checked.document), frozenset()))

    def learn(
        self, checked: CheckedDocument, names: frozenset[str], meanings: Mapping[str, str]
    ) -> CheckedDocument | None:
        """Take in what the names mean that a report asked for; all that is checked later in the same folder knows it too.

        The document is checked again if that is news for it and it is still as it was; else there is None.
        """
        folder = self._folder(checked.document)
        others = {name: known for name, known in self._meanings.get(folder, {}).items() if name not in names}
        self._meanings[folder] = {**others, **meanings}
        self._asked[folder] = self._asked.get(folder, frozenset()) | names
        uri = checked.document.uri
        known = checked.snapshot.answers
        is_news = meanings != {name: known[name] for name in names & known.keys()}
        if not is_news or self._checked.get(uri) is not checked or self._documents.get(uri) is not checked.document:
            return None
        del self._checked[uri]
        return self.checked(uri)

    def doubt_meanings(self) -> None:
        """Ask for all names again when they matter next: other modules may have changed."""
        self._asked.clear()

    def repairs(self, checked: CheckedDocument, finding: Finding) -> tuple[Fix, ...]:
        """The repairs of one finding, worked out when they are first asked for: each of them is a check of its own."""
        known = self._repairs.setdefault(checked.document.uri, {})
        if finding not in known:
            known[finding] = self.engine.repairs(checked.snapshot, finding)
        return known[finding]

    def _check(self, document: Document) -> CheckedDocument:
        from shardlint.check import Snapshot

        project = self._project(document)
        answers = self._meanings.get(self._folder(document), {})
        snapshot = Snapshot(
            document.path, document.text, project.target, project.catalogue, project.ignored, answers,
            assume=project.assume,
        )  # fmt: skip
        return CheckedDocument(document, snapshot, self.engine.check(snapshot), project.import_folders)

    def _folder(self, document: Document) -> Path:
        return document.folder or next(iter(self._workspace), Path.cwd())

    def _project(self, document: Document) -> Project:
        folder = self._folder(document)
        if folder not in self._projects:
            project = self._projects[folder] = self.engine.project(folder)
            for problem in project.problems:
                if problem not in self._told:
                    self._told.add(problem)
                    self._tell(problem)
        return self._projects[folder]
