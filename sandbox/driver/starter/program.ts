import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { FIXED_LIMITS } from '../../protocol.ts';
import { start } from '../child/start.ts';
import type { FromStarter, ToStarter } from './messages.ts';

/** What a starter gets once, when it begins. */
export interface StarterTask {
  /** The command line to start for each child, and the program to write to the child's standard input. */
  readonly line: readonly string[];
  readonly program: string;
  /** Process id of the service. Descriptor numbers in messages are numbers of this process. */
  readonly service: number;
  /** The service's descriptor of the system-call filter. */
  readonly filterFd?: number | undefined;
}

/**
 * The starter's program: a script that evaluates to a function. The function takes Node's `require` and runs the
 * starter. The script consists of the source text of two functions, without their types. If Node loaded these files
 * instead, the process would need half as much memory again.
 */
export function starterProgram(task: StarterTask): string {
  return `(function (require) {
const { spawn } = require('node:child_process');
const { closeSync, openSync, readlinkSync } = require('node:fs');
${String(start)}
(${String(serve)})(${JSON.stringify(task)}, ${FIXED_LIMITS.stderr_bytes});
})
//# sourceURL=isolayer-starter
`;
}

/**
 * Starts and kills children as the channel's messages say, and reports how each child ended. Ends when the channel
 * closes. Uses nothing from outside except the names that {@link starterProgram} puts beside it.
 */
function serve({ line, program, service, filterFd }: StarterTask, stderrBytes: number): void {
  /** How long a dead child's standard error may take to end, in milliseconds. `Child` waits longer. */
  const DRAIN_MS = 250;
  const CHANNEL_FD = 3;
  const children = new Map<number, ChildProcess>();
  const ofService = (fd: number, flags: string): number => openSync(`/proc/${service}/fd/${fd}`, flags);
  const say = (message: FromStarter): void => void process.send?.(message);

  // Fails here on a system that forbids access to the service's `/proc` entries: its descriptors would be out of reach
  // too. No call waits for a starter that fails now.
  readlinkSync(`/proc/${service}/exe`);
  const filter = filterFd === undefined ? undefined : ofService(filterFd, 'r');

  function begin(number: number, serviceJournalFd: number | undefined): void {
    let journalFd: number | undefined;
    try {
      journalFd = serviceJournalFd === undefined ? undefined : ofService(serviceJournalFd, 'r+');
      hold(number, start(line, { journalFd, filterFd: filter, input: program }));
    } catch (error) {
      say({ type: 'failed', child: number, reason: error instanceof Error ? error.message : String(error) });
    } finally {
      if (journalFd !== undefined) closeSync(journalFd);
    }
  }

  function hold(number: number, child: ChildProcess): void {
    const { pid, stderr } = child;
    if (pid === undefined) {
      child.on('error', ({ message }) => say({ type: 'failed', child: number, reason: message }));
      return;
    }
    children.set(number, child);
    say({ type: 'started', child: number, pid });
    const channel = child.stdio[CHANNEL_FD] as Socket & { readonly _handle: { readStop(): void } };
    // Node starts to read each pipe at once and would read on until the channel is handed over. The child's first bytes
    // would be lost.
    channel._handle.readStop();
    const channelSent: FromStarter = { type: 'channel', child: number };
    process.send?.(channelSent, channel, {}, () => channel.destroy());

    let lastWords = Buffer.alloc(0);
    stderr?.on('data', (chunk: Buffer) => {
      const all = Buffer.concat([lastWords, chunk]);
      lastWords = Buffer.from(all.subarray(Math.max(0, all.length - stderrBytes)));
    });
    child.on('exit', (code, signal) => {
      children.delete(number);
      say({ type: 'exited', child: number, code, signal });
      const timer = setTimeout(() => stderr?.destroy(), DRAIN_MS);
      const tell = (): void => {
        clearTimeout(timer);
        say({ type: 'closed', child: number, stderr: lastWords.toString('utf8') });
      };
      if (stderr === null || stderr.closed) tell();
      else stderr.once('close', tell);
    });
  }

  process.on('message', (message: ToStarter) => {
    if (message.type === 'start') begin(message.child, message.journal_fd);
    else children.get(message.child)?.kill('SIGKILL');
  });
  process.on('disconnect', () => {
    for (const child of children.values()) child.kill('SIGKILL');
    process.exit();
  });
  say({ type: 'ready' });
}
