"""Proving the shipped rules on real JAX, in processes of their own."""

from shardlint.verify.process import VerifyError
from shardlint.verify.run import (
    Outcome,
    Status,
    VerifyReport,
    compare_observed,
    packages_used,
    verify,
    write_observed,
)
from shardlint.verify.throwaway import throwaway

__all__ = [
    "Outcome",
    "Status",
    "VerifyError",
    "VerifyReport",
    "compare_observed",
    "packages_used",
    "throwaway",
    "verify",
    "write_observed",
]
