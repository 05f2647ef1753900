/**
 * Starts the service: from the bundle that `bin/bundle.ts` makes, with the functions that V8 compiled for an earlier
 * start, or from the sources, when one of them was edited since or there is no bundle. Node's own compile cache is made
 * before any function runs, so it has none of those that V8 compiles at their first call.
 */
import { accessSync, constants as modes, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { constants, Script } from 'node:vm';

/** How long after a start from the sources the bundle for the next start is made. */
const RENEW_AFTER_MS = 30_000;

const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist');
// Only the bundler asks to keep it. V8 refuses what was compiled by another version or with other options.
const isKeeping = process.env.ISOLAYER_KEEP_COMPILED !== undefined;
const keeping = [];

if (!startBundle()) {
  await import(new URL('../src/main.ts', import.meta.url).href);
  setTimeout(() => void renew(), RENEW_AFTER_MS).unref();
}

/** Starts the bundle, if it is made from what is there now. */
function startBundle() {
  const description = read('bundle.json', 'utf8');
  if (description === undefined) return false;
  const { name, packages, sources, inputs } = JSON.parse(description);
  if (inputs?.some(isEdited)) return false;
  const home = join(folder, name);
  showSources(home, sources);
  const others = new Map();
  const isStarted = run(home, 'service', (require) => {
    const requireOther = (id) => {
      if (packages[id] === undefined) return require(id);
      if (!others.has(id)) others.set(id, run(home, packages[id], (itself) => itself) ?? { exports: require(id) });
      return others.get(id).exports;
    };
    if (isKeeping) {
      process.on('exit', () => {
        for (const id of Object.keys(packages)) requireOther(id);
        for (const keep of keeping) keep();
      });
    }
    return Object.assign(requireOther, require);
  });
  if (isKeeping) process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
  return isStarted !== undefined;
}

/** Runs a script of the bundle; undefined: it is not there. */
function run(home, name, requireOf) {
  const filename = join(home, `${name}.cjs`);
  const source = read(filename, 'latin1');
  if (source === undefined) return undefined;
  const compiled = join(home, `${name}.compiled`);
  const script = new Script(source, {
    filename,
    cachedData: read(compiled),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module, requireOf(createRequire(filename)), filename, home);
  if (isKeeping) {
    keeping.push(() => {
      const making = `${compiled}.${process.pid}`;
      writeFileSync(making, script.createCachedData());
      renameSync(making, compiled);
    });
  }
  return module;
}

/**
 * The time of change cannot be set, but a hard link to a file changes it, and copies of packages are made so. Of them the
 * time of birth counts: npm puts new files into place, all with the same time of edit.
 */
function isEdited([path, mtimeMs, changedMs, size]) {
  const stats = statSync(`${root}/${path}`, { throwIfNoEntry: false });
  if (stats?.mtimeMs !== mtimeMs || stats.size !== size) return true;
  return changedMs !== ((path.includes('node_modules/') && stats.birthtimeMs) || stats.ctimeMs);
}

function read(file, encoding) {
  try {
    return readFileSync(resolve(folder, file), encoding);
  } catch {
    return undefined;
  }
}

/** Lets stacks name the lines of the sources. */
function showSources(home, sources) {
  const kept = new Map();
  const lineOf = (name, line, column) => {
    let lines = kept.get(name)?.deref();
    if (lines === undefined) {
      const { buffer, byteOffset, length } = readFileSync(join(home, `${name}.lines`));
      lines = new Uint32Array(buffer, byteOffset, length / 4);
      kept.set(name, new WeakRef(lines));
    }
    let [low, high] = [0, lines.length / 4];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const at = 4 * middle;
      if (lines[at] < line || (lines[at] === line && lines[at + 1] <= column)) low = middle;
      else high = middle;
    }
    return `${join(root, sources[name][lines[4 * low + 2]])}:${lines[4 * low + 3]}`;
  };
  const places = new RegExp(`${RegExp.escape(home)}/(\\w+)\\.cjs:(\\d+):(\\d+)`, 'g');
  Error.prepareStackTrace = (error, frames) => {
    const stack = [Error.prototype.toString.call(error), ...frames.map(String)].join('\n    at ');
    try {
      return stack.replaceAll(places, (_, name, line, column) => lineOf(name, Number(line), Number(column)));
    } catch {
      return stack;
    }
  };
}

/** Makes the bundle for the next start. It has no part in this service, and none of its environment. */
async function renew() {
  try {
    accessSync(root, modes.W_OK);
  } catch {
    return;
  }
  const { spawn } = await import('node:child_process');
  const { setPriority } = await import('node:os');
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const bundler = spawn(process.execPath, [join(root, 'bin', 'bundle.ts')], {
    env: { PATH, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  bundler.on('error', () => undefined).unref();
  if (bundler.pid !== undefined) setPriority(bundler.pid, 19);
  process.on('exit', () => bundler.kill());
}
