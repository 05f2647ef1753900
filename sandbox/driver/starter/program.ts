import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { FIXED_LIMITS } from '../../protocol.ts';
import { start } from '../child/start.ts';
import type { FromStarter, ToStarter } from './messages.ts';

/** What a starter is given once. */
export interface StarterTask {
  /** What it starts for each child, and gives it to read. */
  readonly line: readonly string[];
  readonly program: string;
  /** The process that the descriptors in messages are of. */
  readonly service: number;
  /** Its descriptor of the system-call filter. */
  readonly filterFd?: number | undefined;
}

/**
 * The starter's program: a script that evaluates to a function of Node's `require`, which runs it. It is made of the
 * text of two functions, without their types: a process that had Node read these files would need half as much memory
 * again.
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
 * Starts and kills children as it is told over its channel, tells how each ended, and ends with that channel. Uses
 * nothing from outside but what {@link starterProgram} puts beside it.
 */
function serve({ line, program, service, filterFd }: StarterTask, stderrBytes: number): void {
  /** How long a dead child's standard error may take to end, see `Child`, which waits longer. */
  const DRAIN_MS = 250;
  const CHANNEL_FD = 3;
  const children = new Map<number, ChildProcess>();
  const ofService = (fd: number, flags: string): number => openSync(`/proc/${service}/fd/${fd}`, flags);
  const say = (message: FromStarter): void => void process.send?.(message);

  // A system that forbids this forbids its descriptors too: then it fails here, and nobody waits for it.
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
    // Node reads each pipe, and would go on until the other side has it: what the child says first would be lost.
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
