import type { RunningService } from '../../test/support/service.ts';
import { type CallAnswer, type CallKind, kindOf } from './call-kinds.ts';

/** Longer than any call may take, its waits for a place included. */
const PATIENCE_MS = 60_000;
/** Half as many calls as a usual run has. */
const WARM_CALLS_PER_SHARE = 500;

/** Makes calls of the mix, counts them by plugin, and remembers what was wrong with an answer. */
export class Asking {
  readonly asked: Map<string, number>;
  readonly answered: Map<string, number>;
  /** One sentence for each answer that was wrong or did not come. */
  readonly faults: string[] = [];
  readonly #service: RunningService;
  readonly #kinds: readonly CallKind[];

  constructor(service: RunningService, kinds: readonly CallKind[]) {
    this.#service = service;
    this.#kinds = kinds;
    this.asked = new Map(kinds.map(({ id }) => [id, 0]));
    this.answered = new Map(this.asked);
  }

  /** Makes the calls of the mix with the numbers from `first` up to `end`, so many at a time; says when one is over. */
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

  /** Makes one call and holds its answer against what it must be. */
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
 * Starts every plugin's process and lets V8 compile and grow what tens of thousands of calls make it: each kind by
 * itself, with as many at once as ever will be, since a process may keep what it once needed for that.
 */
export async function warmUp(
  service: RunningService,
  kinds: readonly CallKind[],
  concurrency: number,
  callsPerShare = WARM_CALLS_PER_SHARE,
): Promise<void> {
  for (const { id, share } of kinds) {
    // All processes at once on a busy machine may take longer to start than calls wait for one.
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
