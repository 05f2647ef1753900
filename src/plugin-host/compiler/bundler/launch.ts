import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runtimeFiles } from '../../../../sandbox/confinement/runtime-files.ts';
import { syscallFilter } from '../../../../sandbox/confinement/syscall-filter.ts';
import { knowsOption, toolPath } from '../../../../sandbox/confinement/tool.ts';
import { unnamedFile } from '../../../../sandbox/confinement/unnamed-file.ts';
import { emptyRoot, fileRules } from '../../../../sandbox/confinement/wall.ts';
import { type BundlerConfinement, UNCONFINED } from '../../bundler-confinement.ts';
import { isInside } from '../../catalog/plugin-file.ts';
import type { ReadableFile } from '../readable-files.ts';

const MIB = 1_048_576;
const FILTER_FD = 4;

/** What counts as Node's data although Node does not use it: the range of addresses for compiled code. */
const RESERVED_BYTES = 512 * MIB;

/** A way to confine the bundler's process on this system. */
export interface BundlerHold {
  confinement: BundlerConfinement;
  /** Programs before the worker's own. Each restricts itself and becomes the next. */
  prefix: readonly string[];
  /** The last of these programs, which hides files from the worker. Empty when the system has none. */
  enclose: (files: readonly ReadableFile[]) => string[];
  /** The system-call filter for that program. */
  filter: Buffer | undefined;
  /** Plugins folders, absolute and without symbolic links. */
  roots: readonly string[];
  /** What Node may take for its own objects, in bytes. */
  memoryBytes: number;
}

/**
 * The ways to confine the bundler's process, as far as the system can. The process ends with the server, gets no memory
 * far beyond its limit between two checks, and opens only the files that builds are made of. The best way comes first;
 * if it does not start, the next follows.
 * @param roots plugins folders, absolute and without symbolic links
 */
export function bundlerHolds(
  memoryBytes: number,
  roots: readonly string[],
  platform: NodeJS.Platform = process.platform,
): [BundlerHold, ...BundlerHold[]] {
  const bare = { confinement: UNCONFINED, prefix: [], enclose: () => [], filter: undefined, roots, memoryBytes };
  if (platform !== 'linux') return [bare];
  const [setpriv, prlimit, choom, bwrap] = ['setpriv', 'prlimit', 'choom', 'bwrap'].map(toolPath);
  const prefix = [
    ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs']),
    ...(prlimit === undefined ? [] : [prlimit, '--core=0', `--data=${memoryBytes + RESERVED_BYTES}`]),
    // When the machine runs out of memory, the system ends this process before the service. Its children inherit this.
    ...(choom === undefined ? [] : [choom, '-n', '1000', '--']),
  ];
  const confinement = {
    ...UNCONFINED,
    pdeathsig: setpriv !== undefined,
    no_new_privs: setpriv !== undefined,
    core_dumps_off: prlimit !== undefined,
    memory_limited: prlimit !== undefined,
    oom_first: choom !== undefined,
  };
  const limited = { ...bare, prefix, confinement };
  const walled: BundlerHold[] = [];
  if (bwrap !== undefined) {
    const filter = syscallFilter(process.arch);
    const hasFilter = filter !== undefined;
    walled.push({
      ...limited,
      enclose: bubblewrap(bwrap, hasFilter),
      filter,
      confinement: { ...confinement, namespaces: true, files_hidden: true, syscalls_filtered: hasFilter },
    });
  }
  if (setpriv !== undefined && knowsOption(setpriv, '--landlock-access')) {
    walled.push({ ...limited, enclose: landlock(setpriv), confinement: { ...confinement, files_hidden: true } });
  }
  const [best = limited, ...others] = walled;
  return best === limited ? [limited, bare] : [best, ...others, limited, bare];
}

function bubblewrap(tool: string, hasFilter: boolean): BundlerHold['enclose'] {
  const seccomp = hasFilter ? ['--seccomp', `${FILTER_FD}`] : [];
  return (files) => {
    const readable = [...runtimeFiles(), ...files.map(({ target }) => target)];
    // A link in a readable folder is there already.
    const links = files.filter(({ path, target }) => path !== target && !readable.some((one) => isInside(one, path)));
    return [tool, ...emptyRoot(readable, ['net', 'ipc', 'uts'], links), ...seccomp, '--'];
  };
}

function landlock(tool: string): BundlerHold['enclose'] {
  return (files) => {
    const folders = files.filter(({ isFolder }) => isFolder);
    // By the names in the folder above `node_modules`, the bundler finds packages, and sees that their folder is a
    // link.
    const above = folders.filter(({ path }) => basename(path) === 'node_modules').map(({ path }) => dirname(path));
    const readable = [...runtimeFiles(), ...files.map(({ target }) => target)];
    return [tool, ...fileRules(readable, [...new Set([...folders.map(({ target }) => target), ...above])])];
  };
}

/**
 * Starts the worker with an empty environment, as the leader of its own process group, with one channel as descriptor
 * 3.
 * @param files the files that it may read
 * @throws Error when the service is out of descriptors
 */
export function launchWorker(hold: BundlerHold, files: readonly ReadableFile[]): ChildProcess {
  const { prefix, enclose, filter, memoryBytes } = hold;
  const readable = new Set(files.flatMap(({ path, target }) => [path, target]));
  const [command, ...args] = [
    ...prefix,
    ...enclose(files),
    process.execPath,
    '--permission',
    '--allow-child-process',
    ...[...readable].map((file) => `--allow-fs-read=${file}`),
    `--max-old-space-size=${Math.ceil(memoryBytes / MIB)}`,
    '--disable-sigusr1',
    '--disable-warning=SecurityWarning',
    join(import.meta.dirname, 'worker-main.ts'),
  ];
  const filterFd = filter === undefined ? undefined : unnamedFile(filter);
  try {
    const worker = spawn(command, args, {
      cwd: '/',
      env: {},
      // A crashing process prints a long text that names the machine's folders.
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', ...(filterFd === undefined ? [] : [filterFd])],
      detached: true,
    });
    // Without a free descriptor there is no process. Its error event comes later, when nothing else listens to it.
    worker.on('error', () => undefined);
    if (!worker.stdio) throw new Error('there is no file descriptor left for it');
    return worker;
  } finally {
    if (filterFd !== undefined) closeSync(filterFd);
  }
}

/** The generations of processes that are counted: the confining program, the bundler's process, and esbuild's. */
const GENERATIONS = 3;

/** The memory of a process and of those that it started, swapped or not, in bytes; 0 when the system does not tell. */
export function familyMemory(pid: number, generations = GENERATIONS): number {
  const own = memoryOf(pid);
  if (own === 0 || generations === 1) return own;
  return childrenOf(pid).reduce((sum, child) => sum + familyMemory(child, generations - 1), own);
}

/** The memory of one process, from Linux's `/proc/<pid>/status`. Its figures are in kB for any page size. */
function memoryOf(pid: number): number {
  const figures = readOrNothing(`/proc/${pid}/status`).matchAll(/^Vm(?:RSS|Swap):\s+(\d+) kB$/gm);
  return [...figures].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** The processes that its first thread started. In Node this thread starts all of them. */
function childrenOf(pid: number): number[] {
  return readOrNothing(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process is gone, or the system does not have this file.
    return '';
  }
}
