import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { runtimeFiles } from '../confinement/runtime-files.ts';
import { syscallFilter } from '../confinement/syscall-filter.ts';
import { knowsOption, toolPath } from '../confinement/tool.ts';
import { unnamedFile } from '../confinement/unnamed-file.ts';
import { emptyRoot, fileRules } from '../confinement/wall.ts';
import { type Confinement, JOURNAL_BYTES, type Restriction } from '../protocol.ts';

/**
 * Flags for node. `--permission --allow-addons` alone leaves gaps that the others close: `node:sqlite` and `node:ffi`
 * open any file, and SIGUSR1 opens the inspector. isolated-vm needs `--no-node-snapshot`. `--allow-worker` is never
 * given: a worker with `execArgv: []` is free of the permission model (nodejs/node #62222). Node may read no file: the
 * program comes by standard input, and the system opens native modules. The stack, in KB, is larger than a guest's, see
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
const FILTER_FD = 5;
const PROBE_MS = 5000;
const MAX_REASON = 200;

/** One program in the chain. It restricts itself, then becomes or starts the next program. */
interface Link {
  readonly tool: string;
  /** An option that older versions of the tool do not have. */
  readonly option?: string;
  readonly args: readonly string[];
  readonly grants: Partial<Record<Restriction, true>>;
}

/** For each restriction that the system does not grant, the reason. */
type Missing = Confinement['missing'];

const systemCallLink: Link = {
  tool: 'setpriv',
  option: '--seccomp-filter',
  args: [`--seccomp-filter=/proc/self/fd/${FILTER_FD}`],
  grants: { syscalls_filtered: true },
};

/**
 * The links of the chain, outermost first. A link is left out where the system does not have or allow it, or where
 * earlier links grant all that it would.
 * @param readable files and folders that node opens through the system, as absolute paths
 */
function chain(readable: readonly string[], hasFilter: boolean): readonly Link[] {
  return [
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
      tool: 'bwrap',
      args: [
        ...emptyRoot(readable, ['pid', 'net', 'ipc', 'uts']),
        ...(hasFilter ? ['--seccomp', `${FILTER_FD}`] : []),
        '--',
      ],
      grants: { namespaces: true, files_hidden: true, ...(hasFilter ? { syscalls_filtered: true } : {}) },
    },
    {
      tool: 'unshare',
      args: ['--user', '--pid', '--net', '--ipc', '--fork', '--kill-child'],
      grants: { namespaces: true },
    },
    ...(hasFilter ? [systemCallLink] : []),
    // The last link: after it only node can be opened.
    { tool: 'setpriv', option: '--landlock-access', args: fileRules(readable), grants: { files_hidden: true } },
  ];
}

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

/** A link that this system has, with its command line. */
interface FoundLink {
  readonly command: readonly string[];
  readonly grants: Link['grants'];
}

/** How children are started on this system. */
export interface Launcher {
  readonly confinement: Confinement;
  /** The chain's command line; empty where no link works. */
  readonly prefix: readonly string[];
  /** The descriptor of the system-call filter. Each child gets a new descriptor of the same file. */
  readonly filterFd?: number;
}

/**
 * Tries which links this system allows: first the whole chain, then link by link. Once per thread.
 * @param addon the native module that a child loads
 */
export async function probeLauncher(platform: NodeJS.Platform, addon: string): Promise<Launcher> {
  const filter = platform === 'linux' ? syscallFilter(process.arch) : undefined;
  const filterFd = filter && unnamedFile(filter);
  const readable = platform === 'linux' ? [...runtimeFiles(), addon] : [];
  const missing: Missing = {};
  const lack = ({ grants }: Pick<Link, 'grants'>, why: string): void => {
    for (const restriction of restrictionsOf(grants)) {
      const known = missing[restriction];
      missing[restriction] = known === undefined || known === why ? why : `${known}; ${why}`;
    }
  };
  const links: FoundLink[] = [];
  for (const link of chain(readable, filterFd !== undefined)) {
    const command = platform === 'linux' ? commandOf(link) : { why: 'only Linux has it' };
    if ('why' in command) lack(link, command.why);
    else links.push({ ...command, grants: link.grants });
  }
  if (filterFd === undefined)
    missing.syscalls_filtered ??= platform === 'linux' ? 'no filter is known for this processor' : 'only Linux has it';
  const probe = (tried: readonly FoundLink[]) => refusalOf(tried, addon, filterFd);
  const whole = withoutRepeats(links);
  const taken = (await probe(whole)) === null ? whole : [];
  if (taken.length < whole.length) {
    for (const link of links) {
      if (addsNothing(taken, link)) continue;
      const why = await probe([...taken, link]);
      if (why === null) taken.push(link);
      else lack(link, why);
    }
  }
  return launcherOf(taken, missing, filterFd);
}

function restrictionsOf(grants: Link['grants']): Restriction[] {
  return Object.keys(grants) as Restriction[];
}

function addsNothing(taken: readonly FoundLink[], { grants }: FoundLink): boolean {
  return restrictionsOf(grants).every((restriction) => taken.some((link) => link.grants[restriction] === true));
}

function withoutRepeats(links: readonly FoundLink[]): FoundLink[] {
  const taken: FoundLink[] = [];
  for (const link of links) if (!addsNothing(taken, link)) taken.push(link);
  return taken;
}

/**
 * Starts a child under all restrictions that the system grants. It has no environment and no file to read, descriptor 3
 * as its channel, and standard error for its last words.
 * @param program a script that evaluates to a function of Node's `require`
 */
export function launch(launcher: Launcher, program: string, journalFd?: number): ChildProcess {
  return start(commandLine(launcher), { journalFd, filterFd: launcher.filterFd, input: program });
}

/** What a child gets besides its channel. */
interface Given {
  journalFd?: number | undefined;
  filterFd?: number | undefined;
  input?: string;
}

/**
 * Starts a command line as a child with a channel and a journal. The child inherits nothing of the server's.
 * @throws Error when no file descriptor is left for the child
 */
export function start([command = '', ...args]: readonly string[], given: Given = {}): ChildProcess {
  const { journalFd = 'ignore', filterFd, input = '' } = given;
  // Opens the file anew to read it from its beginning: an inherited descriptor shares its read position.
  const filter = filterFd === undefined ? undefined : openSync(`/proc/self/fd/${filterFd}`, 'r');
  try {
    const child = spawn(command, args, {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', 'pipe', journalFd, ...(filter === undefined ? [] : [filter])],
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

/** The command line that starts a child. */
function commandLine({ prefix }: Launcher): string[] {
  return [...prefix, process.execPath, ...nodeArguments()];
}

/** Node's command line for a child, which runs the program on its standard input. */
export function nodeArguments(): string[] {
  return [...NODE_FLAGS, '--eval', READ_PROGRAM, NAME];
}

/** Whether the kernel lists a thread's children. Behind `unshare`, there is no other way to find node's process id. */
function listsChildren(): boolean {
  try {
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`);
    return true;
  } catch {
    return false;
  }
}

/** Returns the link's command line on this system, or why it has none. */
function commandOf({ tool, option, args, grants }: Link): { command: readonly string[] } | { why: string } {
  const file = toolPath(tool);
  if (file === undefined) return { why: `${tool} is not installed` };
  if (option !== undefined && !knowsOption(file, option)) return { why: `this ${tool} has no ${option}` };
  if (grants.namespaces === true && !listsChildren())
    return { why: 'the kernel does not list the children of a thread' };
  return { command: [file, ...args] };
}

function launcherOf(links: readonly FoundLink[], missing: Missing, filterFd: number | undefined): Launcher {
  const granted = links.reduce((all, { grants }) => ({ ...all, ...grants }), NODE_ALONE);
  const reasons = Object.entries(missing).filter(([restriction]) => !granted[restriction as Restriction]);
  return {
    confinement: { ...granted, missing: Object.fromEntries(reasons) },
    prefix: links.flatMap(({ command }) => command),
    ...(filterFd === undefined ? {} : { filterFd }),
  };
}

/** Tries the chain with a node that loads the addon. Returns why that fails; null when it works. */
async function refusalOf(
  links: readonly FoundLink[],
  addon: string,
  filterFd: number | undefined,
): Promise<string | null> {
  const load = `process.dlopen({ exports: {} }, ${JSON.stringify(addon)})`;
  const line = [...links.flatMap(({ command }) => command), process.execPath, '--no-node-snapshot', '--eval', load];
  const child = start(line, { filterFd });
  const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_MS);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    // Only the first line: the others contain paths of this machine.
    return code === 0
      ? null
      : said.split('\n', 1)[0]?.replaceAll(process.execPath, 'node').slice(0, MAX_REASON) || 'it does not start';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it does not start';
  } finally {
    clearTimeout(timer);
  }
}
