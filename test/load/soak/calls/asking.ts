import type { RunningService } from '../../../support/service.ts';
import { type CallAnswer, type CallKind, kindOf } from './call-kinds.ts';

/** Longer than any call may take, including its wait for a process. */
const PATIENCE_MS = 60_000;
/** With shares of 100 in total this makes 50,000 calls, half as many as a default run. */
const WARM_CALLS_PER_SHARE = 500;

/** Makes calls of the mix, counts them by plugin, and collects wrong answers. */
export class Asking {
  readonly asked: Map<string, number>;
  readonly answered: Map<string, number>;
  /** One sentence for each wrong or missing answer. */
  readonly faults: string[] = [];
  readonly #service: RunningService;
  readonly #kinds: readonly CallKind[];

  constructor(service: RunningService, kinds: readonly CallKind[]) {
    this.#service = service;
    this.#kinds = kinds;
    this.asked = new Map(kinds.map(({ id }) => [id, 0]));
    this.answered = new Map(this.asked);
  }

  /** Makes the calls with numbers from `first` up to, not including, `end`. @param over called after each call */
  async mix(first: number, end: number, concurrency: number, over: () => void): Promise<void> {
    let next = first;
    const caller = async () => {
      for (let n = next++; n < end; n = next++) {
        await this.ask(kindOf(this.#kinds, n), n);
        over();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, caller));
  }

  /** Makes one call of each kind, one after the other. */
  async round(n: number): Promise<void> {
    for (const kind of this.#kinds) await this.ask(kind, n);
  }

  /** Makes one call and checks its answer. */
  async ask({ id, isRight }: CallKind, n: number): Promise<void> {
    this.#count(this.asked, id);
    try {
      const answer = await call(this.#service, id, n);
      this.#count(this.answered, id);
      if (!isRight(answer, n)) this.faults.push(`call ${n} of ${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      this.faults.push(`call ${n} of ${id} has no answer: ${String(error)}`);
    }
  }

  #count(counts: Map<string, number>, id: string): void {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
}

/**
 * Starts every plugin's process and makes enough calls that V8 has compiled its code and grown its heap. Each kind runs
 * alone at full concurrency, because a process may keep the memory that its highest concurrency needed.
 */
export async function warmUp(
  service: RunningService,
  kinds: readonly CallKind[],
  concurrency: number,
  callsPerShare = WARM_CALLS_PER_SHARE,
): Promise<void> {
  for (const { id, share } of kinds) {
    // On a busy machine a process may take longer to start than a call waits for it.
    const end = performance.now() + PATIENCE_MS;
    while ((await call(service, id, 0)).status === 503) {
      if (performance.now() > end) throw new Error(`${id} does not start`);
    }
    let left = Math.max(concurrency, share * callsPerShare);
    const caller = async () => {
      while (left > 0) await call(service, id, left--);
    };
    await Promise.all(Array.from({ length: concurrency }, caller));
  }
}

async function call({ url, apiKey }: RunningService, id: string, n: number): Promise<CallAnswer> {
  const response = await fetch(`${url}/plugins/${id}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ n }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: response.status, body: (await response.json()) as CallAnswer['body'] };
}
