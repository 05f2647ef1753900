import { setTimeout as sleep } from 'node:timers/promises';
import { seededUnit } from '../../../support/seeded.ts';
import type { SoakNetwork } from './chain.ts';
import type { Cluster } from './cluster.ts';
import type { Intention } from './intention.ts';

/** A client's request to cancel or replace an accepted transaction, and the last answer to it. */
export interface ClientIntent {
  readonly kind: 'cancel' | 'replace';
  readonly relayerId: string;
  /** The request that replaces the transaction; absent for a cancel. */
  readonly replacement?: Intention;
  answer: 'taken' | 'refused' | 'unheard';
}

/** The shares of accepted transactions that the client cancels and replaces. */
const CANCELED = 0.12;
const REPLACED = 0.12;
/** The longest time from acceptance to an intent. Most come early, before the transaction is in a block. */
const LATEST_MS = 2_000;
const PATIENCE_MS = 15_000;
const TRIES = 20;
/** Statuses after which the client repeats an intent: the same one is in progress, or there are too many requests. */
const NOT_YET: ReadonlySet<number> = new Set([409, 429]);

/**
 * A client that cancels some accepted transactions and replaces others. An intent is recorded before it is sent,
 * because its answer may be lost.
 */
export class ClientIntents {
  /** By the transaction's id, at most one for each. */
  readonly intents = new Map<string, ClientIntent>();
  /** The number of answers by method and status. */
  readonly answers = new Map<string, number>();
  readonly #cluster: Pick<Cluster, 'pick'>;
  readonly #network: Pick<SoakNetwork, 'replacementOf'>;
  readonly #seed: number;
  readonly #running: Promise<void>[] = [];

  constructor(cluster: Pick<Cluster, 'pick'>, network: Pick<SoakNetwork, 'replacementOf'>, seed: number) {
    this.#cluster = cluster;
    this.#network = network;
    this.#seed = seed;
  }

  /** The replacements of all intents. */
  get replacements(): Intention[] {
    return [...this.intents.values()].flatMap(({ replacement }) => replacement ?? []);
  }

  /** Decides by the seed whether the client cancels or replaces an accepted transaction. */
  consider(intention: Intention, id: string): void {
    if (this.intents.has(id)) return;
    const unit = (purpose: string) => seededUnit(this.#seed, 'intent', intention.index, purpose);
    const chance = unit('kind');
    const afterMs = unit('moment') ** 2 * LATEST_MS;
    const { relayerId } = intention;
    if (chance < CANCELED) {
      const intent: ClientIntent = { kind: 'cancel', relayerId, answer: 'unheard' };
      this.intents.set(id, intent);
      this.#running.push(this.#ask(intent, id, `${intention.key}-cancel-${id}`, afterMs));
    } else if (chance < CANCELED + REPLACED) {
      const replacement = this.#network.replacementOf(this.#seed, intention);
      if (replacement === undefined) return;
      const intent: ClientIntent = { kind: 'replace', relayerId, replacement, answer: 'unheard' };
      this.intents.set(id, intent);
      this.#running.push(this.#ask(intent, id, replacement.key, afterMs));
    }
  }

  /** Resolves when every intent was answered or given up. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Sends an intent. Repeats it under the same key if the answer was lost or the intent is still in progress. */
  async #ask(intent: ClientIntent, id: string, key: string, afterMs: number): Promise<void> {
    await sleep(afterMs);
    const method = intent.kind === 'cancel' ? 'DELETE' : 'PUT';
    const body = await intent.replacement?.body();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { url, apiKey } = await this.#cluster.pick();
      try {
        const response = await fetch(`${url}/api/v1/relayers/${intent.relayerId}/transactions/${id}`, {
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            'idempotency-key': key,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        await response.text();
        const answer = `${method} ${response.status}`;
        this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
        if (response.status < 500 && !NOT_YET.has(response.status)) {
          intent.answer = response.ok ? 'taken' : 'refused';
          return;
        }
      } catch {
        // The service may have received it. The key makes the repetition the same intent.
      }
      await sleep(250);
    }
  }
}
