import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { runtimeFiles } from '../../sandbox/confinement/runtime-files.ts';
import { syscallFilter } from '../../sandbox/confinement/syscall-filter.ts';
import { knowsOption, toolPath } from '../../sandbox/confinement/tool.ts';
import { unnamedFile } from '../../sandbox/confinement/unnamed-file.ts';
import { emptyRoot, fileRules } from '../../sandbox/confinement/wall.ts';

const MIB = 1_048_576;
const FILTER_FD = 4;

/** The program itself, its packages, and the guest runtime, which is bundled as well. */
const OWN_FILES = ['src', 'sandbox', 'node_modules', 'package.json'].map((name) =>
  join(import.meta.dirname, '../..', name),
);

/** What Node counts as its data without using it: the range of addresses for compiled code. */
const RESERVED_BYTES = 512 * MIB;

/** How the bundler's process is held on this system. */
export interface BundlerHold {
  /** The programs that restrict themselves and become the next; none where the system has none that works. */
  prefix: readonly string[];
  /** The system-call filter that a program of the prefix takes. */
  filter: Buffer | undefined;
  /** Flags of Node's permission model. */
  flags: readonly string[];
  /** What Node may take for its own objects, in bytes. */
  memoryBytes: number;
}

/**
 * Held by the system itself, as far as it can: the process ends with the server, gets no memory far beyond the limit in
 * the time in which nobody looks, and opens no file but those that builds are made of. The best hold comes first; one
 * that does not start is followed by the next.
 * @param folders where plugins lie, as absolute paths
 */
export function bundlerHolds(
  memoryBytes: number,
  folders: readonly string[],
  platform: NodeJS.Platform = process.platform,
): [BundlerHold, ...BundlerHold[]] {
  const readable = [...OWN_FILES, ...folders];
  const flags = ['--permission', '--allow-child-process', ...readable.map((file) => `--allow-fs-read=${file}`)];
  const bare = { prefix: [], filter: undefined, flags, memoryBytes };
  if (platform !== 'linux') return [bare];
  const [setpriv, prlimit, choom, bwrap] = ['setpriv', 'prlimit', 'choom', 'bwrap'].map(toolPath);
  const limits = [
    ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs']),
    ...(prlimit === undefined ? [] : [prlimit, '--core=0', `--data=${memoryBytes + RESERVED_BYTES}`]),
    // When the machine runs out of memory, this goes before the service; what it starts inherits it.
    ...(choom === undefined ? [] : [choom, '-n', '1000', '--']),
  ];
  const files = [...runtimeFiles(), ...readable];
  const filter = syscallFilter(process.arch);
  const seccomp = filter === undefined ? [] : ['--seccomp', `${FILTER_FD}`];
  const walls = [
    ...(bwrap === undefined
      ? []
      : [{ prefix: [bwrap, ...emptyRoot(files, ['net', 'ipc', 'uts']), ...seccomp, '--'], filter }]),
    ...(setpriv !== undefined && knowsOption(setpriv, '--landlock-access')
      ? [{ prefix: [setpriv, ...fileRules(files)], filter: undefined }]
      : []),
  ];
  const walled = walls.map(({ prefix, filter }) => ({ ...bare, prefix: [...limits, ...prefix], filter }));
  const limited = { ...bare, prefix: limits };
  const [best = limited, ...others] = walled;
  return best === limited ? [limited, bare] : [best, ...others, limited, bare];
}

/** Starts it with an environment of nothing, at the head of a group of its own, with one channel as descriptor 3. */
export function launchBundler({ prefix, filter, flags, memoryBytes }: BundlerHold): ChildProcess {
  const [command, ...args] = [
    ...prefix,
    process.execPath,
    ...flags,
    `--max-old-space-size=${Math.ceil(memoryBytes / MIB)}`,
    '--disable-sigusr1',
    '--disable-warning=SecurityWarning',
    join(import.meta.dirname, 'bundler-process.ts'),
  ];
  const filterFd = filter === undefined ? undefined : unnamedFile(filter);
  try {
    return spawn(command, args, {
      cwd: '/',
      env: {},
      // What a breaking process prints is long, and names the machine's folders.
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', ...(filterFd === undefined ? [] : [filterFd])],
      detached: true,
    });
  } finally {
    if (filterFd !== undefined) closeSync(filterFd);
  }
}
