"""What a virtual machine's GPU means for a CI job: tell it, fail for it, or leave it aside. Pure."""

from __future__ import annotations

from mpsdoctor.report.model import Report
from mpsdoctor.verdict import FAIL, WARN

POLICIES = ("warn", "fail", "ignore")
CAUSE = "virtual-machine-gpu"


def exit_with_policy(report: Report, status: int, policy: str | None, *, fail_on: str, expect: str) -> int:
    """Return the exit status of a run under a policy; `status` is the one without.

    warn and ignore: a virtual GPU alone, broken or not, fails no job (warn: with fail_on "warning" it does). fail: any
    virtual machine does. A usable GPU that was asked for (`expect`) stays asked for.
    """
    if policy is None or report.facts.host.is_virtual is not True or fail_on == "never":
        return status
    if policy == "fail":
        return status or 1
    if expect != "any" or status != 1:
        return status
    others = {finding.outcome for finding in report.findings if finding.is_root and finding.cause != CAUSE}
    warned = {WARN} if policy == "warn" else set()
    failing = {FAIL} if fail_on == "error" else {FAIL, WARN}
    return 1 if (others | warned) & failing else 0


def annotation_kind(policy: str | None, kind: str) -> str | None:
    """Return the kind of annotation for the virtual machine's finding; None: none at all."""
    return {"warn": "warning", "fail": "error", "ignore": None}.get(policy, kind) if policy else kind
