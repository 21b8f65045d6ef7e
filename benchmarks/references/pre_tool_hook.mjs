// The same hook in Node with its own SQLite: the same query by the side table, the same sentences.
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [, , path, query] = process.argv;
const { tool_input: input } = JSON.parse(readFileSync(0, "utf8"));
const name = input.file_path.split("/").pop();
const database = new DatabaseSync(path, { readOnly: true });
const lines = [];
for (const row of database.prepare(query).all(name, `%${name}%`)) {
  const { resolvedBy, tool, toolSequence } = JSON.parse(row.resolution);
  lines.push(`⚠️ ${row.error_normalized}`, `${resolvedBy} (${tool})`, toolSequence.join(" → "));
}
if (lines.length > 0) {
  const additionalContext = lines.join("\n");
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", additionalContext } }));
}
