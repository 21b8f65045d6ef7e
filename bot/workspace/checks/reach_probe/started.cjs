// Node loads this file before a program (`--require`). It reports that a process has begun, so that one whose coverage
// is missing is noticed, which programs it starts that V8 does not measure, and which changed files it reads as data.
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

function changedFiles () {
  const found = new Map()
  try {
    const { tree, files } = JSON.parse(fs.readFileSync(path.join(place, 'changed.json'), 'utf8'))
    for (const name of files) found.set(path.join(fs.realpathSync(tree), name), name)
  } catch (error) {
    report('doubt', 'probe', String(error.code))
  }
  return found
}

function watchReads (files) {
  const bases = new Set([...files.keys()].map(file => path.basename(file)))
  const real = fs.realpathSync
  function opened (file) {
    const text = file instanceof URL ? decodeURIComponent(file.pathname) : String(file)
    if (!bases.has(path.basename(text))) return
    // what Node itself opens to run it is measured by V8
    if (/node:internal\/modules/.test(String(new Error().stack).split('\n')[3])) return
    try {
      const name = files.get(real(text))
      if (name) report('opened', name)
    } catch {}
  }
  for (const [owner, names] of [
    [fs, ['readFileSync', 'readFile', 'openSync', 'open', 'createReadStream', 'copyFileSync', 'copyFile', 'cpSync']],
    [fs.promises, ['readFile', 'open', 'copyFile', 'cp']]
  ]) {
    for (const name of names) {
      const own = owner[name]
      owner[name] = function (file) {
        opened(file)
        return Reflect.apply(own, this, arguments)
      }
    }
  }
}

if (place) {
  // the process that starts one for each test file loads none of them, and V8 writes nothing of it
  const starter = process.execArgv.includes('--test') && !process.execArgv.some(word => /isolation=none/.test(word))
  if (isMainThread && !starter) report('process', process.pid, process.env.NODE_V8_COVERAGE || '')
  watchReads(changedFiles())
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
