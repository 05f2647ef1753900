import { setTimeout as sleep } from 'node:timers/promises';
import type { AnsweredIntent } from '../../../support/model/judge.ts';
import type { RunningService } from '../../../support/service.ts';
import type { Shown, SoakNetwork } from './chain.ts';
import type { ClientIntent } from './client-intents.ts';
import type { Cluster } from './cluster.ts';
import { listAll } from './settling.ts';

const EVERY_MS = 3_000;
const FINAL = ['confirmed', 'failed', 'canceled', 'expired'];

/** Records what the API shows during a run, because the service deletes ended transactions after a while. */
export class History {
  /** The last state of each transaction, by id. */
  readonly shown = new Map<string, Shown>();
  /** When each was first seen in a final state, by id, in milliseconds since the epoch. */
  readonly endedBy = new Map<string, number>();
  /** One sentence for each final state that changed later. */
  readonly undone: string[] = [];
  readonly #cluster: Pick<Cluster, 'pick'>;
  readonly #network: SoakNetwork;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(cluster: Pick<Cluster, 'pick'>, network: SoakNetwork) {
    this.#cluster = cluster;
    this.#network = network;
  }

  /** Starts to look at regular intervals, at any running instance. */
  start(): void {
    this.#running = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Looks once. Records each listed relayer, even if a later one fails. @throws if the service does not answer */
  async look(): Promise<void> {
    for (const relayerId of this.#network.relayerIds) {
      const { readShown } = this.#network;
      const listed = await listAll(await this.#cluster.pick(), { relayerIds: [relayerId], readShown });
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

/** The outcomes of intents, by the timeline of each transaction and the answers that the client got. */
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

/** A refusal that the client received is final, whatever the timeline shows. */
function answerTo({ kind, answer }: ClientIntent, events: Timeline['events']): AnsweredIntent['answer'] {
  const has = (event: string) => events.some((one) => one.event === event);
  if (answer === 'refused' || has(`${kind}_refused`)) return 'refused';
  if (!has(`${kind}_requested`)) return answer === 'unheard' ? 'unheard' : 'open';
  const done = kind === 'cancel' ? ['canceling', 'canceled'] : ['replaced'];
  if (events.some(({ decision }) => decision !== undefined && done.includes(decision))) return 'done';
  // A cancel has nothing to do if the transaction was to end without an effect anyway.
  const isOver = kind === 'cancel' && events.some(({ decision }) => decision === 'expired' || decision === 'refused');
  return isOver ? 'done' : 'open';
}
