// Calls Mendbot's hooks with the tools of OpenCode, which has plugins in place of hooks. The commands stand in the
// settings that MENDBOT_HOOK_SETTINGS names. OpenCode shows its model what is added to a tool's output, nothing else.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"

const NAMES = { bash: "Bash", edit: "Edit", write: "Write", apply_patch: "apply_patch", task: "Task" }

const run = ({ command, timeout }, request) =>
  new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ["pipe", "pipe", "ignore"], timeout: timeout * 1000 })
    const chunks = []
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(Buffer.concat(chunks).toString()))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(request))
  })

const context = (answer) => {
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext
  } catch {
    return undefined
  }
}

export const MendbotHooks = async ({ directory }) => {
  const { hooks } = JSON.parse(readFileSync(process.env.MENDBOT_HOOK_SETTINGS, "utf8"))
  return {
    "tool.execute.after": async (input, output) => {
      const name = NAMES[input.tool]
      const request = {
        session_id: input.sessionID,
        cwd: directory,
        hook_event_name: "PostToolUse",
        tool_name: name,
        tool_input: { ...input.args, file_path: input.args?.filePath, command: input.args?.command ?? input.args?.patchText },
        tool_response: { exit_code: output.metadata?.exit ?? 0, output: output.output },
      }
      for (const { matcher, hooks: commands } of hooks.PostToolUse ?? []) {
        if (!name || !new RegExp(`^(?:${matcher})$`).test(name)) continue
        for (const command of commands) {
          const text = context(await run(command, request))
          if (text) output.output += `\n\n${text}`
        }
      }
    },
  }
}
