import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from './fleet.ts';
import type { Intention } from './plan.ts';

/** What a client of the service knows of its requests at the end. */
export interface Asked {
  /** By index: the ids that were answered with 2xx. */
  readonly accepted: Map<number, Set<string>>;
  /** Those of which nothing was heard: they may or may not be accepted. */
  readonly unknown: Set<number>;
  /** Those that were refused, with the answer. */
  readonly refused: Map<number, string>;
}

const PATIENCE_MS = 15_000;
const TRIES = 60;
const AGAIN_MS = 250;

/**
 * A client that sends each request under its own `Idempotency-Key`. One whose answer was lost is sent again under the
 * same key, unless the service is known not to look at keys.
 */
export class Client {
  readonly asked: Asked = { accepted: new Map(), unknown: new Set(), refused: new Map() };
  readonly #fleet: Pick<Fleet, 'pick'>;
  readonly #onAccepted: (intention: Intention, id: string) => void;
  readonly #validUntil = new Map<number, string>();
  #repeats = true;

  /** @param onAccepted called with each answer of 2xx */
  constructor(fleet: Pick<Fleet, 'pick'>, onAccepted: (intention: Intention, id: string) => void = () => {}) {
    this.#fleet = fleet;
    this.#onAccepted = onAccepted;
  }

  /** Whether requests are repeated whose answer was lost. */
  get repeats(): boolean {
    return this.#repeats;
  }

  /** Sends one request twice and sees whether that is one transaction; where it is two, nothing is repeated any more. */
  async probe(intention: Intention): Promise<void> {
    for (let time = 0; time < 2; time += 1) await this.#send(intention);
    this.#repeats = (this.asked.accepted.get(intention.index)?.size ?? 0) === 1;
  }

  /** Sends all of them, so many at the same time. */
  async sendAll(intentions: readonly Intention[], width: number): Promise<void> {
    const waiting = intentions.values();
    const sender = async () => {
      for (const intention of waiting) await this.#send(intention);
    };
    await Promise.all(Array.from({ length: width }, sender));
  }

  async #send(intention: Intention): Promise<void> {
    let last = '';
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answer = await this.#post(intention);
      if (answer.kind === 'accepted') {
        const ids = this.asked.accepted.get(intention.index) ?? new Set();
        this.asked.accepted.set(intention.index, ids.add(answer.id));
        this.#onAccepted(intention, answer.id);
        return;
      }
      last = answer.reason;
      if (answer.kind === 'refused') {
        this.asked.refused.set(intention.index, last);
        return;
      }
      if (answer.kind === 'lost' && !this.#repeats) break;
      await sleep(AGAIN_MS);
    }
    this.asked.unknown.add(intention.index);
  }

  async #post({ index, relayerId, body, key, worthMs }: Intention): Promise<Answer> {
    const { url, apiKey } = await this.#fleet.pick();
    const validUntil = this.#validUntil.get(index) ?? new Date(Date.now() + (worthMs ?? 0)).toISOString();
    this.#validUntil.set(index, validUntil);
    try {
      const response = await fetch(`${url}/api/v1/relayers/${relayerId}/transactions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(worthMs === null ? body : { ...body, valid_until: validUntil }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return judge(response.status, await response.text());
    } catch (error) {
      // Nobody listens there any more: it has gone to nobody.
      const { cause } = error as { cause?: { code?: string } };
      return { kind: cause?.code === 'ECONNREFUSED' ? 'unsent' : 'lost', reason: String(error) };
    }
  }
}

type Answer =
  | { kind: 'accepted'; id: string }
  /** For good. */
  | { kind: 'refused'; reason: string }
  /** It was not done. */
  | { kind: 'unsent'; reason: string }
  /** It may have been done. */
  | { kind: 'lost'; reason: string };

function judge(status: number, text: string): Answer {
  const reason = `${status} ${text.slice(0, 300)}`;
  if (status === 200) {
    const { data } = JSON.parse(text) as { data: { id: string } };
    return { kind: 'accepted', id: data.id };
  }
  // 409 is the answer while the first request under the key is still under way.
  if (status === 409 || status === 429) return { kind: 'unsent', reason };
  return status >= 500 ? { kind: 'lost', reason } : { kind: 'refused', reason };
}
