// Node loads this file before a program (`--require`). It reports that a process has begun, so that one whose coverage
// is missing is noticed, and which programs it starts that V8 does not measure.
'use strict'
const fs = require('node:fs')
const path = require('node:path')
const children = require('node:child_process')
const { isMainThread } = require('node:worker_threads')

const place = process.env.MENDBOT_REACH
const MANAGERS = /[\\/](?:npm|npx|pnpm|yarn|corepack)(?:-cli)?(?:\.[cm]?js)?$/

function report (...line) {
  try {
    fs.appendFileSync(path.join(place, 'node.jsonl'), JSON.stringify(line) + '\n')
  } catch {}
}

function started (file) {
  const program = path.basename(String(file))
  const known = program === 'node' || String(file) === process.execPath
  if (!known && !MANAGERS.test(process.argv[1] || '')) report('doubt', 'child', program)
}

if (place) {
  // the process that starts one for each test file loads none of them, and V8 writes nothing of it
  const starter = process.execArgv.includes('--test') && !process.execArgv.some(word => /isolation=none/.test(word))
  if (isMainThread && !starter) report('process', process.pid, process.env.NODE_V8_COVERAGE || '')
  const spawn = children.ChildProcess.prototype.spawn
  children.ChildProcess.prototype.spawn = function (options) {
    started(options && options.file)
    return Reflect.apply(spawn, this, arguments)
  }
  for (const name of ['spawnSync', 'execFileSync']) {
    const own = children[name]
    children[name] = function (file) {
      started(file)
      return Reflect.apply(own, this, arguments)
    }
  }
  const shell = children.execSync
  children.execSync = function () {
    started('sh')
    return Reflect.apply(shell, this, arguments)
  }
  require('node:module').syncBuiltinESMExports()
}
