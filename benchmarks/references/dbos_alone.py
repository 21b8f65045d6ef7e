"""The engine alone: dbos with two queues that are polled as often as ours, and nothing to do."""

import asyncio
import os
import tempfile
from pathlib import Path

from dbos import DBOS, DBOSConfig


async def main(home: Path) -> None:
    config: DBOSConfig = {
        "name": "reference",
        "system_database_url": f"sqlite:///{home / 'engine.db'}",
        "console_log_level": "ERROR",
        "enable_otlp": False,
    }
    DBOS(config=config)
    DBOS.launch()
    for name in ("fix", "replies"):
        await DBOS.register_queue_async(name, worker_concurrency=4, polling_interval_sec=0.25)
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


with tempfile.TemporaryDirectory() as where:
    asyncio.run(main(Path(where)))
