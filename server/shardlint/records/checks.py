"""The rules that speak of no error of JAX, and so have no record and no folder: what they find is the project's own contradiction.

They are named, kept quiet about and explained like any other. `Rule.check` names what finds them.
"""

from __future__ import annotations

from collections.abc import Mapping

from shardlint.model import Severity
from shardlint.records.catalogue import Match, Rule

WRONG_PLACEMENT_CLAIM = Rule(
    name="wrong-placement-claim",
    summary="A comment or `assume` says that a value lives where the code surely does not put it",
    family="",
    jax="",
    severity=Severity.WARNING,
    possible=Severity.OFF,
    severity_by={},
    jax_by={},
    message="The claim is not what the code does.",
    match=Match((), None, ()),
    when={},
    handled_by=(),
    tags=(),
    fixes=(),
    record={
        "documentation": (
            "`# shardlint: placement=WORD`, or `assume` in `[tool.shardlint]`, tells where a value lives that the analysis cannot "
            "know. The words are `many-devices`, `one-device`, `host` and `spans-processes`. Where the code leaves it open the claim is "
            "believed; where the code surely says otherwise the code is believed, and this is reported."
        ),
        "solutions": [
            "Read the steps: they lead from where the value comes to be up to the claim.",
            "Correct the claim, or take it out, if the code means what it does.",
            "Correct the code, if the claim says what you want: `jax.device_put(x, device)` puts an array on one device.",
        ],
    },
    page="",
    observed=(),
    check="placement-claims",
)

CHECKS: Mapping[str, Rule] = {WRONG_PLACEMENT_CLAIM.name: WRONG_PLACEMENT_CLAIM}
