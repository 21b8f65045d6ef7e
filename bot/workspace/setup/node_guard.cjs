// Keeps a package manager that runs in Node.js from starting programs while it has the network (trust.md T31).
// Settings of a project can name programs (npm's `git`, pnpm's `tokenHelper`), and some dependencies are made by
// programs (Yarn's `exec:`, git dependencies with scripts). Options against that differ between versions, and a project
// may pin any. So only git, the manager itself and what lies beside it are started, and they have this guard too.
const fs = require("fs"), path = require("path"), child = require("child_process");
const real = (file) => { try { return fs.realpathSync(file); } catch { return ""; } };
const found = (process.env.PATH || "").split(":").map((one) => one && real(path.join(one, "git"))).filter(Boolean);
const manager = real(process.argv[1] || ""), end = manager.lastIndexOf("/node_modules/");
const own = end < 0 ? "" : manager.slice(0, end + "/node_modules/".length);
const guard = process.env.NODE_OPTIONS;
const allowed = (file, words) => {
  if (file === "git" || (path.isAbsolute(file) && found.includes(real(file)))) return true;
  if (file === process.execPath) return manager !== "" && words.length > 0 && real(words[0]) === manager;
  return path.isAbsolute(file) && own !== "" && real(file).startsWith(own);
};
const { spawn, spawnSync } = child;
const only = (start) => (file, ...rest) => {
  const words = Array.isArray(rest[0]) ? rest[0] : [];
  const options = (Array.isArray(rest[0]) ? rest[1] : rest[0]) || {};
  if (options.shell || !allowed(String(file), words)) throw new Error(`${file} is not started during installation`);
  return start(file, words, { ...options, env: { ...(options.env || process.env), NODE_OPTIONS: guard } });
};
for (const name of ["exec", "execSync", "execFile", "execFileSync", "fork"]) {
  child[name] = (file) => { throw new Error(`${file} is not started during installation`); };
}
child.spawn = only(spawn);
child.spawnSync = only(spawnSync);
require("module").syncBuiltinESMExports();
