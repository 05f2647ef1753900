import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Confinement } from '../contract.ts';

/**
 * Flags for node. `--permission --allow-addons` alone leaves gaps that the others close: `node:sqlite` and `node:ffi`
 * open any file, and SIGUSR1 opens the inspector. isolated-vm needs `--no-node-snapshot`. `--allow-worker` is never
 * given: a worker with `execArgv: []` is free of the permission model (nodejs/node #62222). Node may read no file: the
 * program comes by standard input, and the system opens native modules. The stack, in KB, is larger than a guest's, see
 * `process/main.ts`. The space of young objects, in MB, stays small: it would grow with the first calls, for nothing.
 * V8 gets one thread beside the program's, not four: each takes memory, and a plugin could keep each busy.
 */
const NODE_FLAGS = [
  '--permission',
  '--allow-addons',
  '--disable-warning=PERM0001',
  '--no-experimental-sqlite',
  '--no-experimental-ffi',
  '--no-node-snapshot',
  '--disable-sigusr1',
  '--stack-size=1240',
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  // Tells node the language, so that it does not have to detect it.
  '--input-type=commonjs',
  '--no-strip-types',
];

/**
 * The script that node begins with. It evaluates the program on standard input and passes `require` to it. A program
 * that is cut short has a syntax error, so none of it runs.
 */
const READ_PROGRAM = "(0, eval)(require('node:fs').readFileSync(0, 'utf8'))(require);";
/** The word that identifies children in a list of processes. */
const NAME = 'isolayer-sandbox';

/** The descriptor of the system-call filter while a child is started. */
export const FILTER_FD = 5;

/** The confinement where no link works. */
export const NODE_ALONE: Confinement = {
  permission: true,
  pdeathsig: false,
  no_new_privs: false,
  core_dumps_off: false,
  few_files: false,
  oom_first: false,
  namespaces: false,
  files_hidden: false,
  syscalls_filtered: false,
  missing: {},
};

/** How children are started on this system. */
export interface ChildLauncher {
  readonly confinement: Confinement;
  /** The chain's command line; empty where no link works. */
  readonly prefix: readonly string[];
  /** The descriptor of the system-call filter. Each child gets a new descriptor of the same file. */
  readonly filterFd?: number;
}

/**
 * Starts a child under all restrictions that the system grants. It has no environment and no file to read, descriptor 3
 * as its channel, and standard error for its last words.
 * @param program a script that evaluates to a function of Node's `require`
 */
export function launch(
  launcher: ChildLauncher,
  program: string,
  given: Pick<Given, 'channel' | 'journalFd'> = {},
): ChildProcess {
  return start(commandLine(launcher), { ...given, filterFd: launcher.filterFd, input: program });
}

/** What a child gets. */
interface Given {
  /** The connection whose descriptor becomes its channel. A new one when absent. */
  channel?: Socket;
  journalFd?: number | undefined;
  filterFd?: number | undefined;
  input?: string;
}

/**
 * Starts a command line as a child with a channel and a journal. The child inherits nothing of the server's.
 * @throws Error when no file descriptor is left for the child
 */
export function start([command = '', ...args]: readonly string[], given: Given = {}): ChildProcess {
  const { channel = 'pipe', journalFd = 'ignore', filterFd, input = '' } = given;
  // Opens the file anew to read it from its beginning: an inherited descriptor shares its read position.
  const filter = filterFd === undefined ? undefined : openSync(`/proc/self/fd/${filterFd}`, 'r');
  try {
    const child = spawn(command, args, {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', channel, journalFd, ...(filter === undefined ? [] : [filter])],
      // A session of its own: the terminal's Ctrl-C is for the server, which lets running calls finish.
      detached: true,
    });
    // Without a free descriptor no process starts, and the error event comes when no other listener is left.
    child.on('error', () => undefined);
    if (!child.stdio) throw new Error('there is no file descriptor left for it');
    // A child that dies before it has read all of its input breaks the pipe. Its exit says more than that error.
    child.stdin?.on('error', () => undefined).end(input);
    return child;
  } finally {
    if (filter !== undefined) closeSync(filter);
  }
}

/**
 * Finds the process that runs node: the process that was started or, behind `unshare`, its child.
 * @returns undefined when it no longer runs, or does not run yet
 */
export function nodePid(launcher: ChildLauncher, startedPid: number): number | undefined {
  if (!launcher.confinement.namespaces) return startedPid;
  try {
    const children = readFileSync(`/proc/${startedPid}/task/${startedPid}/children`, 'utf8');
    const pid = Number.parseInt(children, 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** The command line that starts a child. */
function commandLine({ prefix }: ChildLauncher): string[] {
  return [...prefix, process.execPath, ...nodeArguments()];
}

/** Node's command line for a child, which runs the program on its standard input. */
export function nodeArguments(): string[] {
  return [...NODE_FLAGS, '--eval', READ_PROGRAM, NAME];
}
