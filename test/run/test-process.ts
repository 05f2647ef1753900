import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, toolEnvironment } from '../check/project.ts';
import type { Failure, FileEnd } from './test-files.ts';

const PROGRAM = join(import.meta.dirname, 'test-files.ts');
/** The time that a file gets after its time limit to report which test hung. */
const GRACE_MS = 2_000;
/** The time that child processes of a file get to end, on a busy machine. */
const LEFTOVER_MS = 5_000;
const POLL_MS = 50;

/** The result of one file, with its start and end in milliseconds of one clock. */
export interface FileOutcome extends FileEnd {
  readonly file: string;
  readonly failures: readonly Failure[];
  readonly output: string;
  readonly began: number;
  readonly ended: number;
}

/** A process that runs test files, with the group of all processes that they start. */
export class TestProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | string>;
  #output = '';
  #lines = '';
  #failures: Failure[] = [];
  #onEnd: (end: FileEnd) => void = () => {};

  constructor(nodeOptions: readonly string[], library: string) {
    this.#child = spawn(process.execPath, [...nodeOptions, PROGRAM, library], {
      cwd: root,
      // The library's main test runs nothing in these processes.
      env: { ...toolEnvironment(), TAP: '1', TAP_TIMEOUT: '0' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#exited = new Promise((resolve) =>
      this.#child.once('exit', (code, signal) => resolve(code ?? signal ?? 'no exit code')),
    );
    const { stdio, stdout, stderr } = this.#child;
    for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (text) => (this.#output += text));
    (stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => {
      const lines = `${this.#lines}${text}`.split('\n');
      this.#lines = lines.pop() ?? '';
      for (const line of lines) {
        const found = JSON.parse(line) as Failure | FileEnd;
        if ('path' in found) this.#failures.push(found);
        else this.#onEnd(found);
      }
    });
    // The process may have ended already.
    this.#files.on('error', () => {});
  }

  /** Runs one file. With `isLast`, also waits until the process has ended. */
  async run(file: string, seconds: number, isLast: boolean): Promise<FileOutcome> {
    const began = performance.now();
    this.#output = '';
    this.#failures = [];
    const given = new Promise<FileEnd>((resolve) => {
      this.#onEnd = resolve;
    });
    this.#files.write(`${seconds} ${file}\n`);
    let isLate = false;
    const late = setTimeout(
      () => {
        isLate = true;
        this.kill();
      },
      seconds * 1000 + GRACE_MS,
    );
    const exited = this.#exited.then((code) => `ended with ${code}`);
    const end = await Promise.race([given, exited]);
    if (isLast) this.#files.end();
    const ending = isLast ? await exited : 'ended with 0';
    clearTimeout(late);
    const messages = isLate ? [`took more than ${seconds} s`] : [];
    if (!isLate && (typeof end === 'string' || ending !== 'ended with 0')) messages.push(ending);
    if (await this.#leavesProcesses()) messages.push('left a process running');
    const failures = [...this.#failures, ...messages.map((message) => ({ path: [], details: { message } }))];
    const { passed, spent } = typeof end === 'string' ? { passed: 0, spent: 0 } : end;
    return { file, passed, failures, spent, output: this.#output, began, ended: performance.now() };
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid !== undefined) signal(-pid, 'SIGKILL');
  }

  /** Ends the process while it waits for a file. */
  end(): void {
    this.#files.end();
  }

  get #files(): Writable {
    return this.#child.stdio[3] as Writable;
  }

  /** Whether processes that a file started outlive it. Kills them. */
  async #leavesProcesses(): Promise<boolean> {
    const group = this.#child.pid ?? 0;
    for (let waited = 0; waited < LEFTOVER_MS; waited += POLL_MS) {
      if (membersOf(group).length === 0) return false;
      await sleep(POLL_MS);
    }
    for (const pid of membersOf(group)) signal(pid, 'SIGKILL');
    return true;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}

/** The living processes of a group but its leader. Only Linux tells. */
function membersOf(group: number): number[] {
  if (process.platform !== 'linux') return [];
  const all = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [Number(entry)] : []));
  return all.filter((pid) => {
    try {
      // Format: pid (name) state parent group … The name may contain any character, even a closing bracket.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, , own] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return pid !== group && Number(own) === group && state !== 'Z' && state !== 'X';
    } catch {
      return false;
    }
  });
}
