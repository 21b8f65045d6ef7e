"""Examines the App on GitHub: its key, permissions, events and webhook, and what became of the last deliveries."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from bot.app.diagnoses import failed, fine, warned
from bot.config import Settings
from bot.errors import MendbotError, Transient
from bot.github.answers import NotFound, Unauthorized
from bot.github.app_setup import AppSetup, HookSetup, RecentDelivery, lacking_permissions
from bot.github.client import GitHub
from bot.http import open_client
from bot.model.app_requirements import APP_EVENTS, APP_PERMISSIONS
from bot.model.diagnosis import Diagnosis
from bot.rules.reasons import error_reason, make_reason

_TIMEOUT_S = 30.0
_JSON = "application/json"
_NOT_LISTED = frozenset({"merge_group"})
"""GitHub's own description of an App does not have it among the values of `events`."""

_CAUSES = {401: "secret", 0: "unreachable", 502: "unreachable", 504: "unreachable"}
"""Why a delivery failed, by its status code: GitHub lists "failed to connect to host" as 502, "timed out" as 504. A
proxy answers 502 and 504 too, if the server behind it does not run."""


async def examine_app(settings: Settings) -> list[Diagnosis]:
    """The diagnoses of the App; one alone where there is none, or where GitHub does not show it."""
    if settings.app_id is None:
        return [failed("app", "key", make_reason("setup.no_app"), make_reason("setup.no_app.remedy"))]
    try:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            open_client(
                settings.github_api_url, allow_private=settings.allow_private_api, timeout_s=_TIMEOUT_S
            ) as client,
        ):
            github = GitHub(
                app_id=settings.app_id.strip(),
                key_pem=settings.key_pem,
                api_url=settings.github_api_url,
                client=client,
                write_spacing_s=settings.write_spacing_s,
            )
            app, hook, deliveries = await github.app_setup()
    except Unauthorized:
        return [failed("app", "key", make_reason("health.key_refused"), make_reason("doctor.remedy.key"))]
    except NotFound:
        return [failed("app", "key", make_reason("health.unknown_app"), make_reason("doctor.remedy.key"))]
    except (Transient, TimeoutError):
        message = make_reason("doctor.github_silent", url=settings.github_api_url)
        return [failed("app", "github", message, make_reason("doctor.remedy.github"))]
    except MendbotError as error:
        return [failed("app", "key", error_reason(error), make_reason("doctor.remedy.key"))]
    return [
        fine("app", "key", make_reason("doctor.key", slug=app.slug)),
        *_rights(app),
        *([] if hook is None else [_hook(hook)]),
        *_deliveries(deliveries),
    ]


def _rights(app: AppSetup) -> Iterator[Diagnosis]:
    lacking = lacking_permissions(APP_PERMISSIONS, app.permissions)
    if lacking:
        message = make_reason("doctor.permissions.lacking", names=", ".join(lacking))
        yield failed("app", "permissions", message, make_reason("doctor.remedy.permissions"))
    else:
        yield fine("app", "permissions", make_reason("doctor.permissions"))
    missing = [event for event in APP_EVENTS if event not in (*app.events, *_NOT_LISTED)]
    if missing:
        message = make_reason("doctor.events.missing", names=", ".join(missing))
        yield failed("app", "events", message, make_reason("doctor.remedy.events"))
    else:
        yield fine("app", "events", make_reason("doctor.events"))
    if app.installations_count == 0:
        message, remedy = make_reason("doctor.not_installed"), make_reason("doctor.remedy.install")
        yield warned("app", "installations", message, remedy)
    elif app.installations_count is not None:
        yield fine("app", "installations", make_reason("doctor.installed", count=app.installations_count))


def _hook(hook: HookSetup) -> Diagnosis:
    """The webhook: its URL, its secret and its content type."""
    if not hook.url:
        return failed("app", "webhook", make_reason("doctor.hook.no_url"), make_reason("doctor.remedy.hook"))
    if not hook.secret:
        message = make_reason("doctor.hook.no_secret", url=hook.url)
        return failed("app", "webhook", message, make_reason("doctor.remedy.hook_secret"))
    if hook.content_type not in (None, "json"):
        message = make_reason("doctor.hook.content_type", type=hook.content_type)
        return failed("app", "webhook", message, make_reason("doctor.remedy.hook_type", type=_JSON))
    return fine("app", "webhook", make_reason("doctor.hook", url=hook.url))


def _deliveries(deliveries: tuple[RecentDelivery, ...]) -> Iterator[Diagnosis]:
    """What the server answered to the latest delivery: a wrong secret shows here, and so does an unreachable URL."""
    if not deliveries:
        yield warned("app", "deliveries", make_reason("doctor.deliveries.none"), make_reason("doctor.remedy.redeliver"))
        return
    latest = deliveries[0]
    if latest.status == "OK":
        yield fine("app", "deliveries", make_reason("doctor.deliveries", event=latest.event))
        return
    cause = _CAUSES.get(latest.status_code, "refused")
    message = make_reason("doctor.deliveries.failed", event=latest.event, status=latest.status)
    yield failed("app", "deliveries", message, make_reason(f"doctor.remedy.deliveries.{cause}"))
