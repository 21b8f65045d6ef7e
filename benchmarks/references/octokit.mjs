// `@octokit/webhooks` as its README shows it: a node server with its middleware and a handler that does nothing.
import { createServer } from "node:http";
import { Webhooks, createNodeMiddleware } from "@octokit/webhooks";

const webhooks = new Webhooks({ secret: process.env.WEBHOOK_SECRET });
webhooks.on("issues.opened", () => {});
createServer(createNodeMiddleware(webhooks)).listen(Number(process.env.PORT), "127.0.0.1");
