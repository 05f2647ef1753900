import { closeSync, fstatSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';

/** Scopes that the permission model must deny, as `process.permission.has` spells them. */
const DENIED = ['fs.write', 'net', 'child', 'worker', 'wasi', 'inspector'] as const;

/** Required flags whose effect `process.permission` does not show. */
const FLAGS = ['--permission', '--no-experimental-sqlite', '--no-experimental-ffi', '--no-node-snapshot'] as const;

/**
 * Members of `process` that reach beyond this process or restore what was removed. The permission model covers none of
 * the signals (`kill`, `_debugProcess` opened the server's inspector), and native bindings bypass it.
 */
const REMOVED = [
  'kill',
  '_kill',
  'execve',
  '_debugProcess',
  '_debugEnd',
  'getBuiltinModule',
  'dlopen',
  'binding',
  '_linkedBinding',
  'reallyExit',
  'exit',
  'abort',
  'setuid',
  'seteuid',
  'setgid',
  'setegid',
  'setgroups',
  'initgroups',
  'loadEnvFile',
] as const;

/** The part of `process` that shows how it was started. */
export interface StartedProcess {
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly permission?: { has(scope: string): boolean };
}

/** Returns why this process is not restricted as a sandbox must be, or null when it is. */
export function missingRestriction(started: StartedProcess): string | null {
  const flag = FLAGS.find((name) => !started.execArgv.includes(name));
  if (flag !== undefined) return `it was started without ${flag}`;
  const { permission } = started;
  if (permission === undefined) return 'the permission model is off';
  const allowed = DENIED.find((scope) => permission.has(scope));
  if (allowed !== undefined) return `the permission model allows ${allowed}`;
  // Without a path, this asks for the right to read the root folder, and so everything.
  if (permission.has('fs.read')) return 'the permission model allows fs.read everywhere';
  // bwrap sets PWD to the process's folder.
  const name = Object.keys(started.env).find((key) => key !== 'PWD' || started.env[key] !== '/');
  return name === undefined ? null : `its environment holds ${name}`;
}

/**
 * Removes from `process` and `os` everything that reaches beyond this process. Irreversible. Called before the first
 * guest.
 * @returns a function that ends this process at once, without running anything more
 */
export function confine(): () => never {
  const abort = process.abort.bind(process);
  // The addon that this process needs is loaded already.
  process.permission?.drop('addon');
  for (const name of REMOVED) remove(process, name);
  // When a program is given as text, Node exposes its module system as globals.
  for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) {
    Reflect.deleteProperty(globalThis, name);
  }
  delete process.env['PWD'];
  // os.setPriority would slow any process of the same user, and no permission covers it.
  remove(os, 'setPriority');
  // With `--log --logfile=…` the next isolate would overwrite any file, past the permission model.
  remove(v8, 'setFlagsFromString');
  syncBuiltinESMExports();
  // A signal would not do: the first process of a PID namespace is immune to its own signals. abort() ends in a trap,
  // which works there too.
  return abort;
}

function remove(object: object, name: string): void {
  Object.defineProperty(object, name, { value: undefined, configurable: false, writable: false });
}

/** The first descriptor that a child should not have. Those below are its streams, its channel and its journal. */
const FIRST = 5;
/** The last descriptor to look at. The server's own parent may have left any open; none was ever seen beyond this. */
const LAST = 255;

/**
 * Closes files, folders, devices and sockets that this process inherited: Node passes on what its own parent left open.
 * Node's own descriptors are pipes and kernel objects, and stay open.
 */
export function closeInherited(): void {
  for (let fd = FIRST; fd <= LAST; fd += 1) {
    try {
      const stat = fstatSync(fd);
      if (stat.isFile() || stat.isDirectory() || stat.isSocket() || isDevice(stat)) closeSync(fd);
    } catch {
      // It is not open.
    }
  }
}

function isDevice(stat: ReturnType<typeof fstatSync>): boolean {
  return stat.isCharacterDevice() || stat.isBlockDevice();
}
