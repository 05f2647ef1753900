import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Confinement, Restriction } from '../contract.ts';
import { JOURNAL_BYTES } from '../protocol.ts';
import { type ChildLauncher, FILTER_FD, NODE_ALONE, start } from './launch.ts';
import { syscallFilter, unnamedFile } from './syscall-filter.ts';

/**
 * How long the whole chain and a single link may take. A slow machine must not make a child less confined, and a chain
 * that never ends must not keep the thread from its start.
 */
const WHOLE_PROBE_MS = 20_000;
const LINK_PROBE_MS = 5000;
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
      args: [...bubblewrapArguments(readable), ...(hasFilter ? ['--seccomp', `${FILTER_FD}`] : []), '--'],
      grants: { namespaces: true, files_hidden: true, ...(hasFilter ? { syscalls_filtered: true } : {}) },
    },
    {
      tool: 'unshare',
      args: ['--user', '--pid', '--net', '--ipc', '--fork', '--kill-child'],
      grants: { namespaces: true },
    },
    ...(hasFilter ? [systemCallLink] : []),
    // The last link: after it only node can be opened.
    { tool: 'setpriv', option: '--landlock-access', args: landlockArguments(readable), grants: { files_hidden: true } },
  ];
}

/** A link that this system has, with its command line. */
interface FoundLink {
  readonly command: readonly string[];
  readonly grants: Link['grants'];
}

/**
 * Tries which links this system allows: first the whole chain, then link by link. Once per thread.
 * @param addon the native module that a child loads
 */
export async function probeLauncher(platform: NodeJS.Platform, addon: string): Promise<ChildLauncher> {
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
  const probe = (tried: readonly FoundLink[], ms: number) => refusalOf(tried, addon, filterFd, ms);
  const whole = withoutRepeats(links);
  const taken = (await probe(whole, WHOLE_PROBE_MS)) === null ? whole : [];
  if (taken.length < whole.length) {
    for (const link of links) {
      if (addsNothing(taken, link)) continue;
      const why = await probe([...taken, link], LINK_PROBE_MS);
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
  if (option !== undefined && !toolSupportsOption(file, option)) return { why: `this ${tool} has no ${option}` };
  if (grants.namespaces === true && !listsChildren())
    return { why: 'the kernel does not list the children of a thread' };
  return { command: [file, ...args] };
}

function launcherOf(links: readonly FoundLink[], missing: Missing, filterFd: number | undefined): ChildLauncher {
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
  ms: number,
): Promise<string | null> {
  const load = `process.dlopen({ exports: {} }, ${JSON.stringify(addon)})`;
  const line = [...links.flatMap(({ command }) => command), process.execPath, '--no-node-snapshot', '--eval', load];
  const child = start(line, { filterFd });
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    // Only the first line: the others contain paths of this machine.
    return code === 0
      ? null
      : stderr.split('\n', 1)[0]?.replaceAll(process.execPath, 'node').slice(0, MAX_REASON) || 'it does not start';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it does not start';
  } finally {
    clearTimeout(timer);
  }
}

/** Files that the loader of shared libraries and OpenSSL read at the start. Neither holds a secret. */
const SETTINGS = ['/etc/ld.so.cache', '/etc/ssl/openssl.cnf'];

/** Absolute paths that this node program needs to start: itself, the folders of its libraries, and settings. */
export function runtimeFiles(): string[] {
  const folders = sharedLibraries().map((file) => dirname(file));
  return [process.execPath, ...new Set(folders), ...SETTINGS.filter((file) => existsSync(file))];
}

function sharedLibraries(): string[] {
  const { sharedObjects } = process.report.getReport() as { sharedObjects?: unknown };
  if (!Array.isArray(sharedObjects)) return [];
  // The kernel's own object has no file.
  return sharedObjects.filter((file): file is string => typeof file === 'string' && existsSync(file));
}

/** Folders of the system's own tools. PATH is ignored: the environment must not decide how a process is confined. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const HELP_MS = 2000;

/** The path of a tool of the system; undefined where it is not installed. */
export function toolPath(tool: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => join(folder, tool)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Whether this version of a tool lists an option. */
export function toolSupportsOption(file: string, option: string): boolean {
  return spawnSync(file, ['--help'], { encoding: 'utf8', env: {}, timeout: HELP_MS }).stdout.includes(option);
}

/**
 * Arguments of `bwrap` (bubblewrap) for a root folder that holds only the readable files. The process inside has its
 * own user namespace and no rights.
 * @param readable files and folders by their absolute paths
 */
export function bubblewrapArguments(readable: readonly string[]): string[] {
  return [
    ...['user', 'pid', 'net', 'ipc', 'uts'].map((name) => `--unshare-${name}`),
    '--as-pid-1',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    ...readable.flatMap((file) => ['--ro-bind', file, file]),
    '--remount-ro',
    '/',
    '--chdir',
    '/',
  ];
}

/**
 * Arguments of `setpriv` (util-linux 2.40) that allow opening the same files by Landlock. Landlock needs no namespace,
 * so it works in containers too.
 */
export function landlockArguments(readable: readonly string[]): string[] {
  return ['--landlock-access=fs', ...readable.map((file) => `--landlock-rule=path-beneath:execute,read-file:${file}`)];
}
