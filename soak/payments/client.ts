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

/** A client that sends each request under its own `Idempotency-Key`, and again under it when its answer was lost. */
export class Client {
  readonly asked: Asked = { accepted: new Map(), unknown: new Set(), refused: new Map() };
  readonly #fleet: Pick<Fleet, 'pick'>;
  readonly #onAccepted: (intention: Intention, id: string) => void;
  readonly #validUntil = new Map<number, string>();

  /** @param onAccepted called with each answer of 2xx */
  constructor(fleet: Pick<Fleet, 'pick'>, onAccepted: (intention: Intention, id: string) => void = () => {}) {
    this.#fleet = fleet;
    this.#onAccepted = onAccepted;
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
      return { kind: 'unheard', reason: String(error) };
    }
  }
}

type Answer =
  | { kind: 'accepted'; id: string }
  /** For good. */
  | { kind: 'refused'; reason: string }
  /** It may have been done or not. */
  | { kind: 'unheard'; reason: string };

function judge(status: number, text: string): Answer {
  const reason = `${status} ${text.slice(0, 300)}`;
  if (status === 200) {
    const { data } = JSON.parse(text) as { data: { id: string } };
    return { kind: 'accepted', id: data.id };
  }
  // 409 is the answer while the first request under the key is still under way.
  const isFinal = status < 500 && status !== 409 && status !== 429;
  return { kind: isFinal ? 'refused' : 'unheard', reason };
}
