/**
 * Starts the service: from the bundle that `npm run build` makes, with the functions that V8 compiled for an earlier
 * start, or from the sources, when one of them was edited since, or there is no bundle, or it is damaged. Node's own
 * compile cache is made before any function runs, so it has none of those that V8 compiles at their first call.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist');
// The bundler names the folder of a bundle that is not in place yet, to keep what is compiled.
const tried = process.env.ISOLAYER_TRIED_BUNDLE;
const keeping = [];

if (!startBundle()) await import(new URL('../src/main.ts', import.meta.url).href);

/** The bundle and its main script, if it is whole, and made from what is there now. */
function readBundle() {
  const file = join(folder, tried ?? '', 'bundle.json');
  if (!existsSync(file)) return undefined;
  return usable(file, () => {
    const { name, packages, sources, inputs, parts } = JSON.parse(readFileSync(file, 'utf8'));
    const edited = inputs?.find(isEdited);
    if (edited !== undefined) throw new Error(`${edited[0]} was edited since it was made`);
    const made = { home: join(folder, name), packages, sources, parts };
    return { ...made, main: compile(made, 'service') };
  });
}

function startBundle() {
  const bundle = readBundle();
  if (bundle === undefined) return false;
  const { main, ...made } = bundle;
  const { home, packages } = made;
  showSources(made);
  const others = new Map();
  const load = (id) => {
    const script = usable(join(home, packages[id]), () => compile(made, packages[id]));
    return script === undefined ? createRequire(join(home, 'service.cjs'))(id) : script((itself) => itself);
  };
  main((require) => {
    const requireOther = (id) => {
      if (packages[id] === undefined) return require(id);
      if (!others.has(id)) others.set(id, load(id));
      return others.get(id);
    };
    if (tried !== undefined) {
      process.on('exit', () => {
        for (const id of Object.keys(packages)) requireOther(id);
        for (const keep of keeping) keep();
      });
    }
    const threadFile = (file, source) => usable(join(home, file), () => part(made, file) && join(home, file)) ?? source;
    return Object.assign(requireOther, require, { threadFile });
  });
  if (tried !== undefined) process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
  return true;
}

/** What is taken of the bundle. Undefined: it cannot be used, and its source is to be. */
function usable(file, take) {
  try {
    return take();
  } catch (error) {
    process.stderr.write(`${file} is not used, but its sources are: ${error.message}. Make it anew: npm run build\n`);
    return undefined;
  }
}

/** A file of the bundle. What V8 compiled could end the process when it is damaged: V8 does not look. */
function part({ home, parts }, file) {
  const bytes = readFileSync(join(home, file));
  const [size, sum] = parts[file];
  if (bytes.length !== size || crc32(bytes) !== sum) throw new Error(`${file} is damaged`);
  return bytes;
}

/** A script of the bundle, ready to run. */
function compile(made, name) {
  const filename = join(made.home, `${name}.cjs`);
  const compiled = `${name}.compiled`;
  const script = new Script(part(made, `${name}.cjs`).toString('latin1'), {
    filename,
    // V8 refuses what was compiled by another version or with other options, and the script starts without.
    cachedData: tried === undefined ? part(made, compiled) : undefined,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return (requireOf) => {
    const module = { exports: {} };
    script.runInThisContext()(module, requireOf(createRequire(filename)), filename, made.home);
    if (tried !== undefined) {
      keeping.push(() => writeFileSync(join(made.home, compiled), script.createCachedData(), { flush: true }));
    }
    return module.exports;
  };
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

/** Lets stacks name the lines of the sources. */
function showSources(made) {
  const { home, sources } = made;
  const kept = new Map();
  const lineOf = (name, line, column) => {
    let lines = kept.get(name)?.deref();
    if (lines === undefined) {
      const { buffer, byteOffset, length } = part(made, `${name}.lines`);
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
