import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { z } from 'zod';
import type { Log } from '../../observability/log.ts';
import type { Hint, Hints, HintTopic } from '../instances.ts';

const CHANNEL = 'isolayer';
/** Hints that are sent within this time go together, in milliseconds. */
const GATHER_MS = 5;
/** Hints in one payload, which has room for 8,000 bytes: https://www.postgresql.org/docs/current/sql-notify.html */
const HINTS_PER_PAYLOAD = 40;
const RECONNECT_MS = 1_000;

const TOPICS = ['lane', 'transaction', 'relayer', 'settings'] as const satisfies HintTopic[];

const payloadSchema = z.strictObject({
  from: z.string(),
  hints: z.array(z.tuple([z.enum(TOPICS), z.string()])),
});

export interface PostgresHintsOptions {
  /** One of the pool's connections is reserved for listening. */
  pool: pg.Pool;
  /** Id of this instance. It separates this instance's own hints from those of others. */
  instance: string;
  log: Log;
}

/**
 * Sends hints by NOTIFY, several at a time and after the commit that they are about. A NOTIFY inside a transaction
 * would make all commits of the database queue up.
 */
export class PostgresHints implements Hints {
  readonly #options: PostgresHintsOptions;
  readonly #listeners = new Set<{ call: (heard: Hint | 'missed') => void }>();
  readonly #closing = new AbortController();
  /** Hints to send, by their text, so that each is sent once. */
  readonly #gathered = new Map<string, Hint>();
  #flushing: Promise<void> | null = null;
  #listening: Promise<void> | null = null;

  constructor(options: PostgresHintsOptions) {
    this.#options = options;
  }

  /** Starts to listen to other instances, even if the server cannot be reached now. */
  start(): void {
    this.#listening ??= this.#keepListening();
  }

  send(hint: Hint): void {
    this.#gathered.set(`${hint.topic} ${hint.id}`, hint);
    this.#flushing ??= this.#flush();
  }

  listen(listener: (heard: Hint | 'missed') => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Sends the gathered hints and stops listening. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#flushing, this.#listening]);
  }

  async #flush(): Promise<void> {
    await delay(GATHER_MS);
    while (this.#gathered.size > 0) {
      const some = [...this.#gathered].slice(0, HINTS_PER_PAYLOAD);
      for (const [text] of some) this.#gathered.delete(text);
      const hints = some.map(([, { topic, id }]) => [topic, id]);
      const payload = JSON.stringify({ from: this.#options.instance, hints });
      try {
        await this.#options.pool.query('select pg_notify($1, $2)', [CHANNEL, payload]);
      } catch (error) {
        this.#options.log.debug({ err: error }, 'notices to other instances were lost');
      }
    }
    this.#flushing = null;
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#hear(signal);
      } catch (error) {
        this.#options.log.debug({ err: error }, 'no notices come from other instances');
      }
      // An abort ends the pause, and with it the loop.
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Listens until the connection ends or these hints are closed. */
  async #hear(signal: AbortSignal): Promise<void> {
    const client = await this.#options.pool.connect();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    client.on('notification', ({ payload }) => this.#receive(payload));
    client.once('end', end).once('error', end);
    signal.addEventListener('abort', end);
    try {
      if (signal.aborted) return;
      await client.query(`listen ${CHANNEL}`);
      this.#tell('missed');
      await ended;
    } finally {
      signal.removeEventListener('abort', end);
      // Closes the connection: it still listens, so no query may reuse it.
      client.release(true);
    }
  }

  #receive(payload: string | undefined): void {
    let parsed: z.infer<typeof payloadSchema>;
    try {
      parsed = payloadSchema.parse(JSON.parse(payload ?? ''));
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a hint from another instance cannot be read');
      return;
    }
    if (parsed.from === this.#options.instance) return;
    for (const [topic, id] of parsed.hints) this.#tell({ topic, id });
  }

  #tell(heard: Hint | 'missed'): void {
    for (const { call } of [...this.#listeners]) {
      try {
        call(heard);
      } catch (error) {
        this.#options.log.error({ err: error }, 'a listener for hints failed');
      }
    }
  }
}
