import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Confinement, JOURNAL_BYTES, type Restriction } from '../protocol.ts';

/**
 * What stays open under `--permission --allow-addons` without them: `node:sqlite` and `node:ffi` open any file, and
 * SIGUSR1 opens the inspector. isolated-vm needs `--no-node-snapshot`. Never `--allow-worker`: a worker with
 * `execArgv: []` is free of the permission model (nodejs/node #62222). There is no file to read at all: the program
 * comes by standard input, and a native module is opened by the system. The stack, in KB, is larger than a guest's, see
 * `process/main.ts`.
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
  // Node need not find out what language it is given.
  '--input-type=commonjs',
  '--no-strip-types',
];

/** What node begins with. A program that is cut short is none, so none of it runs. */
const READ_PROGRAM = "(0, eval)(require('node:fs').readFileSync(0, 'utf8'))(require);";
/** By this word children are found in a list of processes. */
const NAME = 'isolayer-sandbox';

/** Where the system's own tools lie; the environment's PATH has no say in how a child is confined. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const PROBE_MS = 5000;
const LONGEST_REASON = 200;

/** One program that restricts itself and becomes, or starts, the next. */
interface Link {
  readonly tool: string;
  readonly args: readonly string[];
  readonly grants: Partial<Record<Restriction, true>>;
}

/** Why a system does not grant what it does not grant. */
type Missing = Confinement['missing'];

/** From the outside in; each is left out where the system does not have or allow it. */
const CHAIN: readonly Link[] = [
  {
    tool: 'setpriv',
    args: ['--pdeathsig', 'KILL', '--no-new-privs'],
    grants: { pdeathsig: true, no_new_privs: true },
  },
  // The one file that a child may write is its journal.
  {
    tool: 'prlimit',
    args: ['--core=0', '--nofile=64', `--fsize=${JOURNAL_BYTES}`],
    grants: { core_dumps_off: true, few_files: true },
  },
  // When the machine runs out of memory, a sandbox goes before the service.
  { tool: 'choom', args: ['-n', '1000', '--'], grants: { oom_first: true } },
  {
    tool: 'unshare',
    args: ['--user', '--pid', '--net', '--fork', '--kill-child'],
    grants: { namespaces: true },
  },
];

/** A link as this system has it. */
interface FoundLink {
  readonly command: readonly string[];
  readonly grants: Link['grants'];
}

/** How children are started on this system. */
export interface Launcher {
  readonly confinement: Confinement;
  /** The chain's command line; empty where none of it works. */
  readonly prefix: readonly string[];
}

/** Tries out what this system allows: the whole chain, or else link by link. Once per thread. */
export async function probeLauncher(platform: NodeJS.Platform): Promise<Launcher> {
  const missing: Missing = {};
  const lack = ({ grants }: Pick<Link, 'grants'>, why: string): void => {
    for (const restriction of Object.keys(grants) as Restriction[]) missing[restriction] = why;
  };
  const links: FoundLink[] = [];
  for (const link of CHAIN) {
    const command = platform === 'linux' ? commandOf(link) : { why: 'only Linux has it' };
    if ('why' in command) lack(link, command.why);
    else links.push({ ...command, grants: link.grants });
  }
  if ((await refusalOf(links)) === null) return launcherOf(links, missing);
  let longest: FoundLink[] = [];
  for (const link of links) {
    const why = await refusalOf([...longest, link]);
    if (why === null) longest = [...longest, link];
    else lack(link, why);
  }
  return launcherOf(longest, missing);
}

/**
 * Starts a child in every restriction there is: no environment, no file to read, descriptor 3 to speak on, standard
 * error to die on.
 * @param program a script that evaluates to a function of Node's `require`
 */
export function launch(launcher: Launcher, program: string, journalFd?: number): ChildProcess {
  return start([...launcher.prefix, process.execPath, ...nodeArguments()], journalFd, program);
}

/** Starts a command line as a child on the channel, and on a journal, with nothing of the server's own. */
export function start([command = '', ...args]: readonly string[], journalFd?: number, input = ''): ChildProcess {
  const child = spawn(command, args, {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', ...(journalFd === undefined ? [] : [journalFd])],
    // A session of its own: the terminal's Ctrl-C is for the server, which lets running calls finish.
    detached: true,
  });
  // One that dies before it has read all of it says more by its end.
  child.stdin?.on('error', () => undefined).end(input);
  return child;
}

/**
 * The process that runs node: the one that was started or, behind `unshare`, its child.
 * @returns undefined when it does not run any more, or not yet
 */
export function nodePid(launcher: Launcher, startedPid: number): number | undefined {
  if (!launcher.confinement.namespaces) return startedPid;
  try {
    const children = readFileSync(`/proc/${startedPid}/task/${startedPid}/children`, 'utf8');
    const pid = Number.parseInt(children, 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Node's command line for a child, which runs the program on its standard input. */
export function nodeArguments(): string[] {
  return [...NODE_FLAGS, '--eval', READ_PROGRAM, NAME];
}

function toolPath(tool: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => path.join(folder, tool)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Whether the kernel lists a thread's children: behind `unshare`, node's process id is found no other way. */
function listsChildren(): boolean {
  try {
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`);
    return true;
  } catch {
    return false;
  }
}

/** The link's command line as this system has it, or why it has none. */
function commandOf({ tool, args, grants }: Link): { command: readonly string[] } | { why: string } {
  const file = toolPath(tool);
  if (file === undefined) return { why: `${tool} is not installed` };
  if (grants.namespaces === true && !listsChildren())
    return { why: 'the kernel does not list the children of a thread' };
  return { command: [file, ...args] };
}

function launcherOf(links: readonly FoundLink[], missing: Missing): Launcher {
  const none: Confinement = {
    permission: true,
    pdeathsig: false,
    no_new_privs: false,
    core_dumps_off: false,
    few_files: false,
    oom_first: false,
    namespaces: false,
    missing,
  };
  return {
    confinement: links.reduce((all, { grants }) => ({ ...all, ...grants }), none),
    prefix: links.flatMap(({ command }) => command),
  };
}

/** Why this chain does not start node; null when it does. */
function refusalOf(links: readonly FoundLink[]): Promise<string | null> {
  const line: readonly string[] = [...links.flatMap(({ command }) => command), process.execPath, '--version'];
  const [command = '', ...args] = line;
  return new Promise((resolve) => {
    execFile(command, args, { cwd: '/', env: {}, timeout: PROBE_MS, killSignal: 'SIGKILL' }, (error, _out, stderr) => {
      // Not the error's own text: it has the paths of this machine.
      resolve(error === null ? null : stderr.split('\n', 1)[0]?.slice(0, LONGEST_REASON) || 'it does not start');
    });
  });
}
