"""The stylesheet, the script and the icon of the pages. Their addresses hold a digest, so browsers may cache them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

PREFIX = "/static"
_DIRECTORY = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"


class StaticFiles:
    """The files of the directory `static`, read once."""

    def __init__(self) -> None:
        self._files = {path.name: path.read_bytes() for path in sorted(_DIRECTORY.iterdir()) if path.suffix in _TYPES}
        self._digests = {name: sha256(content).hexdigest()[:16] for name, content in self._files.items()}

    def address(self, name: str) -> str:
        """The path of a file with the digest of its content; raises KeyError for an unknown name."""
        return f"{PREFIX}/{name}?v={self._digests[name]}"

    async def serve(self, request: Request) -> Response:
        """Serve a file, open to all. 304 where the browser has it; 404 for an unknown name."""
        name = request.path_params["name"]
        content = self._files.get(name)
        if content is None:
            return Response(status_code=404)
        etag = f'"{self._digests[name]}"'
        is_current = request.query_params.get("v") == self._digests[name]
        headers = {
            "ETag": etag,
            "Cache-Control": _FOREVER if is_current else _REVALIDATE,
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        if etag in [part.strip() for part in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=_TYPES[Path(name).suffix], headers=headers)
