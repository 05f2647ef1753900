import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { Intention } from './intention.ts';
import { type Job, PAYER } from './jobs.ts';

/** What the client knows about its requests at the end. */
export interface Asked {
  /** By index: the ids of the transactions in answers with status 200. */
  readonly accepted: Map<number, Set<string>>;
  /** Indices of requests without a usable answer. The service may or may not have accepted them. */
  readonly unknown: Set<number>;
  /** By index: the answer to a refused request. */
  readonly refused: Map<number, string>;
  /** By index: the request's `valid_until`, in milliseconds since the epoch; absent if it has none. */
  readonly validUntil: Map<number, number>;
}

const PATIENCE_MS = 15_000;
const TRIES = 60;
const AGAIN_MS = 250;

/**
 * A client that sends each job with its own `Idempotency-Key`, and repeats it if the answer was lost. It sends an
 * job without a key only once, unless its content alone makes repetitions the same request.
 */
export class Client {
  readonly asked: Asked = { accepted: new Map(), unknown: new Set(), refused: new Map(), validUntil: new Map() };
  readonly #cluster: Pick<Cluster, 'pick'>;
  readonly #onAccepted: (intention: Intention, id: string) => void;
  /** Bodies by index, without `valid_until`. */
  readonly #bodies = new Map<number, Promise<object>>();

  /** @param onAccepted called for each transaction in an answer with status 200 */
  constructor(cluster: Pick<Cluster, 'pick'>, onAccepted: (intention: Intention, id: string) => void = () => {}) {
    this.#cluster = cluster;
    this.#onAccepted = onAccepted;
  }

  /** Sends all jobs, `width` of them at a time. */
  async sendAll(jobs: readonly Job[], width: number): Promise<void> {
    const waiting = jobs.values();
    const sender = async () => {
      for (const job of waiting) await this.#send(job);
    };
    await Promise.all(Array.from({ length: width }, sender));
  }

  /**
   * Sends accepted jobs once more after all have ended. The answers must be the same as before.
   * @returns one sentence for each different answer
   */
  async repeatAll(jobs: readonly Job[]): Promise<string[]> {
    const wrong: string[] = [];
    for (const job of jobs) {
      const known = job.intentions.map(({ index }) => [...(this.asked.accepted.get(index) ?? [])].join());
      const answer = await this.#postUntilHeard(job);
      const told = answer.kind === 'accepted' ? answer.ids.join() : answer.reason;
      if (told !== known.join()) wrong.push(`${job.key} was answered with ${known.join()}, and later with ${told}`);
    }
    return wrong;
  }

  async #send(job: Job): Promise<void> {
    await Promise.all(Array.from({ length: job.posts }, () => this.#sendOnce(job)));
  }

  async #sendOnce(job: Job): Promise<void> {
    const isOne = job.key !== null || job.intentions.every(({ isOneByContent }) => isOneByContent);
    const answer = isOne ? await this.#postUntilHeard(job) : await this.#post(job);
    for (const [position, intention] of job.intentions.entries()) {
      const { index } = intention;
      // A plugin call that fails may have sent its first payments.
      const isPart = answer.kind === 'refused' && job.intentions.length > 1;
      if (answer.kind === 'unheard' || isPart) this.asked.unknown.add(index);
      if (answer.kind === 'refused') this.asked.refused.set(index, answer.reason);
      const id = answer.kind === 'accepted' ? answer.ids[position] : undefined;
      if (id === undefined) continue;
      this.asked.accepted.set(index, (this.asked.accepted.get(index) ?? new Set()).add(id));
      this.#onAccepted(intention, id);
    }
  }

  async #postUntilHeard(job: Job): Promise<Answer> {
    let answer = await this.#post(job);
    for (let tries = 1; tries < TRIES && answer.kind === 'unheard'; tries += 1) {
      await sleep(AGAIN_MS);
      answer = await this.#post(job);
    }
    return answer;
  }

  async #post(job: Job): Promise<Answer> {
    const { url, apiKey } = await this.#cluster.pick();
    const bodies = await Promise.all(job.intentions.map((intention) => this.#bodyOf(intention)));
    const [path, body] =
      job.way === 'plugin'
        ? [`plugins/${PAYER}/call`, { params: { payments: bodies } }]
        : [`relayers/${job.intentions[0]?.relayerId}/transactions`, bodies[0]?.body];
    try {
      const response = await fetch(`${url}/api/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(job.key === null ? {} : { 'idempotency-key': job.key }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return judge(response.status, await response.text());
    } catch (error) {
      return { kind: 'unheard', reason: String(error) };
    }
  }

  /** The same body for each try, because a different one would be a different request. */
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
  /** Final: a repetition would be refused as well. */
  | { kind: 'refused'; reason: string }
  /** The service may or may not have accepted it. */
  | { kind: 'unheard'; reason: string };

function judge(status: number, text: string): Answer {
  // Only the first part of the message, because the rest has times and addresses.
  const reason = `${status} ${/"error":"([^":]+)/.exec(text)?.[1] ?? text.slice(0, 100)}`;
  if (status === 200) {
    const { data } = JSON.parse(text) as { data: { id: string } | string[] };
    return { kind: 'accepted', ids: Array.isArray(data) ? data : [data.id] };
  }
  // 409 is the answer while the first request with the key is still in progress.
  const isFinal = status < 500 && status !== 409 && status !== 429;
  return { kind: isFinal ? 'refused' : 'unheard', reason };
}
