"""The masker knows each secret of the process at the moment of asking: those of the start, tokens that come and go."""

from __future__ import annotations

import base64

from bot.model import Repo
from bot.reports.format.redact import MASK
from tests.workflows.conftest import NAME, At, Harness


def test_a_token_is_masked_from_minting_to_revoking_beside_all_others(at_desk: At) -> None:
    async def go(desk: Harness) -> None:
        door, mask, holds = desk.context.github, desk.context.mask, desk.context.holds_secret
        repo = Repo(owner="octo", name="tiny", installation_id=desk.github.world.installation_id(NAME))
        key_line = desk.github.private_key_pem.splitlines()[3]
        shown: dict[str, str] = {}  # cut, as otherwise the looks of a token would do
        for write in (False, True, True):
            token = await door.git_token(repo, write=write)
            cut = token.get_secret_value()[6:]
            assert cut not in shown
            shown[cut] = base64.b64encode(f"x-access-token:{cut}".encode()).decode()
            for known, basic in shown.items():
                assert mask(f"<{known}>") == f"<{MASK}>"
                assert basic[-20:-8] not in mask(f"<{basic}>")
                assert holds(f"+ url = {known}")
            assert mask(f"{'w' * 32} and {key_line}") == f"{MASK} and {MASK}"
        await door.revoke(repo, token)
        assert mask(f"<{cut}>") == f"<{cut}>" and not holds(cut)
        first = next(iter(shown))
        assert mask(f"<{first}> {key_line}") == f"<{MASK}> {MASK}"

    at_desk(go)
