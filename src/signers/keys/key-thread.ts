import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Curve, KeySource } from '../signer.ts';

/** Starts the thread; tests start another one. */
export type StartKeyThread = () => Worker;

/** The thread ended, or does not answer. Its requests can be sent again, to another thread. */
export class KeyThreadLost extends Error {}

/** The most uses in one message. With more, the next uses would wait longer than a message saves. */
const MAX_USES = 32;

/** The most messages with uses that are not answered yet. The thread works on one, and has the next one ready. */
const MAX_MESSAGES = 2;

/** How long an answer may take, in ms: hundreds of times what a message takes. */
const OVERDUE_MS = 10_000;

/** How long the thread may take to wipe its keys, in ms. */
const END_MS = 1_000;

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/**
 * The main thread's side of the thread that keeps the keys. That thread keeps the process alive only while requests are
 * open.
 */
export class KeyThreadConnection {
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();
  readonly #overdueMs: number;
  readonly #opening = new Map<number, Waiting<string>>();
  #unsent: (Waiting<Uint8Array> & { use: KeyUse })[] = [];
  /** Uses that were sent and are not answered, the oldest message first. */
  readonly #sent: Waiting<Uint8Array>[][] = [];
  #watch: NodeJS.Timeout | undefined;
  #isSendingSoon = false;
  #lost: KeyThreadLost | undefined;
  #isEnding = false;

  constructor(worker: Worker, overdueMs = OVERDUE_MS) {
    this.#worker = worker;
    this.#overdueMs = overdueMs;
    worker.on('message', (report: KeyThreadResponse) => this.#receive(report));
    // Shows only the error's name: its message may contain a part of a key.
    worker.on('error', (error) => this.#fail(`it ended by ${nameOf(error)}`));
    worker.on('messageerror', () => this.#fail('it sent a message that cannot be read'));
    worker.on('exit', () => {
      this.#fail('it ended');
      this.#ended.resolve();
    });
    worker.unref();
  }

  /** Why the thread can no longer be used; undefined while it can. */
  get lost(): KeyThreadLost | undefined {
    return this.#lost;
  }

  /**
   * Opens a key in the thread.
   * @param material its bytes belong to the thread from now on
   * @returns a text that tells the key apart from others
   * @throws Error with the reason; KeyThreadLost
   */
  async open(key: number, material: KeySource): Promise<string> {
    const { promise, ...waiting } = Promise.withResolvers<string>();
    if (this.#lost !== undefined) throw this.#lost;
    this.#opening.set(key, waiting);
    const bytes = material.kind === 'key' ? material.bytes : material.passphrase;
    this.#post({ kind: 'open', key, material }, [bytes.buffer as ArrayBuffer]);
    this.#updateRef();
    return await promise;
  }

  /** @throws Error with the reason; KeyThreadLost */
  async use(use: KeyUse): Promise<Uint8Array> {
    const { promise, ...waiting } = Promise.withResolvers<Uint8Array>();
    if (this.#lost !== undefined) throw this.#lost;
    this.#unsent.push({ ...waiting, use });
    if (!this.#isSendingSoon) {
      // Sends at the end of this tick, so that all uses of the tick go together.
      this.#isSendingSoon = true;
      process.nextTick(() => {
        this.#isSendingSoon = false;
        this.#send();
      });
    }
    return await promise;
  }

  forget(key: number): void {
    if (this.#lost === undefined) this.#post({ kind: 'forget', key });
  }

  /** Lets the thread wipe its keys, and ends it. Unanswered requests fail. Safe to call twice. */
  async end(): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      if (this.#lost === undefined) this.#post({ kind: 'end' });
      this.#worker.ref();
      const late = setTimeout(() => void this.#worker.terminate(), END_MS);
      void this.#ended.promise.then(() => clearTimeout(late));
    }
    await this.#ended.promise;
  }

  #send(): void {
    while (this.#lost === undefined && this.#unsent.length > 0 && this.#sent.length < MAX_MESSAGES) {
      const together = this.#unsent.splice(0, MAX_USES);
      this.#sent.push(together);
      this.#post({ kind: 'use', uses: together.map(({ use }) => use) });
    }
    this.#updateRef();
  }

  #receive(report: KeyThreadResponse): void {
    switch (report.kind) {
      case 'opened':
        this.#opening.get(report.key)?.resolve(report.mark);
        this.#opening.delete(report.key);
        break;
      case 'unopened':
        this.#opening.get(report.key)?.reject(new Error(report.reason));
        this.#opening.delete(report.key);
        break;
      case 'used':
        for (const [place, { resolve, reject }] of (this.#sent.shift() ?? []).entries()) {
          const result = report.results[place] ?? { reason: 'it was not answered' };
          if ('bytes' in result) resolve(result.bytes);
          else reject(new Error(result.reason));
        }
        this.#send();
        break;
      default:
        report satisfies never;
    }
    this.#updateRef();
  }

  #fail(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = new KeyThreadLost(`the thread that keeps the keys is gone: ${reason}`);
    const waiting = [...this.#opening.values(), ...this.#sent.flat(), ...this.#unsent];
    this.#opening.clear();
    this.#sent.length = 0;
    this.#unsent = [];
    for (const { reject } of waiting) reject(this.#lost);
    this.#updateRef();
    void this.#worker.terminate();
  }

  /** Limits the time of the thread while uses are unanswered. Keeps the process alive while any request is open. */
  #updateRef(): void {
    clearTimeout(this.#watch);
    this.#watch = undefined;
    if (this.#sent.length > 0) {
      this.#watch = setTimeout(() => this.#fail(`no answer within ${this.#overdueMs / 1000} s`), this.#overdueMs);
    }
    if (this.#isEnding) return;
    if (this.#sent.length > 0 || this.#opening.size > 0) this.#worker.ref();
    else this.#worker.unref();
  }

  #post(order: KeyThreadRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, transfer);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : 'something that is no error';
}

/** Starts the thread that keeps the keys. It gets nothing of the process's environment. */
export function startKeyThread(): Worker {
  const cache = getCompileCacheDir();
  return new Worker(join(import.meta.dirname, 'thread-main.ts'), {
    name: 'keys',
    // The compile cache, when the process has one, halves the cost of the start. Node makes a folder of its own in it.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    // The options of the process may not suit a thread.
    execArgv: [],
  });
}

/** The messages to and from the thread that keeps the keys. Numbers of keys and of requests are never used again. */

/** Asks for a signature over the payload. Without a payload, for the public key. */
export interface KeyUse {
  key: number;
  curve: Curve;
  payload: Uint8Array | null;
}

export type KeyThreadRequest =
  | { kind: 'open'; key: number; material: KeySource }
  /** Many uses in one message. A message for each use would cost a tenth of a signature. */
  | { kind: 'use'; uses: KeyUse[] }
  | { kind: 'forget'; key: number }
  /** Wipes every key, and ends the thread. */
  | { kind: 'end' };

export type KeyThreadResponse =
  /** `mark` tells the key apart from every other one. It tells nothing else of the key. */
  | { kind: 'opened'; key: number; mark: string }
  | { kind: 'unopened'; key: number; reason: string }
  /** In the order of the uses, each with its bytes or the reason why there are none. */
  | { kind: 'used'; results: KeyThreadResult[] };

export type KeyThreadResult = { bytes: Uint8Array } | { reason: string };
