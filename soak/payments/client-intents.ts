import { setTimeout as sleep } from 'node:timers/promises';
import { seededUnit } from '../../test/support/seeded.ts';
import type { SoakNetwork } from './chain.ts';
import type { Fleet } from './fleet.ts';
import type { Intention } from './intention.ts';

/** Something that a client wanted of an accepted transaction, and what it was answered at the end. */
export interface ClientIntent {
  readonly kind: 'cancel' | 'replace';
  readonly relayerId: string;
  /** What is to take the place, where something is. */
  readonly replacement?: Intention;
  answer: 'taken' | 'refused' | 'unheard';
}

/** What share of the accepted is canceled, and what share replaced. */
const CANCELED = 0.12;
const REPLACED = 0.12;
/** How long after its acceptance an intent may come; most come soon, as what is in a block stays as it is. */
const LATEST_MS = 2_000;
const PATIENCE_MS = 15_000;
const TRIES = 20;
/** The same intent is still under way, or there are too many. */
const NOT_YET: ReadonlySet<number> = new Set([409, 429]);

/**
 * A client that changes its mind: it cancels some of what was accepted and asks for something else in place of some. A
 * intent is noted before it is sent, as its answer may be lost.
 */
export class ClientIntents {
  /** By the transaction's id: at most one for each. */
  readonly intents = new Map<string, ClientIntent>();
  /** How often each status was the answer. */
  readonly answers = new Map<string, number>();
  readonly #fleet: Pick<Fleet, 'pick'>;
  readonly #network: Pick<SoakNetwork, 'replacementOf'>;
  readonly #seed: number;
  readonly #running: Promise<void>[] = [];

  constructor(fleet: Pick<Fleet, 'pick'>, network: Pick<SoakNetwork, 'replacementOf'>, seed: number) {
    this.#fleet = fleet;
    this.#network = network;
    this.#seed = seed;
  }

  /** Everything that was to take the place of something. */
  get replacements(): Intention[] {
    return [...this.intents.values()].flatMap(({ replacement }) => replacement ?? []);
  }

  /** Decides by the plan what the client still wants of an accepted request. */
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

  /** Resolves when every intent was answered, or given up. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** An intent whose answer was lost, or that is still under way, is sent again under its key. */
  async #ask(intent: ClientIntent, id: string, key: string, afterMs: number): Promise<void> {
    await sleep(afterMs);
    const method = intent.kind === 'cancel' ? 'DELETE' : 'PUT';
    const body = await intent.replacement?.body();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { url, apiKey } = await this.#fleet.pick();
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
        // It may have been heard: the key makes the next one the same intent.
      }
      await sleep(250);
    }
  }
}
