"""What people do to pull requests: open, change, merge and review them."""

from __future__ import annotations

from demo.standin.actions import merge_queue, repository
from demo.standin.actions import pull as pull_actions
from demo.standin.actions import review as review_actions
from demo.standin.answers import not_found
from demo.standin.people import People
from demo.standin.records import Pull, Review, ReviewComment, ReviewState
from demo.standin.views import (
    PullView,
    ReviewCommentView,
    ReviewView,
    pull_view,
    review_comment_view,
    review_view,
)


class PullPeople(People):
    """The part of `World` that is about pull requests alone."""

    def _pull(self, repo: str, number: int) -> Pull:
        pull = self._issue(repo, number).pull
        if pull is None:
            raise not_found()
        return pull

    def open_pull(
        self, repo: str, head: str, title: str, body: str, author: str, *, base: str = "", draft: bool = False
    ) -> int:
        """A person's pull request; `head` is `owner:branch` where the branch is in a fork. -> its number"""

        async def work() -> int:
            found = self._state.repo(repo)
            source, branch = pull_actions.find_head(self._hooks, found, head)
            asked = pull_actions.Request(title, body, source, branch, base or found.default_branch, draft)
            return (await pull_actions.open_pull(self._hooks, found, self._user(author), asked)).issue.number

        return self._do(work)

    def edit_pull(
        self,
        repo: str,
        number: int,
        actor: str,
        *,
        title: str | None = None,
        body: str | None = None,
        base: str | None = None,
    ) -> None:
        given = (("title", title), ("body", body), ("base", base))
        changes = {name: text for name, text in given if text is not None}
        self._do(lambda: pull_actions.edit(self._hooks, self._pull(repo, number), self._user(actor), changes))

    def mark_ready(self, repo: str, number: int, actor: str) -> None:
        """Press "Ready for review"."""
        self._set_draft(repo, number, actor, draft=False)

    def convert_to_draft(self, repo: str, number: int, actor: str) -> None:
        """Press "Convert to draft"."""
        self._set_draft(repo, number, actor, draft=True)

    def _set_draft(self, repo: str, number: int, actor: str, *, draft: bool) -> None:
        self._now(lambda: pull_actions.set_draft(self._hooks, self._pull(repo, number), self._user(actor), draft))

    def allow_drafts(self, repo: str, allowed: bool) -> None:
        """Whether the owner's plan has draft pull requests for the repository; every one has at first."""

        def work() -> None:
            self._state.repo(repo).drafts = allowed

        self._now(work)

    def merge_pull(self, repo: str, number: int, actor: str) -> str:
        """Press "Merge": really merges in git and closes the issues the body names; -> the merge commit."""

        async def work() -> str:
            found, user = self._state.repo(repo), self._user(actor)
            async with found.git.lock:
                before = await found.git.branches()
                sha = await pull_actions.merge(self._hooks, self._pull(repo, number), user)
                await repository.pushed(self._hooks, found, before, user)
            return sha

        return self._do(work)

    def enqueue_pull(self, repo: str, number: int, actor: str) -> str:
        """Press "Merge when ready" where there is a merge queue; -> the commit of its merge group."""

        async def work() -> str:
            async with self._state.repo(repo).git.lock:
                return await merge_queue.enqueue(self._hooks, self._pull(repo, number), self._user(actor))

        return self._do(work)

    def destroy_group(self, repo: str, number: int, sha: str, actor: str, reason: merge_queue.Reason) -> None:
        """The queue has no more use for the commit that `enqueue_pull` made."""

        async def work() -> None:
            async with self._state.repo(repo).git.lock:
                pull, user = self._pull(repo, number), self._user(actor)
                await merge_queue.destroy(self._hooks, pull, sha, reason, user)

        self._do(work)

    def pulls(self, repo: str) -> tuple[PullView, ...]:
        """All pull requests, open or not, oldest first."""

        def work() -> tuple[PullView, ...]:
            return tuple(pull_view(pull, self._page(pull.issue)) for pull in self._state.repo(repo).pulls)

        return self._now(work)

    # --- reviews -------------------------------------------------------------------------------------------------

    def review(self, repo: str, number: int, body: str, actor: str, *, state: ReviewState = "commented") -> int:
        """Submit a review of the whole; -> its id"""
        return self._now(
            lambda: review_actions.submit(self._hooks, self._pull(repo, number), self._user(actor), body, state).id
        )

    def edit_review(self, review_id: int, body: str, actor: str) -> None:
        self._now(lambda: review_actions.edit(self._hooks, self._review(review_id), self._user(actor), body))

    def review_comment(self, repo: str, number: int, body: str, actor: str, *, path: str, line: int) -> int:
        """Comment on a line of the new side that the diff shows; -> the comment's id"""

        async def work() -> int:
            pull, user = self._pull(repo, number), self._user(actor)
            return (await review_actions.comment(self._hooks, pull, user, body, (path, line))).id

        return self._do(work)

    def edit_review_comment(self, comment_id: int, body: str, actor: str) -> None:
        def work() -> None:
            review_actions.edit_comment(self._hooks, self._review_comment(comment_id), self._user(actor), body)

        self._now(work)

    def delete_review_comment(self, comment_id: int, actor: str) -> None:
        def work() -> None:
            review_actions.delete_comment(self._hooks, self._review_comment(comment_id), self._user(actor))

        self._now(work)

    def reviews(self, repo: str, number: int) -> tuple[ReviewView, ...]:
        """Oldest first, also those without words around the comments on lines."""

        def work() -> tuple[ReviewView, ...]:
            pull = self._pull(repo, number)
            return tuple(review_view(review, self._page(pull.issue)) for review in pull.reviews)

        return self._now(work)

    def review_comments(self, repo: str, number: int) -> tuple[ReviewCommentView, ...]:
        def work() -> tuple[ReviewCommentView, ...]:
            pull = self._pull(repo, number)
            return tuple(review_comment_view(comment, self._page(pull.issue)) for comment in pull.review_comments)

        return self._now(work)

    def _review(self, review_id: int) -> Review:
        try:
            return self._state.reviews[review_id]
        except KeyError:
            raise not_found() from None

    def _review_comment(self, comment_id: int) -> ReviewComment:
        try:
            return self._state.review_comments[comment_id]
        except KeyError:
            raise not_found() from None
