import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const MIB = 1_048_576;

/** Where the system's own tools lie; the environment's PATH has no say in it. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** What Node counts as its data without using it: the range of addresses for compiled code. */
const RESERVED_BYTES = 512 * MIB;

/** How the bundler's process is held on this system. */
export interface BundlerHold {
  /** The programs that restrict themselves and become the next; none where the system has none that works. */
  prefix: readonly string[];
  /** What Node may take for its own objects, in bytes. */
  memoryBytes: number;
}

/**
 * Held by the system itself, as far as it can: the process ends with the server, however that ends, and gets no memory
 * far beyond the limit in the time in which nobody looks.
 */
export function bundlerHold(memoryBytes: number, platform: NodeJS.Platform = process.platform): BundlerHold {
  const [setpriv, prlimit] = platform === 'linux' ? ['setpriv', 'prlimit'].map(toolPath) : [];
  const prefix = [
    ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs']),
    ...(prlimit === undefined ? [] : [prlimit, '--core=0', `--data=${memoryBytes + RESERVED_BYTES}`]),
  ];
  return { prefix, memoryBytes };
}

/** Starts it with an environment of nothing, at the head of a group of its own, with one channel as descriptor 3. */
export function launchBundler({ prefix, memoryBytes }: BundlerHold): ChildProcess {
  const [command, ...args] = [
    ...prefix,
    process.execPath,
    `--max-old-space-size=${Math.ceil(memoryBytes / MIB)}`,
    '--disable-sigusr1',
    join(import.meta.dirname, 'bundler-process.ts'),
  ];
  return spawn(command, args, {
    cwd: '/',
    env: {},
    // What a breaking process prints is long, and names the machine's folders.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    detached: true,
  });
}

function toolPath(tool: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => join(folder, tool)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
