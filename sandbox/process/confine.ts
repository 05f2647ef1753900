import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';

/** What the permission model must deny; asked as `process.permission.has` spells it. */
const DENIED = ['fs.write', 'net', 'child', 'worker', 'wasi', 'inspector'] as const;

/** Flags whose effect `process.permission` cannot tell. */
const FLAGS = ['--permission', '--no-experimental-sqlite', '--no-experimental-ffi', '--no-node-snapshot'] as const;

/**
 * What reaches beyond this process or brings back what was taken away. The permission model covers none of the
 * signals (`kill`, `_debugProcess` opened the server's inspector), and native bindings go below it.
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

/** The part of `process` that tells how it was started. */
export interface StartedProcess {
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly permission?: { has(scope: string): boolean };
}

/** Why this process is not restricted as a sandbox must be, or null when it is. */
export function missingRestriction(started: StartedProcess): string | null {
  const flag = FLAGS.find((name) => !started.execArgv.includes(name));
  if (flag !== undefined) return `it was started without ${flag}`;
  const { permission } = started;
  if (permission === undefined) return 'the permission model is off';
  const allowed = DENIED.find((scope) => permission.has(scope));
  if (allowed !== undefined) return `the permission model allows ${allowed}`;
  // A right to read everything would show as the right to read the root folder.
  if (permission.has('fs.read')) return 'the permission model allows fs.read everywhere';
  // bwrap says where it put the process.
  const name = Object.keys(started.env).find((key) => key !== 'PWD' || started.env[key] !== '/');
  return name === undefined ? null : `its environment holds ${name}`;
}

/**
 * Takes away from `process` and `os` what reaches beyond this process. Irreversible; called before the first guest.
 * @returns how this process ends itself from now on: at once, without running anything more.
 */
export function confine(): () => never {
  const abort = process.abort.bind(process);
  // The one that this process needs is loaded.
  process.permission?.drop('addon');
  for (const name of REMOVED) remove(process, name);
  // Where a program is given as text, Node leaves its module system in sight of all code.
  for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) {
    Reflect.deleteProperty(globalThis, name);
  }
  delete process.env['PWD'];
  // os.setPriority would slow any process of the same user, and no permission covers it.
  remove(os, 'setPriority');
  // With `--log --logfile=…` the next isolate would overwrite any file, past the permission model.
  remove(v8, 'setFlagsFromString');
  syncBuiltinESMExports();
  // Not a signal: the first process of a PID namespace is immune to its own. abort() ends in a trap that it is not.
  return abort;
}

function remove(object: object, name: string): void {
  Object.defineProperty(object, name, { value: undefined, configurable: false, writable: false });
}
