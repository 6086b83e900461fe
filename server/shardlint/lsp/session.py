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
from shardlint.model import Finding, Fix, HandOff, Problem
from shardlint.text import Text

if TYPE_CHECKING:
    from shardlint.check import Report, Snapshot
    from shardlint.lsp.engine import Engine, Project
    from shardlint.workspace import Workspace, Workspaces


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
    workspace: Workspace | None = None

    @property
    def texts(self) -> Mapping[str, Text]:
        """The texts that findings of the report point into, by path."""
        return {**self.report.looked_into, self.document.path: self.document.text}

    def depends_on(self, path: str) -> bool:
        """Whether the report may be another one when the text of a file is."""
        if path in self.report.looked_into:
            return True
        return self.workspace is not None and self.workspace.leads(self.report.imports, path)

    @property
    def is_outdated(self) -> bool:
        """Whether a file that the report depends on is not as it was, or one that was looked for is there now."""
        return self.workspace is not None and not self.workspace.holds_for(self.report.imports)


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
        self._workspaces: Workspaces | None = None
        self._outdated: set[str] = set()
        self._checked: dict[str, CheckedDocument] = {}
        self._checks: dict[str, Callable[[Snapshot], Report]] = {}
        self._repairs: dict[str, dict[tuple[Finding, int], tuple[CheckedDocument, tuple[Fix, ...]]]] = {}
        self._guards: dict[str, dict[HandOff, tuple[Fix, ...]]] = {}
        self._reasons: dict[str, dict[Finding, str]] = {}
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
        self._workspaces = None
        self._outdated.update(self._checked)
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
        self._hold()
        self.look_again()
        return True

    def change(self, uri: str, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
        """Bring a document to its next version; False if it is not open here."""
        document = self._documents.get(uri)
        if document is None:
            return False
        text = changed(document.text, changes, self.client.unit)
        self._documents[uri] = replace(document, version=version, text=text)
        self._hold()
        others = [known for other, known in self._checked.items() if other != uri]
        self._outdated.update(known.document.uri for known in others if known.depends_on(document.path))
        return True

    def close(self, uri: str) -> bool:
        """Forget a document; False if it was not open here."""
        self._checked.pop(uri, None)
        self._checks.pop(uri, None)
        self._forget(uri)
        self._outdated.discard(uri)
        is_known = self._documents.pop(uri, None) is not None
        self._hold()
        self.look_again()
        return is_known

    def _forget(self, uri: str) -> None:
        """Work out again what can be made of the findings and hand-offs of a document, when it is asked for."""
        for known in (self._repairs, self._guards, self._reasons):
            known.pop(uri, None)

    def is_open(self, uri: str) -> bool:
        return uri in self._documents

    @property
    def open_uris(self) -> Iterator[str]:
        return iter(tuple(self._documents))

    def document_of(self, path: str) -> Document | None:
        """The open document of a file."""
        return next((document for document in self._documents.values() if document.path == path), None)

    @property
    def outdated(self) -> frozenset[str]:
        """The documents whose reports have to be made again, as a file that they depend on has changed."""
        return frozenset(self._outdated)

    def look_again(self) -> None:
        """Other files may have come, gone or changed: find out which reports that makes outdated."""
        self._outdated.update(uri for uri, known in self._checked.items() if known.is_outdated)

    def checked(self, uri: str) -> CheckedDocument | None:
        """The report on a document's current text and those of the files it depends on, made on the first call for these. None if
        it is not open here.
        """
        document = self._documents.get(uri)
        if document is None:
            return None
        known = self.current(uri)
        if known is None:
            known = self._checked[uri] = self._check(document)
            self._outdated.discard(uri)
            self._forget(uri)
        return known

    def current(self, uri: str) -> CheckedDocument | None:
        """The report on a document if it was made and nothing has changed since."""
        known = self._checked.get(uri)
        is_current = known is not None and known.document is self._documents.get(uri) and uri not in self._outdated
        return known if is_current else None

    @property
    def last_checked(self) -> tuple[CheckedDocument, ...]:
        """The newest report on each open document, which may be about an older text."""
        return tuple(self._checked.values())

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
        if not is_news or self.current(uri) is not checked:
            return None
        self._outdated.add(uri)
        return self.checked(uri)

    def doubt_meanings(self) -> None:
        """Ask for all names again when they matter next: other modules may have changed."""
        self._asked.clear()

    def repairs(
        self, checked: CheckedDocument, finding: Finding, seen: CheckedDocument | None = None
    ) -> tuple[Fix, ...]:
        """The repairs of one finding in a document, worked out when they are first asked for: each of them is a check of its own.
        `seen` is the report that found it, if that is not the document's own.
        """
        if finding.location.path != checked.document.path:
            return ()
        by = seen or checked
        known = self._repairs.setdefault(checked.document.uri, {})
        key = finding, id(by)
        if key not in known:
            known[key] = (
                by,
                (
                    self.engine.repairs(checked.snapshot, finding)
                    if by is checked
                    else self.engine.repairs_found_from(by.snapshot, checked.snapshot, finding)
                ),
            )
        return known[key][1]

    def why_no_repair(self, checked: CheckedDocument, finding: Finding) -> str:
        """Why a finding of a document has no repair, worked out when it is first asked for."""
        known = self._reasons.setdefault(checked.document.uri, {})
        if finding not in known:
            known[finding] = self.engine.why_no_repair(checked.snapshot, finding)
        return known[finding]

    def guards(self, checked: CheckedDocument, hand_off: HandOff) -> tuple[Fix, ...]:
        """The guards for a hand-off of a document, worked out when they are first asked for."""
        known = self._guards.setdefault(checked.document.uri, {})
        if hand_off not in known:
            known[hand_off] = self.engine.guards(checked.snapshot, hand_off)
        return known[hand_off]

    def bring_up_to_date(self, path: str) -> None:
        """Make the outdated reports again that speak of a file: before somebody is answered about it."""
        for known in self.last_checked:
            if any(finding.location.path == path for finding in known.report.findings):
                self.checked(known.document.uri)

    def _check(self, document: Document) -> CheckedDocument:
        from shardlint.check import Snapshot
        from shardlint.workspace import standing

        project = self._project(document)
        answers = self._meanings.get(self._folder(document), {})
        snapshot = Snapshot(
            document.path, document.text, project.target, project.catalogue, project.ignored, answers,
            assume=project.assume, ignored_in=project.ignored_in,
        )  # fmt: skip
        workspace = None
        if document.folder is not None:
            place = standing(Path(document.path), project.root or document.folder)
            workspace = self._modules().at(place.roots, project.catalogue, fresh=True)
            snapshot = replace(snapshot, modules=workspace, module=place.name, is_package=place.is_package)
        check = self._checks.get(document.uri)
        if check is None:
            check = self._checks[document.uri] = self.engine.checks()
        report = check(snapshot)
        return CheckedDocument(document, snapshot, report, project.import_folders, workspace)

    def _modules(self) -> Workspaces:
        if self._workspaces is None:
            self._workspaces = self.engine.workspaces()
            self._hold()
        return self._workspaces

    def _hold(self) -> None:
        """What is open comes before what is on disk."""
        if self._workspaces is not None:
            documents = self._documents.values()
            self._workspaces.hold({Path(one.path): one.text for one in documents if one.folder is not None})

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
