import { setTimeout as sleep } from 'node:timers/promises';
import type { AnsweredIntent } from '../../test/support/model/judge.ts';
import type { RunningService } from '../../test/support/service.ts';
import type { Shown, SoakNetwork } from './chain.ts';
import type { ClientIntent } from './client-intents.ts';
import type { Fleet } from './fleet.ts';
import { listAll } from './settling.ts';

const EVERY_MS = 3_000;
const FINAL = ['confirmed', 'failed', 'canceled', 'expired'];

/** What the API showed in the course of a run: what has ended is gone from it after a while. */
export class Chronicle {
  /** The last of each. */
  readonly shown = new Map<string, Shown>();
  /** When it was first seen to have ended, in milliseconds since the epoch. */
  readonly endedBy = new Map<string, number>();
  /** Ends that became something else. */
  readonly undone: string[] = [];
  readonly #fleet: Pick<Fleet, 'pick'>;
  readonly #network: SoakNetwork;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(fleet: Pick<Fleet, 'pick'>, network: SoakNetwork) {
    this.#fleet = fleet;
    this.#network = network;
  }

  /** Looks again and again, whoever answers. */
  start(): void {
    this.#running = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Looks once; rejects when nobody answers. What is seen until then is kept: in its trouble a service lists little. */
  async look(): Promise<void> {
    for (const relayerId of this.#network.relayerIds) {
      const { readShown } = this.#network;
      const listed = await listAll(await this.#fleet.pick(), { relayerIds: [relayerId], readShown });
      const now = Date.now();
      for (const one of listed) this.#note(one, now);
    }
  }

  #note(one: Shown, now: number): void {
    const before = this.shown.get(one.id);
    if (before !== undefined && FINAL.includes(before.status)) {
      if (before.status !== one.status) this.undone.push(`${one.id} was ${before.status}, and is ${one.status} later`);
      return;
    }
    this.shown.set(one.id, one);
    if (FINAL.includes(one.status)) this.endedBy.set(one.id, now);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.look().catch(() => undefined);
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

interface Timeline {
  events: { at: string; event: string; decision?: string }[];
}

/** What came of the intents by the service's own account of each transaction, and what the client was told. */
export async function outcomesOf(
  service: RunningService,
  intents: ReadonlyMap<string, ClientIntent>,
): Promise<Map<string, AnsweredIntent[]>> {
  const outcomes = new Map<string, AnsweredIntent[]>();
  for (const [id, intent] of intents) {
    const { status, body } = await service.request(
      'GET',
      `/api/v1/relayers/${intent.relayerId}/transactions/${id}/timeline`,
    );
    const events = status === 200 ? (body.data as Timeline).events : [];
    const { kind, replacement } = intent;
    outcomes.set(id, [{ kind, ...(replacement && { effect: replacement.mark }), answer: answerTo(intent, events) }]);
  }
  return outcomes;
}

/** A refusal that the client heard binds, whatever the service says later. */
function answerTo({ kind, answer }: ClientIntent, events: Timeline['events']): AnsweredIntent['answer'] {
  const has = (event: string) => events.some((one) => one.event === event);
  if (answer === 'refused' || has(`${kind}_refused`)) return 'refused';
  if (!has(`${kind}_requested`)) return answer === 'unheard' ? 'unheard' : 'open';
  const done = kind === 'cancel' ? 'canceled' : 'replaced';
  if (events.some(({ decision }) => decision === done)) return 'done';
  // Of what was to have no effect already a cancel changes nothing.
  const isOver = kind === 'cancel' && events.some(({ decision }) => decision === 'expired' || decision === 'refused');
  return isOver ? 'done' : 'open';
}
