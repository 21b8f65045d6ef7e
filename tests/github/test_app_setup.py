"""Which permissions an App lacks: write includes read."""

from __future__ import annotations

from bot.github.app_setup import lacking_permissions


def test_a_higher_permission_includes_a_lower_one() -> None:
    wanted = {"checks": "write", "metadata": "read", "issues": "write"}
    assert lacking_permissions(wanted, {"checks": "write", "metadata": "write", "issues": "admin"}) == ()
    assert lacking_permissions(wanted, {"checks": "read", "metadata": "read"}) == ("checks: write", "issues: write")
