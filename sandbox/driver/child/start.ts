import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** What a child gets besides its channel. */
interface Given {
  journalFd?: number | undefined;
  filterFd?: number | undefined;
  input?: string;
}

/**
 * Starts a command line as a child with a channel and a journal. The child inherits nothing of the server's. The text
 * of this function becomes part of another program: see `starter/program.ts` for what it may use.
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
