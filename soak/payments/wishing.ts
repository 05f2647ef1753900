import { setTimeout as sleep } from 'node:timers/promises';
import { seededUnit } from '../../test/support/seeded.ts';
import type { Fleet } from './fleet.ts';
import { type Intention, replacementOf } from './plan.ts';
import type { Wishes } from './verdict.ts';

/** What share of the accepted is canceled, and what share replaced. */
const CANCELED = 0.12;
const REPLACED = 0.12;
/** How long after its acceptance a wish may come; most come soon, as what is in a block stays as it is. */
const LATEST_MS = 2_000;
const PATIENCE_MS = 15_000;
const TRIES = 20;
/** The same wish is still under way, or there are too many. */
const NOT_YET: ReadonlySet<number> = new Set([409, 429]);

/**
 * A client that changes its mind: it cancels some of what was accepted and asks for something else in place of some. A
 * wish is noted before it is sent, as its answer may be lost.
 */
export class Wishing {
  readonly canceled = new Set<string>();
  readonly replaced = new Map<string, Intention>();
  /** How often each status was the answer. */
  readonly answers = new Map<string, number>();
  readonly #fleet: Pick<Fleet, 'pick'>;
  readonly #seed: number;
  readonly #running: Promise<void>[] = [];

  constructor(fleet: Pick<Fleet, 'pick'>, seed: number) {
    this.#fleet = fleet;
    this.#seed = seed;
  }

  get wishes(): Wishes {
    return { canceled: this.canceled, replaced: this.replaced };
  }

  /** Everything that was to take the place of something. */
  get replacements(): Intention[] {
    return [...this.replaced.values()];
  }

  /** Decides by the plan what the client still wants of an accepted request. */
  consider(intention: Intention, id: string): void {
    const unit = (purpose: string) => seededUnit(this.#seed, 'wish', intention.index, purpose);
    const chance = unit('kind');
    const afterMs = unit('moment') ** 2 * LATEST_MS;
    const path = `/api/v1/relayers/${intention.relayerId}/transactions/${id}`;
    if (chance < CANCELED) {
      this.canceled.add(id);
      this.#running.push(this.#ask('DELETE', path, `${intention.key}-cancel`, afterMs));
    } else if (chance < CANCELED + REPLACED && intention.kind === 'payment') {
      const replacement = replacementOf(this.#seed, intention);
      this.replaced.set(id, replacement);
      this.#running.push(this.#ask('PUT', path, replacement.key, afterMs, replacement.body));
    }
  }

  /** Resolves when every wish was answered, or given up. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** A wish whose answer was lost, or that is still under way, is sent again under its key. */
  async #ask(method: string, path: string, key: string, afterMs: number, body?: object): Promise<void> {
    await sleep(afterMs);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { url, apiKey } = await this.#fleet.pick();
      try {
        const response = await fetch(`${url}${path}`, {
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
        if (response.status < 500 && !NOT_YET.has(response.status)) return;
      } catch {
        // It may have been heard: the key makes the next one the same wish.
      }
      await sleep(250);
    }
  }
}
