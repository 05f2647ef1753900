import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { toolEnvironment } from '../check/project.ts';
import type { FileOutcome, RunOptions, TimedFile } from './outcome.ts';
import { isGroupAlive, killGroup, type Whom } from './process-group.ts';
import { stateOfProcess } from './process-state.ts';
import { type Failure, TapReader } from './tally.ts';

const entry = join(import.meta.dirname, 'test-files.ts');

/** The time that a file gets after its time limit to report which test hung. */
const GRACE_MS = 2_000;

/** The time that child processes of a file get to end, on a busy machine. */
const LEFTOVER_MS = 5_000;

/** The time that they get to disappear after a kill. */
const KILLED_MS = 10_000;

const POLL_MS = 50;

/** The time that the output gets to end after that. A process that still holds it has left the group. */
const OUTPUT_MS = 5_000;

/** What a process reports at the end of a file. */
interface Figures {
  readonly spent: number | undefined;
  /** Built-ins of the language that have changed since the process began. */
  readonly changed: readonly string[];
}

/** A process that runs test files, with the group of all processes that they start. */
export class TestProcess {
  readonly #mark = `end-${randomUUID()}`;
  readonly #child: ChildProcess;
  readonly #group: number;
  readonly #exited: Promise<number | string>;
  readonly #closed: Promise<unknown>;
  #stdout = '';
  #stderr = '';
  #onOutput: () => void = () => {};
  readonly #before: string[] = [];

  constructor(nodeOptions: readonly string[], { root, library }: RunOptions) {
    this.#child = spawn(process.execPath, [...nodeOptions, entry, library, this.#mark], {
      cwd: root,
      // The library's main test runs nothing in these processes.
      env: { ...toolEnvironment(), TAP: '1', TAP_TIMEOUT: '0' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid, stdout, stderr } = this.#child;
    if (pid === undefined) throw new Error('A process for tests could not be started.');
    this.#group = pid;
    this.#exited = new Promise((resolve) =>
      this.#child.on('exit', (code, signal) => resolve(code ?? signal ?? 'no exit code')),
    );
    this.#closed = new Promise((resolve) => this.#child.once('close', resolve));
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#onOutput();
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#onOutput();
    });
    // The process may have ended already.
    this.#files.on('error', () => {});
  }

  /** Runs one file. With `isLast`, also waits until the process has ended. */
  async run({ file, seconds }: TimedFile, { isLast }: { isLast: boolean }): Promise<FileOutcome> {
    const began = performance.now();
    this.#files.write(`${seconds} ${file}\n`);
    if (isLast) this.#files.end();
    let isLate = false;
    let state = '';
    const outOfTime = setTimeout(
      () => {
        isLate = true;
        state = `${stateOfProcess(this.#group)}\nbefore it: ${this.#before.join(', ')}\n`;
        this.kill();
      },
      seconds * 1000 + GRACE_MS,
    );
    const exit = await (isLast ? this.#exited : Promise.race([this.#exited, this.#fileEnded()]));
    clearTimeout(outOfTime);
    const leftover = await this.#endLeftover(exit === undefined ? 'others' : 'all');
    const isHeld = exit !== undefined && !(await this.#outputEnds());

    const { results, spent, changed } = this.#take();
    const reader = new TapReader(file);
    reader.write(results.stdout);
    const { passed, failures, extra } = reader.end();
    const found: Failure[] = [...failures];
    const add = (message: string) => found.push({ path: [file], details: { message } });
    if (isLate) add(`took more than ${seconds} s`);
    else if (exit !== undefined && (exit !== 0 || !isLast)) add(`ended with ${exit}`);
    if (!isLast && changed.length > 0) add(`changed what files share a process with: ${changed.join(', ')}`);
    if (passed === 0 && found.length === 0) add('asserts nothing');
    if (leftover) add('left a process running');
    if (isHeld) add('left a process running that holds its output');
    const output = `${file} printed:\n${results.stderr}${extra}\n${state}`;
    this.#before.push(file);
    return { file, passed, failures: found, output, began, ended: performance.now(), spent };
  }

  /** Ends the process while it waits for a file. */
  async end(): Promise<void> {
    this.#files.end();
    await this.#exited;
  }

  kill(): void {
    killGroup(this.#group);
  }

  get #files(): Writable {
    return this.#child.stdio[3] as Writable;
  }

  async #fileEnded(): Promise<undefined> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const line = `\n${this.#mark}`;
    this.#onOutput = () => {
      const at = this.#stdout.indexOf(line);
      if (at !== -1 && this.#stdout.includes('\n', at + 1) && this.#stderr.includes(`${line}\n`)) resolve(undefined);
    };
    return promise;
  }

  /** The output of the last file, its processor time in seconds if known, and the built-ins that it changed. */
  #take(): { results: { stdout: string; stderr: string } } & Figures {
    const [stdout = '', end = ''] = this.#stdout.split(`\n${this.#mark}`, 2);
    const [stderr = ''] = this.#stderr.split(`\n${this.#mark}`, 1);
    this.#stdout = '';
    this.#stderr = '';
    const { spent, changed = [] } = (end.trim() === '' ? {} : JSON.parse(end)) as Partial<Figures>;
    return { results: { stdout: `${stdout}\n`, stderr }, spent, changed };
  }

  /** Whether processes of the group outlived the file. Kills them. */
  async #endLeftover(whom: Whom): Promise<boolean> {
    if (await this.#isGone(whom, LEFTOVER_MS)) return false;
    killGroup(this.#group, whom);
    // A killed process closes its files before it releases its memory. So wait for the process, not for its output.
    await this.#isGone(whom, KILLED_MS);
    return true;
  }

  async #isGone(whom: Whom, withinMs: number): Promise<boolean> {
    for (let waited = 0; waited < withinMs; waited += POLL_MS) {
      if (!isGroupAlive(this.#group, whom)) return true;
      await sleep(POLL_MS);
    }
    return !isGroupAlive(this.#group, whom);
  }

  /** Waits until the output has ended. Leftover processes may have held it open. */
  async #outputEnds(): Promise<boolean> {
    const { stdout, stderr } = this.#child;
    const held = setTimeout(() => {
      stdout?.destroy();
      stderr?.destroy();
    }, OUTPUT_MS);
    await this.#closed;
    clearTimeout(held);
    return stdout?.readableEnded === true && stderr?.readableEnded === true;
  }
}
