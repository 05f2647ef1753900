import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** What a child is given besides its channel. */
interface Given {
  journalFd?: number | undefined;
  filterFd?: number | undefined;
  input?: string;
}

/**
 * Starts a command line as a child on the channel, and on a journal, with nothing of the server's own. The text of this
 * function is part of another program: see `starter/program.ts` for what it may use.
 * @throws Error when there is no file descriptor left for it
 */
export function start([command = '', ...args]: readonly string[], given: Given = {}): ChildProcess {
  const { journalFd = 'ignore', filterFd, input = '' } = given;
  // From its beginning: a descriptor that is handed on shares how far it was read.
  const filter = filterFd === undefined ? undefined : openSync(`/proc/self/fd/${filterFd}`, 'r');
  try {
    const child = spawn(command, args, {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', 'pipe', journalFd, ...(filter === undefined ? [] : [filter])],
      // A session of its own: the terminal's Ctrl-C is for the server, which lets running calls finish.
      detached: true,
    });
    // Without a descriptor to be had there is no process, and the error comes when nobody listens to it any more.
    child.on('error', () => undefined);
    if (!child.stdio) throw new Error('there is no file descriptor left for it');
    // One that dies before it has read all of it says more by its end.
    child.stdin?.on('error', () => undefined).end(input);
    return child;
  } finally {
    if (filter !== undefined) closeSync(filter);
  }
}
