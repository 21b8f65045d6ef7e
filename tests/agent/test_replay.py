"""The history agent: it repeats what helped, as real git made it, and nothing that failed or does not fit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.replay import Fits, HistoryAgent, changed_lines, patch_hash, split_patch
from bot.errors import UserError
from bot.model import AgentTask, Change, KnownError, Proposal, Resolution
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.patches.document_files import is_document
from bot.rules.reasons import error_reason, make_reason
from bot.workspace.patch import apply_changes
from tests.agent.git_tree import files_of, git, make_tree

ERROR = "<PATH>/a.c:<POS>: error: boom"
PATCH = """\
diff --git a/a.c b/a.c
index 1111111..2222222 100644
--- a/a.c
+++ b/a.c
@@ -1 +1 @@
-boom
+fine
"""


def task(**fields: object) -> AgentTask:
    given = {"run_id": "r1", "attempt": 1, "max_attempts": 3, "task": "fix", "fingerprints": (ERROR,), **fields}
    return AgentTask.model_validate(given)


def known(patch: str | None = PATCH, number: int = 1, **fields: object) -> KnownError:
    digest = patch_hash(patch) if patch else None
    how = Resolution(patch=patch, diff_hash=digest, tool_sequence=("Edit",), repo="ada/engine", pull_request=7)
    how = how.model_copy(update={"proof": "proven"})
    return KnownError.model_validate({"id": number, "error": ERROR, "resolution": how, **fields})


def _proof(proof: str | None, merged: bool = False) -> KnownError:
    record = known()
    how = record.resolution.model_copy(update={"proof": proof, "merged": merged})
    return record.model_copy(update={"resolution": how})


class Memory:
    """A history of a few records, which notes what it was asked for."""

    def __init__(self, *records: KnownError, dead: frozenset[str] = frozenset()) -> None:
        self.records = records
        self.dead = dead
        self.asked: tuple[str, ...] = ()

    async def look_up(self, fingerprints: Sequence[str]) -> Sequence[KnownError]:
        self.asked = tuple(fingerprints)
        return [record for record in self.records if record.error in fingerprints]

    async def dead_ends(self, fingerprints: Sequence[str]) -> frozenset[str]:
        return self.dead

    async def propose(self, asked: AgentTask, tree: Path = Path("/nowhere"), fits: Fits | None = None) -> Proposal:
        return await HistoryAgent(self.look_up, self.dead_ends, fits).propose(asked, tree)


async def test_it_repeats_a_proven_patch_and_says_whose() -> None:
    """REQ-RUN-008: agent `history` replays a proven resolution's patch."""
    memory = Memory(known())
    proposal = await memory.propose(task())
    assert memory.asked == (ERROR,)
    assert proposal == Proposal(
        agent="history",
        offered=True,
        changes=(Change(path="a.c", patch=PATCH),),
        note=make_reason("history.repeats_pull", id=1, error=ERROR, pull="ada/engine#7"),
        tools=("Edit",),
        replays=patch_hash(PATCH),
    )
    assert english(proposal.note) == f"repeats resolution 1 of `{ERROR}` (ada/engine#7)"


async def test_it_looks_up_the_errors_of_its_task_and_nothing_without_any() -> None:
    memory = Memory()
    await memory.propose(task(fingerprints=("boom",)))
    assert memory.asked == ("boom",)
    memory.asked = ()
    proposal = await memory.propose(task(fingerprints=()))
    assert not proposal.offered and proposal.untouched
    assert memory.asked == ()


@pytest.mark.parametrize(
    ("record", "asked", "why"),
    [
        (known(patch=None), task(), "no proven patch"),
        (known(error="another"), task(), "no proven patch"),
        (known(exact=False), task(), "no proven patch"),
        (_proof("covered"), task(), "no proven patch"),
        (_proof("unproven", merged=True), task(), "no proven patch"),
        (_proof(None), task(), "no proven patch"),
        (known(), task(failed_patches=(PATCH,)), "was tried in this run"),
        (known(), task(failed_patches=(PATCH.replace("1111111", "3333333").replace("@ -1", "@ -9"),)), "was tried"),
        (known("not a diff"), task(), "not as git prints it"),
    ],
)
async def test_it_offers_nothing_and_says_why(record: KnownError, asked: AgentTask, why: str) -> None:
    proposal = await Memory(record).propose(asked)
    assert (proposal.offered, proposal.changes, proposal.replays) == (False, (), None)
    assert why in note_of(proposal)


async def test_a_merged_change_of_a_person_is_repeated() -> None:
    """REQ-RUN-008."""
    assert (await Memory(_proof(None, merged=True)).propose(task())).offered


@pytest.mark.parametrize("digest", [patch_hash(PATCH), "its own"])
async def test_a_dead_end_is_not_tried_again(digest: str) -> None:
    record = known()
    record = record.model_copy(update={"resolution": record.resolution.model_copy(update={"diff_hash": "its own"})})
    proposal = await Memory(record, dead=frozenset({digest})).propose(task())
    assert not proposal.offered and "did not help" in note_of(proposal)


async def test_the_best_comes_first_and_the_next_where_that_is_no_use() -> None:
    def patch(name: str) -> str:
        return PATCH.replace("fine", name)

    vain = known(patch("vain"), 2, shown=3, passed=0, last_used="2026-08")
    old = known(patch("old"), 3, last_used="2026-01")
    new = known(patch("new"), 4, last_used="2026-02")
    records = [vain, old, new]
    order = []
    while records:
        note = note_of(await Memory(*records).propose(task()))
        record = next(one for one in records if f"resolution {one.id} " in note)
        order.append(record.id)
        records.remove(record)
    assert order == [4, 3, 2]
    dead = frozenset({patch_hash(patch("new"))})
    assert "resolution 3 " in note_of(await Memory(old, new, dead=dead).propose(task()))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "tree", "b é.txt")


def change_all(tree: Path) -> None:
    (tree / "a.c").write_bytes(b"fine\ndiff --git a/x b/x\n-- \n")
    text = (tree / "sub dir" / "b é.txt").read_bytes()
    (tree / "sub dir" / "b é.txt").write_bytes(text.replace(b"line 3\r", b"LINE 3\r").replace(b"line 38\r", b""))
    (tree / "gone.txt").unlink()
    (tree / "empty").unlink()
    (tree / "run.sh").chmod(0o755)
    (tree / "new" / "deep").mkdir(parents=True)
    (tree / "new" / "deep" / "n.py").write_bytes(b"x\x0cy = 1\n\n\nno end")
    (tree / "new" / "none").touch()


def note_of(proposal: Proposal) -> str:
    """Why nothing is offered, or what is said of the offer."""
    return english(proposal.because or proposal.note)


async def fits(tree: Path, changes: Sequence[Change]) -> Reason | None:
    try:
        await apply_changes(tree, changes)
    except UserError as error:
        return error_reason(error)
    return None


async def test_a_patch_of_many_files_does_what_it_did_then(tree: Path) -> None:
    """Files that come, go, are emptied of, become executable; names with spaces and accents; CRLF; no final newline."""
    change_all(tree)
    git(tree, "add", "-A")
    patch = git(tree, "diff", "--cached", "--no-renames", "--no-color")
    wanted = files_of(tree)
    git(tree, "reset", "-q", "--hard")
    proposal = await Memory(known(patch)).propose(task(), tree)
    assert proposal.offered, note_of(proposal)
    assert len(proposal.changes) == 7
    assert await fits(tree, proposal.changes) is None
    assert files_of(tree) == wanted


async def test_what_does_not_fit_is_passed_over_for_what_does(tree: Path) -> None:
    """Refused where it doesn't fit, which costs no attempt."""
    elsewhere = PATCH.replace("-boom", "-something else")
    first, second = known(elsewhere, 1, last_used="2"), known(PATCH, 2, last_used="1")
    proposal = await Memory(first).propose(task(), tree, fits)
    assert not proposal.offered and "resolution 1" in note_of(proposal) and "does not fit (a.c" in note_of(proposal)
    assert not proposal.untouched, "to see whether it fits it was applied"
    assert (tree / "a.c").read_bytes() == b"boom\n"
    assert "resolution 2" in note_of(await Memory(first, second).propose(task(), tree, fits))


# ---- what has moved on since


def diff_of(tree: Path) -> str:
    """What is changed in the tree, as git prints it; undone then."""
    git(tree, "add", "-A")
    patch = git(tree, "diff", "--cached", "--no-renames", "--no-color")
    git(tree, "reset", "-q", "--hard")
    return patch


def commit(tree: Path, **files: str) -> None:
    for name, text in files.items():
        path = tree / name.replace("__", "/")
        path = path.with_name(path.name.replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "y")


LOG = "# Changes\n\n## Next\n\n- one\n" + "\n".join(f"- old {number}" for number in range(30)) + "\n"


@pytest.fixture
def patch(tree: Path) -> str:
    """A fix with a line in the changelog, two in a document and a news fragment."""
    commit(tree, CHANGELOG_md=LOG, docs__guide_rst=LOG, src__b_c="first\nboom\nlast\n")
    (tree / "a.c").write_text("fine\n")
    (tree / "src" / "b.c").write_text("first\nfine\nlast\n")
    (tree / "CHANGELOG.md").write_text(LOG.replace("- one\n", "- one\n- fixed boom\n"))
    (tree / "docs" / "guide.rst").write_text(
        LOG.replace("- one\n", "- one\n- it does not boom\n").replace("- old 29\n", "- old 29\n- the end\n")
    )
    (tree / "changelog.d").mkdir()
    (tree / "changelog.d" / "7.fix.md").write_text("No boom.\n")
    return diff_of(tree)


async def test_parts_of_changelogs_and_documents_that_do_not_fit_are_left_out(tree: Path, patch: str) -> None:
    """Its source fits still; the release in between has rewritten the rest."""
    rewritten = LOG.replace("## Next\n\n- one\n", "## Next\n\n## 2.0\n\n- quite another\n")
    commit(tree, CHANGELOG_md=rewritten, docs__guide_rst=rewritten)
    (tree / "changelog.d").mkdir()
    (tree / "changelog.d" / "7.fix.md").write_text("Something else.\n")
    proposal = await Memory(known(patch)).propose(task(), tree, fits)
    assert proposal.offered, note_of(proposal)
    assert "left out what does not fit in CHANGELOG.md, changelog.d/7.fix.md, docs/guide.rst" in note_of(proposal)
    git(tree, "reset", "-q", "--hard")
    assert await fits(tree, proposal.changes) is None
    assert ((tree / "a.c").read_text(), (tree / "src" / "b.c").read_text()) == ("fine\n", "first\nfine\nlast\n")
    assert (tree / "CHANGELOG.md").read_text() == rewritten
    assert (tree / "docs" / "guide.rst").read_text() == rewritten.replace("- old 29\n", "- old 29\n- the end\n")
    assert (tree / "changelog.d" / "7.fix.md").read_text() == "Something else.\n"


async def test_with_one_source_part_that_does_not_fit_the_whole_patch_is_refused(tree: Path, patch: str) -> None:
    commit(tree, CHANGELOG_md="Gone.\n", src__b_c="first\nboom boom\nlast\n")
    proposal = await Memory(known(patch)).propose(task(), tree, fits)
    assert not proposal.offered
    assert "does not fit (src/b.c" in note_of(proposal)
    assert (tree / "a.c").read_text() == "boom\n"


async def test_a_patch_of_documents_alone_fits_whole_or_not_at_all(tree: Path) -> None:
    commit(tree, CHANGELOG_md=LOG, README_md="boom\n")
    (tree / "CHANGELOG.md").write_text(LOG.replace("- one\n", "- one\n- fixed boom\n"))
    (tree / "README.md").write_text("fine\n")
    only = diff_of(tree)
    commit(tree, CHANGELOG_md="Gone.\n")
    proposal = await Memory(known(only)).propose(task(), tree, fits)
    assert not proposal.offered and "does not fit (CHANGELOG.md" in note_of(proposal)


async def test_what_fits_as_a_whole_is_repeated_as_a_whole(tree: Path, patch: str) -> None:
    proposal = await Memory(known(patch)).propose(task(), tree, fits)
    assert "left out" not in note_of(proposal)
    assert len(proposal.changes) == 5


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *((path, True) for path in ("CHANGELOG.md", "CHANGES", "HISTORY.rst", "pkg/NEWS.txt", "docs/api/x.py")),
        *((path, True) for path in ("changelog.d/1.fix", ".changeset/brave-cats.md", "README.rst", "a/b/notes.MD")),
        *((path, False) for path in ("src/history.py", "changes.ts", "tests/data/in.md", "requirements.txt")),
        *((path, False) for path in ("src/docs/x.py", "newsletter.py", "docs/test/in.md", "history_test.go")),
    ],
)
def test_documents_are_told_from_source_and_from_what_tests_read(path: str, expected: bool) -> None:
    assert is_document(path) is expected


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("git mv a.c moved.c", "renames"),
        ("printf 'a\\0b' > a.c", "binary"),
        ("ln -sf /etc/passwd a.c", "link"),
        ("printf 'caf\\351\\n' > a.c", "bytes that are no text"),
    ],
)
async def test_what_a_change_cannot_say_is_not_offered(tree: Path, act: str, why: str) -> None:
    subprocess.run(["sh", "-c", act], cwd=tree, check=True)
    git(tree, "add", "-A")
    patch = git(tree, "diff", "--cached", "-M")
    assert patch
    proposal = await Memory(known(patch)).propose(task(), tree)
    assert not proposal.offered and why in note_of(proposal)


@pytest.mark.parametrize(
    "text", ["", "prose", "prose\n" + PATCH, PATCH + PATCH, "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-x\n+y\n"]
)
def test_what_git_does_not_print_is_not_offered(text: str) -> None:
    assert isinstance(split_patch(text), Reason)


_PIECES = [*"ab/ \n+-@\\0123", "diff --git a/b b/b\n", "\n--- a/b", "\n+++ b/b", "\n@@ -1 +1 @@\n", PATCH]


@given(st.lists(st.sampled_from(_PIECES)).map("".join))
def test_any_text_is_split_or_refused_and_nothing_is_lost(text: str) -> None:
    found = split_patch(text)
    if not isinstance(found, Reason):
        assert "".join(change.patch or "" for change in found) == text.lstrip()
    changed_lines(text)
