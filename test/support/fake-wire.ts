import type { BroadcastOutcome } from '../../src/chains/chain-client.ts';
import { AppError } from '../../src/domain/errors.ts';

/** What the fake network does to a call. A `lie` is a false answer. */
export type Fault = 'request-lost' | 'answer-lost' | 'lie' | undefined;

/** Called before each call, with the bytes that are offered. */
export type FaultSource = (call: string, raw?: string) => Fault;

/** The connection of a client to a fake chain. Calls take a while, get lost, lose their answers or get false ones. */
export class FakeWire {
  readonly #faultOf: FaultSource;
  /** How many calls have reached the chain or got lost. */
  calls = 0;

  constructor(faultOf: FaultSource) {
    this.#faultOf = faultOf;
  }

  /** @throws AppError `PROVIDER_FAILED` when the request or its answer is lost */
  async ask<T>(call: string, answer: () => T, lie: () => T = answer, raw?: string): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve));
    const fault = this.#faultOf(call, raw);
    if (fault === 'request-lost') {
      this.calls += 1;
      throw failed(call);
    }
    const result = fault === 'lie' ? lie() : answer();
    this.calls += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (fault === 'answer-lost') throw failed(call);
    return result;
  }

  /** Offers bytes. If they are lost, the outcome is unknown. */
  async offer(raw: string, submit: () => BroadcastOutcome, lie: () => BroadcastOutcome): Promise<BroadcastOutcome> {
    try {
      return await this.ask('broadcast', submit, lie, raw);
    } catch (error) {
      return { kind: 'unknown', reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

function failed(call: string): AppError {
  return new AppError('PROVIDER_FAILED', { network: 'fake', reason: `${call} timed out` });
}

/** The most false refusals of the same bytes. */
const FALSE_REFUSALS = 2;

/** Makes false outcomes for bytes that a node would have taken: each of the given outcomes in turn. */
export class LyingEndpoint {
  readonly #outcomes: readonly Exclude<BroadcastOutcome['kind'], 'accepted'>[];
  /** How often each of the bytes was falsely refused. */
  readonly #refusals = new Map<string, number>();
  #lies = 0;

  constructor(outcomes: readonly Exclude<BroadcastOutcome['kind'], 'accepted'>[]) {
    this.#outcomes = outcomes;
  }

  outcomeOf(raw: string): BroadcastOutcome {
    const kind = this.#outcomes[this.#lies++ % this.#outcomes.length] ?? 'busy';
    return { kind: kind === 'refused' && !this.#mayRefuse(raw) ? 'busy' : kind, reason: 'a lie' };
  }

  /** Limits false refusals of the same bytes, because not all endpoints lie for long. */
  #mayRefuse(raw: string): boolean {
    const times = this.#refusals.get(raw) ?? 0;
    this.#refusals.set(raw, times + 1);
    return times < FALSE_REFUSALS;
  }
}
