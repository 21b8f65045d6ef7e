# Mendbot as a container: `docker build --tag mendbot .`. The sandbox of checks needs user namespaces inside the container,
# and docs/install.md has the options for that. Without them, Mendbot runs code of people with write access only.
FROM python:3.13-slim-trixie AS build
WORKDIR /src
COPY image.lock ./
RUN python -m venv /opt/mendbot \
 && /opt/mendbot/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r image.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot ./bot
# the lock also pins what builds the wheel, which the image does not keep
RUN /opt/mendbot/bin/pip wheel --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir /tmp . \
 && /opt/mendbot/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps /tmp/mendbot-*.whl \
 && /opt/mendbot/bin/pip uninstall --yes editables hatchling pathspec pluggy trove-classifiers
# mypy, pytest and ruff for projects without an environment of their own, apart from Mendbot's packages
WORKDIR /
RUN /opt/mendbot/bin/python -m bot.workspace.sandbox.check_tools

FROM python:3.13-slim-trixie
LABEL org.opencontainers.image.title="Mendbot" \
      org.opencontainers.image.description="A self-hosted GitHub App that fixes labelled issues and checks pull requests" \
      org.opencontainers.image.licenses="MIT"
# tini ends what a killed check leaves behind: Mendbot as process 1 would collect zombies
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --shell /usr/sbin/nologin mendbot \
 && install --directory --owner mendbot --group mendbot --mode 0700 /var/lib/mendbot
COPY --from=build /opt/mendbot /opt/mendbot
ENV PATH=/opt/mendbot/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MENDBOT_HOME=/var/lib/mendbot
# by number, so that a cluster can see that it is not root
USER 10001:10001
WORKDIR /var/lib/mendbot
VOLUME /var/lib/mendbot
EXPOSE 3000
HEALTHCHECK --start-period=20s --interval=30s --timeout=5s \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\") or 3000}/healthz', timeout=4)"]
ENTRYPOINT ["tini", "--", "mendbot"]
CMD ["serve", "--host", "0.0.0.0"]
