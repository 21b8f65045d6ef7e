// Probot as its documentation shows it, set up by the environment, with a handler that does nothing.
import { run } from "probot";

await run((app) => {
  app.on("issues.opened", async () => {});
});
