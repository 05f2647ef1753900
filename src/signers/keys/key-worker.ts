import type { Curve, KeyHolder, KeySource, Signer } from '../signer.ts';
import { KeyThreadConnection, KeyThreadLost, type StartKeyThread, startKeyThread } from './key-thread.ts';

/** How often a request is tried when it ends the thread each time. */
const TRIES = 3;

export interface KeyWorkerOptions {
  /** Called each time that a thread was lost, with its keys and requests. The next thread gets its requests again. */
  onLost?: (lost: Error) => void;
  start?: StartKeyThread;
  overdueMs?: number;
}

/** A key as it is kept in one thread. */
interface Place {
  worker: KeyThreadConnection;
  key: number;
  opened: Promise<void>;
}

/**
 * Keeps the keys in a thread of its own, which does nothing else. The main thread neither has the keys nor signs. The
 * thread starts with the first key. When it is lost, a new thread gets the keys again, and the unanswered requests.
 * Signing twice has the same effect as signing once.
 */
export class RestartingKeyThread implements KeyHolder {
  readonly #start: () => KeyThreadConnection;
  readonly #onLost: (lost: Error) => void;
  #worker: KeyThreadConnection | undefined;
  #keys = 0;
  #isClosed = false;

  constructor({ onLost = () => {}, start = startKeyThread, overdueMs }: KeyWorkerOptions = {}) {
    this.#start = () => new KeyThreadConnection(start(), overdueMs);
    this.#onLost = onLost;
  }

  async open(id: string, material: () => Promise<KeySource>): Promise<Signer> {
    let place: Place | undefined;
    let isClosed = false;
    /**
     * The mark of the key that was opened first. An address is derived from that key, so the key must stay the same.
     */
    let mark: string | undefined;

    const put = async (worker: KeyThreadConnection, key: number): Promise<void> => {
      const found = await worker.open(key, await material());
      mark ??= found;
      if (mark === found) return;
      worker.forget(key);
      throw new Error('its key is another one than before');
    };
    const placed = async (): Promise<Place> => {
      if (isClosed) throw new Error('it is closed');
      const worker = this.#current();
      if (place?.worker !== worker) {
        this.#keys += 1;
        const next = { worker, key: this.#keys, opened: put(worker, this.#keys) };
        place = next;
        next.opened.catch(() => {
          if (place === next) place = undefined;
        });
      }
      await place.opened;
      return place;
    };
    let underWay = 0;
    const idle: (() => void)[] = [];
    const use = async (curve: Curve, payload: Uint8Array | null) => {
      underWay += 1;
      try {
        return await this.#withRetry(async () => {
          const { worker, key } = await placed();
          return await worker.use({ key, curve, payload });
        });
      } finally {
        underWay -= 1;
        if (underWay === 0) for (const done of idle) done();
      }
    };

    await this.#withRetry(placed);
    return {
      id,
      publicKey: (curve) => use(curve, null),
      // A copy: a view would take its whole buffer with it, which may be a pool with any other data.
      sign: (curve, payload) => use(curve, Uint8Array.from(payload)),
      async close() {
        isClosed = true;
        // Earlier requests are still signed.
        if (underWay > 0) await new Promise<void>((done) => idle.push(done));
        place?.worker.forget(place.key);
        place = undefined;
      },
    };
  }

  /** Wipes the keys. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.end();
  }

  #current(): KeyThreadConnection {
    if (this.#isClosed) throw new Error('it is closed');
    if (this.#worker === undefined || this.#worker.lost !== undefined) this.#worker = this.#start();
    return this.#worker;
  }

  async #withRetry<T>(ask: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof KeyThreadLost)) throw error;
        if (!this.#isClosed && this.#reportedLoss !== error) {
          this.#reportedLoss = error;
          this.#onLost(error);
        }
        if (this.#isClosed) throw new Error('it is closed', { cause: error });
        if (tried === TRIES) throw error;
      }
    }
  }

  /** The loss that was reported last. Many requests end with the same loss. */
  #reportedLoss: KeyThreadLost | undefined;
}
