"""Masks secrets in text that will be stored or published. Linear in the text (T35).

Secrets are the exact values that this process has, in every form that tools commonly print, and text that looks like
any other credential."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from bot.reports.format import private_keys

MASK = "***"
MIN_SECRET_CHARS = 8
"""Shorter secrets are ignored: masking every `true` or `3000` would make logs unreadable and protect nothing."""

_GRAM = 8
_STRETCH = 2 * _GRAM
"""Any stretch of this many characters of a secret is masked, so that a wrapped or cut secret does not leak in parts.
Windows of `_GRAM` characters at every `_GRAM`th place of the text cannot miss a stretch of `2 * _GRAM - 1`."""

_MAX_PLACES = 4
"""The places of a window in a form that are compared. These are enough for a form that repeats itself, as a match is
extended along it."""

_BLOCK_CHARS = 1 << 16
"""Characters that are cut into windows at a time, to limit the memory for a long log; a multiple of `_GRAM`."""

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
    """Returns the characters that `value` determines in a base64 text that contains it, for each of the three
    alignments."""
    cores = set()
    for offset in range(3):
        first, last = -(-offset * 8 // 6), (offset + len(value)) * 8 // 6
        for encoder in (base64.b64encode, base64.urlsafe_b64encode):
            cores.add(encoder(b"\0" * offset + value).decode()[first:last])
    return cores


def _forms(secret: str) -> set[str]:
    """Returns the forms in which tools print a value: as it is, JSON, HTML, URL (both spellings, and fully), hex,
    base64."""
    data = secret.encode("utf-8", "replace")
    as_json = json.dumps(secret)[1:-1]
    percent = "".join(f"%{byte:02X}" for byte in data)
    quoted = {quote(data), quote(data, safe=""), quote_plus(data)}
    lower = {re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), text) for text in {*quoted, percent}}
    return {
        secret,
        "".join(secret.split()),  # a key whose lines were joined or wrapped differently
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
    """Some secrets in all their forms, and the windows for which a text is searched. Immutable."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # a key's first and last line are the same in every key: looking for them would only cost time
        values = {_ARMOUR.sub("", secret).strip() for secret in secrets}
        forms = {form for value in values if len(value) >= MIN_SECRET_CHARS for form in _forms(value)}
        self.short = tuple(
            sorted((form for form in forms if MIN_SECRET_CHARS <= len(form) < _STRETCH), key=len, reverse=True)
        )
        self.long = tuple(sorted(form for form in forms if len(form) >= _STRETCH))
        # the places of a window are looked up when a text has it: stored here, they would take most of the memory
        # (and a set that is copied takes half the memory of one that has grown)
        self.grams = frozenset({form[at : at + _GRAM] for form in self.long for at in range(len(form) - _GRAM + 1)})

    def places(self, gram: str) -> Iterator[tuple[str, int]]:
        """Yields the forms that contain a window, each with the window's position in it.

        Forms that share a stretch continue differently, so each counts. A repetitive secret has at most `_MAX_PLACES`
        places per form."""
        for form in self.long if gram in self.grams else ():
            at = form.find(gram)
            for _ in range(_MAX_PLACES):
                if at < 0:
                    break
                yield form, at
                at = form.find(gram, at + 1)


class Redactor:
    """Masks the given secrets, their encodings, and text that looks like a credential. Immutable; safe to share.

    Apply it after `truncate.strip_control` and before any cut: a cut secret is only partly recognised."""

    def __init__(self, secrets: Iterable[str] = (), *others: Redactor) -> None:
        """Also masks the secrets of `others`; their prepared forms are shared, not computed again."""
        own = _Part(secrets)
        self._parts: tuple[_Part, ...] = (
            own,
            *(part for other in others for part in other._parts if part.short or part.long),
        )

    def mask(self, text: str) -> str:
        """Returns the text with `***` in place of every secret; line breaks inside a wrapped secret are masked too."""
        return _replace(text, self.spans(text))

    def holds(self, text: str) -> bool:
        """Returns whether the text contains a given secret, or a long stretch of one, in any of its forms.

        Text that only looks like a credential does not count, nor does a secret shorter than the stretch."""
        return next(self._secret_spans(text), None) is not None

    def spans(self, text: str) -> list[Span]:
        """Returns the half-open spans of the secrets in the text, in order and not overlapping."""
        spans = [*self._secret_spans(text), *_looks_secret(text)]
        for form in (form for part in self._parts for form in part.short):
            at = text.find(form)
            while at >= 0:
                spans.append((at, at + len(form)))
                at = text.find(form, at + len(form))
        merged: list[Span] = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def _secret_spans(self, text: str) -> Iterator[Span]:
        places: dict[str, list[tuple[str, int]]] = {}
        masked_until = 0
        for at, gram in self._known_windows(text):
            if at + _GRAM <= masked_until:
                continue
            if gram not in places:
                places[gram] = [place for part in self._parts for place in part.places(gram)]
            for form, place in places[gram]:
                span = _stretch(text, at, form, place)
                if span is not None:
                    masked_until = max(masked_until, span[1])
                    yield span

    def _known_windows(self, text: str) -> Iterator[tuple[int, str]]:
        """Every `_GRAM`th place of the text at which a window of a secret stands, and that window."""
        for begin in range(0, len(text), _BLOCK_CHARS):
            starts = range(begin, min(begin + _BLOCK_CHARS, len(text) - _GRAM + 1), _GRAM)
            windows = [text[at : at + _GRAM] for at in starts]
            # nearly always no part remains, and no window needed a step in Python
            matching = [part.grams for part in self._parts if not part.grams.isdisjoint(windows)]
            if matching:
                yield from (
                    (at, gram)
                    for at, gram in zip(starts, windows, strict=True)
                    if any(gram in grams for grams in matching)
                )


def _stretch(text: str, at: int, form: str, place: int) -> Span | None:
    """Returns the stretch around `at` that equals the form around `place`, or None if it is too short."""
    start, before = _extend(text, at - 1, form, place - 1, -1)
    end, after = _extend(text, at, form, place, 1)
    return (start + 1, end) if before + after >= _STRETCH - 1 else None


def _extend(text: str, at: int, form: str, place: int, step: int) -> tuple[int, int]:
    """Compares text and form in the direction `step`, across line wraps in the text.

    Returns where they stop matching, and the number of characters that match."""
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
