"""What the editor at the other end can do, read once from its capabilities."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder, get_capability

from shardlint.text import Unit


@dataclass(frozen=True, slots=True)
class Client:
    """The abilities that change what is sent. The defaults are a client that announced nothing.

    `unit` is what a column counts on this connection. `hover_kind` is the first text format that the client asks hovers in.
    """

    unit: Unit = Unit.UTF16
    related_information: bool = False
    code_description: bool = False
    diagnostic_data: bool = False
    diagnostic_tags: frozenset[types.DiagnosticTag] = frozenset()
    hover_kind: types.MarkupKind = types.MarkupKind.PlainText
    code_action_literals: bool = False
    preferred_actions: bool = False
    disabled_actions: bool = False
    document_changes: bool = False
    watches_files: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> Client:
        def has(path: str) -> bool:
            return bool(get_capability(capabilities, path, default=False))

        formats = get_capability(capabilities, "text_document.hover.content_format") or (types.MarkupKind.PlainText,)
        tags = get_capability(capabilities, "text_document.publish_diagnostics.tag_support.value_set") or ()
        return cls(
            # pygls announces the same choice to the client.
            unit=Unit(ServerCapabilitiesBuilder.choose_position_encoding(capabilities)),
            related_information=has("text_document.publish_diagnostics.related_information"),
            code_description=has("text_document.publish_diagnostics.code_description_support"),
            diagnostic_data=has("text_document.publish_diagnostics.data_support"),
            diagnostic_tags=frozenset(tags),
            hover_kind=formats[0],
            code_action_literals=has("text_document.code_action.code_action_literal_support"),
            preferred_actions=has("text_document.code_action.is_preferred_support"),
            disabled_actions=has("text_document.code_action.disabled_support"),
            document_changes=has("workspace.workspace_edit.document_changes"),
            watches_files=has("workspace.did_change_watched_files.dynamic_registration"),
        )
