import { setTimeout as sleep } from 'node:timers/promises';
import { type Errand, PAYER } from './errands.ts';
import type { Fleet } from './fleet.ts';
import type { Intention } from './intention.ts';

/** What a client of the service knows of its requests at the end. */
export interface Asked {
  /** By index: the ids that were answered with 2xx. */
  readonly accepted: Map<number, Set<string>>;
  /** Those of which nothing was heard: they may or may not be accepted. */
  readonly unknown: Set<number>;
  /** Those that were refused, with the answer. */
  readonly refused: Map<number, string>;
  /** By index: until when it is worth sending, in milliseconds since the epoch; absent where it always is. */
  readonly validUntil: Map<number, number>;
}

const PATIENCE_MS = 15_000;
const TRIES = 60;
const AGAIN_MS = 250;

/**
 * A client that sends each errand under its own `Idempotency-Key`, and again under it when its answer was lost. One
 * without a key it sends once, whatever it hears, unless its content makes it one.
 */
export class Client {
  readonly asked: Asked = { accepted: new Map(), unknown: new Set(), refused: new Map(), validUntil: new Map() };
  readonly #fleet: Pick<Fleet, 'pick'>;
  readonly #onAccepted: (intention: Intention, id: string) => void;
  /** By index, without `valid_until`. */
  readonly #bodies = new Map<number, Promise<object>>();

  /** @param onAccepted called with each answer of 2xx */
  constructor(fleet: Pick<Fleet, 'pick'>, onAccepted: (intention: Intention, id: string) => void = () => {}) {
    this.#fleet = fleet;
    this.#onAccepted = onAccepted;
  }

  /** Sends all of them, so many at the same time. */
  async sendAll(errands: readonly Errand[], width: number): Promise<void> {
    const waiting = errands.values();
    const sender = async () => {
      for (const errand of waiting) await this.#send(errand);
    };
    await Promise.all(Array.from({ length: width }, sender));
  }

  /**
   * Sends errands that were accepted once more, after all have ended. The answers must be the ones that there were.
   * @returns one sentence for each that was another
   */
  async repeatAll(errands: readonly Errand[]): Promise<string[]> {
    const wrong: string[] = [];
    for (const errand of errands) {
      const known = errand.intentions.map(({ index }) => [...(this.asked.accepted.get(index) ?? [])].join());
      const answer = await this.#postUntilHeard(errand);
      const told = answer.kind === 'accepted' ? answer.ids.join() : answer.reason;
      if (told !== known.join()) wrong.push(`${errand.key} was answered with ${known.join()}, and later with ${told}`);
    }
    return wrong;
  }

  async #send(errand: Errand): Promise<void> {
    await Promise.all(Array.from({ length: errand.posts }, () => this.#sendOnce(errand)));
  }

  async #sendOnce(errand: Errand): Promise<void> {
    const isOne = errand.key !== null || errand.intentions.every(({ isOneByContent }) => isOneByContent);
    const answer = isOne ? await this.#postUntilHeard(errand) : await this.#post(errand);
    for (const [position, intention] of errand.intentions.entries()) {
      const { index } = intention;
      // A plugin that ends with a refusal may have sent what it asked for before.
      const isPart = answer.kind === 'refused' && errand.intentions.length > 1;
      if (answer.kind === 'unheard' || isPart) this.asked.unknown.add(index);
      if (answer.kind === 'refused') this.asked.refused.set(index, answer.reason);
      const id = answer.kind === 'accepted' ? answer.ids[position] : undefined;
      if (id === undefined) continue;
      this.asked.accepted.set(index, (this.asked.accepted.get(index) ?? new Set()).add(id));
      this.#onAccepted(intention, id);
    }
  }

  async #postUntilHeard(errand: Errand): Promise<Answer> {
    let answer = await this.#post(errand);
    for (let tries = 1; tries < TRIES && answer.kind === 'unheard'; tries += 1) {
      await sleep(AGAIN_MS);
      answer = await this.#post(errand);
    }
    return answer;
  }

  async #post(errand: Errand): Promise<Answer> {
    const { url, apiKey } = await this.#fleet.pick();
    const bodies = await Promise.all(errand.intentions.map((intention) => this.#bodyOf(intention)));
    const [path, body] =
      errand.way === 'plugin'
        ? [`plugins/${PAYER}/call`, { params: { payments: bodies } }]
        : [`relayers/${errand.intentions[0]?.relayerId}/transactions`, bodies[0]?.body];
    try {
      const response = await fetch(`${url}/api/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(errand.key === null ? {} : { 'idempotency-key': errand.key }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return judge(response.status, await response.text());
    } catch (error) {
      return { kind: 'unheard', reason: String(error) };
    }
  }

  /** The same for each try: another would be another request. */
  async #bodyOf(intention: Intention): Promise<{ relayerId: string; body: object }> {
    const { index, relayerId, worthMs } = intention;
    const made = this.#bodies.get(index) ?? intention.body();
    this.#bodies.set(index, made);
    const body = await made;
    if (worthMs === null) return { relayerId, body };
    const validUntil = this.asked.validUntil.get(index) ?? Date.now() + Math.round(worthMs);
    this.asked.validUntil.set(index, validUntil);
    return { relayerId, body: { ...body, valid_until: new Date(validUntil).toISOString() } };
  }
}

type Answer =
  | { kind: 'accepted'; ids: string[] }
  /** For good. */
  | { kind: 'refused'; reason: string }
  /** It may have been done or not. */
  | { kind: 'unheard'; reason: string };

function judge(status: number, text: string): Answer {
  // The head of what it says: the rest names moments and addresses.
  const reason = `${status} ${/"error":"([^":]+)/.exec(text)?.[1] ?? text.slice(0, 100)}`;
  if (status === 200) {
    const { data } = JSON.parse(text) as { data: { id: string } | string[] };
    return { kind: 'accepted', ids: Array.isArray(data) ? data : [data.id] };
  }
  // 409 is the answer while the first request under the key is still under way.
  const isFinal = status < 500 && status !== 409 && status !== 429;
  return { kind: isFinal ? 'refused' : 'unheard', reason };
}
