"""What people do on the threads: issues, labels, comments; and what they do to check runs."""

from __future__ import annotations

from collections.abc import Sequence

from demo.standin.actions import check, pull, thread
from demo.standin.answers import not_found
from demo.standin.observer import Observer
from demo.standin.records import CheckRun, CheckSuite, Comment, Issue, User
from demo.standin.views import (
    CheckRunView,
    CommentView,
    IssueView,
    comment_view,
    issue_view,
    run_view,
)


class People(Observer):
    """The part of `World` that is about threads, of pull requests too, and about checks."""

    def _issue(self, repo: str, number: int) -> Issue:
        return self._state.issue(self._state.repo(repo), number)

    def _user(self, login: str) -> User:
        return self._state.ensure_user(login)

    def _comment(self, comment_id: int) -> Comment:
        try:
            return self._state.comments[comment_id]
        except KeyError:
            raise not_found() from None

    def _page(self, issue: Issue) -> str:
        return self._state.threads.page(issue)

    def create_issue(self, repo: str, title: str, body: str, author: str, labels: Sequence[str] = ()) -> int:
        """-> its number"""

        def work() -> int:
            found = self._state.repo(repo)
            return thread.open_issue(self._hooks, found, self._user(author), title, body, labels).number

        return self._now(work)

    def edit_issue(
        self, repo: str, number: int, actor: str, *, title: str | None = None, body: str | None = None
    ) -> None:
        changes = {name: text for name, text in (("title", title), ("body", body)) if text is not None}
        self._now(lambda: thread.edit(self._hooks, self._issue(repo, number), self._user(actor), changes))

    def add_label(self, repo: str, number: int, label: str, actor: str) -> None:
        self._now(lambda: thread.add_labels(self._hooks, self._issue(repo, number), [label], self._user(actor)))

    def remove_label(self, repo: str, number: int, label: str, actor: str) -> None:
        self._now(lambda: thread.remove_label(self._hooks, self._issue(repo, number), label, self._user(actor)))

    def close_issue(self, repo: str, number: int, actor: str, reason: str = "completed") -> None:
        """Close an issue, or a pull request without merging it."""
        self._now(lambda: thread.close(self._hooks, self._issue(repo, number), self._user(actor), reason))

    def reopen_issue(self, repo: str, number: int, actor: str) -> None:
        """Open a thread again; a pull request then has what was pushed meanwhile."""

        async def work() -> None:
            issue, user = self._issue(repo, number), self._user(actor)
            if issue.pull:
                await pull.reopen(self._hooks, issue.pull, user)
            else:
                thread.reopen(self._hooks, issue, user)

        self._do(work)

    def comment(self, repo: str, number: int, body: str, actor: str) -> int:
        """-> the comment's id"""
        return self._now(lambda: thread.add_comment(self._hooks, self._issue(repo, number), self._user(actor), body).id)

    def edit_comment(self, comment_id: int, body: str, actor: str) -> None:
        self._now(lambda: thread.edit_comment(self._hooks, self._comment(comment_id), self._user(actor), body))

    def delete_comment(self, comment_id: int, actor: str) -> None:
        self._now(lambda: thread.delete_comment(self._hooks, self._comment(comment_id), self._user(actor)))

    def react(self, comment_id: int, content: str, actor: str) -> None:
        """Put a reaction such as `+1` on a comment."""
        self._now(lambda: thread.react(self._hooks, self._comment(comment_id), self._user(actor), content))

    def issue(self, repo: str, number: int) -> IssueView:
        """The thread with its labels and comments; pull requests are issues too."""

        def work() -> IssueView:
            found = self._issue(repo, number)
            return issue_view(found, self._page(found))

        return self._now(work)

    def issues(self, repo: str) -> tuple[IssueView, ...]:
        """All issues, open and closed, without pull requests, oldest first."""

        def work() -> tuple[IssueView, ...]:
            found = self._state.repo(repo).issues.values()
            return tuple(issue_view(issue, self._page(issue)) for issue in found if issue.pull is None)

        return self._now(work)

    def pinned(self, repo: str) -> tuple[int, ...]:
        """The numbers of the pinned issues."""
        return self._now(lambda: tuple(issue.number for issue in self._state.repo(repo).pinned))

    def comments(self, repo: str, number: int) -> tuple[CommentView, ...]:
        def work() -> tuple[CommentView, ...]:
            found = self._issue(repo, number)
            return tuple(comment_view(comment, self._page(found)) for comment in found.comments)

        return self._now(work)

    def check_runs(self, repo: str, sha: str | None = None) -> tuple[CheckRunView, ...]:
        """All check runs of a commit, or of the repository, oldest first."""

        def work() -> tuple[CheckRunView, ...]:
            found = self._state.repo(repo)
            page = self._state.accounts.repo_page(found)
            runs = sorted(found.runs, key=lambda run: run.id)
            return tuple(
                run_view(run, f"{page}/runs/{run.id}") for run in runs if sha is None or run.suite.head_sha == sha
            )

        return self._now(work)

    def other_check_run(self, repo: str, sha: str, name: str, conclusion: str | None = None) -> int:
        """A check run of another App, GitHub Actions: this App hears of it, and can't change it. -> its id"""

        async def work() -> int:
            asked = {"name": name, "head_sha": sha, **({"conclusion": conclusion} if conclusion else {})}
            made = await check.create_run(self._hooks, self._state.repo(repo), asked, self._state.other_app)
            return made.id

        return self._do(work)

    def rerequest_check_run(self, run_id: int, actor: str) -> None:
        """Press "Re-run" at one check run."""
        self._now(lambda: check.ask_again(self._hooks, self._run(run_id), self._user(actor)))

    def press_button(self, run_id: int, identifier: str, actor: str) -> None:
        """Press one of the buttons (`actions`) that the App put on its check run; `ValueError` where it has no such."""
        self._now(lambda: check.ask_again(self._hooks, self._run(run_id), self._user(actor), identifier))

    def rerequest_check_suite(self, repo: str, sha: str, actor: str) -> None:
        """Press "Re-run all checks" at a commit."""
        self._now(lambda: check.ask_suite_again(self._hooks, self._suite(repo, sha), self._user(actor)))

    def _run(self, run_id: int) -> CheckRun:
        try:
            return self._state.runs[run_id]
        except KeyError:
            raise not_found() from None

    def _suite(self, repo: str, sha: str) -> CheckSuite:
        for suite in self._state.repo(repo).suites:
            if suite.head_sha == sha and suite.app is self._state.app:
                return suite
        raise not_found()
