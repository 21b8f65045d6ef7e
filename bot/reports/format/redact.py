"""Masks secrets in text that will be stored or published: the exact values this process holds, in every form that tools
commonly print, and what looks like a credential of somebody else's. Linear in the text (T35)."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from bot.reports.format import private_keys

MASK = "***"
SHORTEST = 8
"""Shorter secrets are not looked for: masking every `true` or `3000` would make logs unreadable and protect nothing."""

_GRAM = 8
_RUN = 2 * _GRAM
"""Any stretch of this many characters of a secret is masked, so that a wrapped or cut one does not leak in parts.
Windows of `_GRAM` characters at every `_GRAM`th place of the text cannot miss a stretch of `2 * _GRAM - 1`."""

_POSITIONS = 4
"""Where a form repeats itself, its first places are enough: from there the stretch is walked along anyway."""

_BLOCK = 1 << 16
"""Characters that are cut into windows at a time; a multiple of `_GRAM`. A whole log's would take much memory."""

_GAP = 64
_BLANK = frozenset(" \t\r\n")
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"gh[pousr]_[A-Za-z0-9._-]{36,}",  # also the long `ghs_APPID_JWT` form, hence dots and dashes and no \b
        r"github_pat_[A-Za-z0-9_]{22,}",
        r"glpat-[A-Za-z0-9_-]{20,}",
        r"npm_[A-Za-z0-9]{36,}",
        r"pypi-[A-Za-z0-9_-]{50,}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"AIza[A-Za-z0-9_-]{35}",
        r"AKIA[A-Z0-9]{16}",
        r"ASIA[A-Z0-9]{16}",
        r"sk-(?<![A-Za-z0-9_-]sk-)[A-Za-z0-9_-]{20,}",
        r"://[^\s/:@]{0,64}:(?P<value>[^\s/@]{3,})@",
        r"[Aa](?i:uthorization)[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?i:(?:basic|bearer|token)\s{1,8})(?P<value>[^\s\"']{4,})",
    )
)

_ARMOUR = re.compile(r"-----(?:BEGIN|END) [A-Z ]+-----")

Span = tuple[int, int]


def _base64_cores(value: bytes) -> set[str]:
    """The characters that `value` determines in a base64 text that holds it, for each of the three alignments."""
    cores = set()
    for offset in range(3):
        first, last = -(-offset * 8 // 6), (offset + len(value)) * 8 // 6
        for encoder in (base64.b64encode, base64.urlsafe_b64encode):
            cores.add(encoder(b"\0" * offset + value).decode()[first:last])
    return cores


def _forms(secret: str) -> set[str]:
    """The ways in which tools print a value: as it is, JSON, HTML, URL (both spellings, and fully), hex, base64."""
    data = secret.encode("utf-8", "replace")
    as_json = json.dumps(secret)[1:-1]
    percent = "".join(f"%{byte:02X}" for byte in data)
    quoted = {quote(data), quote(data, safe=""), quote_plus(data)}
    lower = {re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), text) for text in {*quoted, percent}}
    return {
        secret,
        "".join(secret.split()),  # a key whose lines were joined or broken anew
        as_json,
        json.dumps(secret, ensure_ascii=False)[1:-1],
        as_json.replace("/", "\\/"),
        html.escape(secret),
        *quoted,
        *lower,
        percent,
        data.hex(),
        data.hex().upper(),
        *_base64_cores(data),
    }


class _Part:
    """Some secrets in all their forms, and the windows by which a text is searched for them. Immutable."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # a key's first and last line are the same in every key: looking for them would only cost time
        values = {_ARMOUR.sub("", secret).strip() for secret in secrets}
        forms = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
        self.short = tuple(sorted((form for form in forms if SHORTEST <= len(form) < _RUN), key=len, reverse=True))
        self.long = tuple(sorted(form for form in forms if len(form) >= _RUN))
        # where each stands is looked up once a text has it: kept here, it would take more room than all the rest
        # (and a set that is copied takes half the room of one that has grown)
        self.grams = frozenset({form[at : at + _GRAM] for form in self.long for at in range(len(form) - _GRAM + 1)})

    def places(self, gram: str) -> Iterator[tuple[str, int]]:
        """The forms a window stands in, and where: forms that share a stretch go on differently, so each counts; a
        repetitive secret costs no more for it."""
        for form in self.long if gram in self.grams else ():
            at = form.find(gram)
            for _ in range(_POSITIONS):
                if at < 0:
                    break
                yield form, at
                at = form.find(gram, at + 1)


class Redactor:
    """Masks the given secrets, their encodings, and whatever looks like a credential. Immutable; safe to share.

    Give it text that `limits.strip_control` has seen, and mask before cutting: a cut secret is only half recognised."""

    def __init__(self, secrets: Iterable[str] = (), *others: Redactor) -> None:
        """Masks what `others` mask too: what they have worked out about their secrets is shared, not done again."""
        own = _Part(secrets)
        self._parts: tuple[_Part, ...] = (
            own,
            *(part for other in others for part in other._parts if part.short or part.long),
        )

    def mask(self, text: str) -> str:
        """The text with `***` in place of every secret; line breaks inside a wrapped secret go with it."""
        return _replace(text, self.spans(text))

    def holds(self, text: str) -> bool:
        """Whether one of the given secrets, or a long stretch of one, stands in the text in any of its forms.

        What only looks like a credential doesn't count, nor does a secret shorter than the stretch."""
        return next(self._held(text), None) is not None

    def spans(self, text: str) -> list[Span]:
        """Where in the text secrets stand: half-open, in order, not overlapping."""
        found = [*self._held(text), *_looks_secret(text)]
        for form in (form for part in self._parts for form in part.short):
            at = text.find(form)
            while at >= 0:
                found.append((at, at + len(form)))
                at = text.find(form, at + len(form))
        merged: list[Span] = []
        for start, end in sorted(found):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def _held(self, text: str) -> Iterator[Span]:
        places: dict[str, list[tuple[str, int]]] = {}
        done = 0
        for at, gram in self._known_windows(text):
            if at + _GRAM <= done:
                continue
            if gram not in places:
                places[gram] = [place for part in self._parts for place in part.places(gram)]
            for form, place in places[gram]:
                span = _stretch(text, at, form, place)
                if span is not None:
                    done = max(done, span[1])
                    yield span

    def _known_windows(self, text: str) -> Iterator[tuple[int, str]]:
        """Every `_GRAM`th place of the text at which a window of a secret stands, and that window."""
        for begin in range(0, len(text), _BLOCK):
            starts = range(begin, min(begin + _BLOCK, len(text) - _GRAM + 1), _GRAM)
            windows = [text[at : at + _GRAM] for at in starts]
            # nearly always none is left, and all windows have been looked up without a step of ours for each
            known = [part.grams for part in self._parts if not part.grams.isdisjoint(windows)]
            if known:
                yield from (
                    (at, gram)
                    for at, gram in zip(starts, windows, strict=True)
                    if any(gram in grams for grams in known)
                )


def _stretch(text: str, at: int, form: str, place: int) -> Span | None:
    """The stretch round `at` that reads like the form round `place`, if it is long enough to matter."""
    start, before = _walk(text, at - 1, form, place - 1, -1)
    end, after = _walk(text, at, form, place, 1)
    return (start + 1, end) if before + after >= _RUN - 1 else None


def _walk(text: str, at: int, form: str, place: int, step: int) -> tuple[int, int]:
    """Goes along while text and form agree, over line wraps in the text; where it ended, and how much agreed."""
    matched, gap, end = 0, 0, at
    while 0 <= at < len(text) and 0 <= place < len(form):
        if text[at] == form[place]:
            place, at, matched, gap = place + step, at + step, matched + 1, 0
            end = at
        elif text[at] in _BLANK and gap < _GAP:
            at, gap = at + step, gap + 1
        else:
            break
    return end, matched


def _looks_secret(text: str) -> Iterator[Span]:
    yield from private_keys.key_spans(text)
    for pattern in _PATTERNS:
        group = "value" if "value" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            yield match.span(group)


def _replace(text: str, spans: list[Span]) -> str:
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], MASK]
        at = end
    return "".join([*pieces, text[at:]])
