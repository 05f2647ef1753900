import type { BroadcastOutcome } from '../../src/chains/chain-client.ts';
import { AppError } from '../../src/domain/errors.ts';

/** How the fake network treats one call: a `lie` is an answer that is not true. */
export type Fault = 'request-lost' | 'answer-lost' | 'lie' | undefined;

/** Asked before each call; told the bytes that are offered. */
export type FaultSource = (call: string, raw?: string) => Fault;

/** A client's way to a fake chain: calls take a while, get lost, lose their answers, or are met with a lie. */
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

  /** Offers bytes. What is lost has an unknown outcome. */
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

/** How often the same bytes are refused in a lie, at most. */
const FALSE_REFUSALS = 2;

/** What an endpoint says that lies about bytes which a node would have taken: each of the given outcomes in turn. */
export class LyingEndpoint {
  readonly #outcomes: readonly Exclude<BroadcastOutcome['kind'], 'accepted'>[];
  /** How often each of the bytes was refused in a lie. */
  readonly #refusals = new Map<string, number>();
  #lies = 0;

  constructor(outcomes: readonly Exclude<BroadcastOutcome['kind'], 'accepted'>[]) {
    this.#outcomes = outcomes;
  }

  outcomeOf(raw: string): BroadcastOutcome {
    const kind = this.#outcomes[this.#lies++ % this.#outcomes.length] ?? 'busy';
    return { kind: kind === 'refused' && !this.#mayRefuse(raw) ? 'busy' : kind, reason: 'a lie' };
  }

  /** All endpoints do not lie for long, so the same bytes are not refused again and again without a cause. */
  #mayRefuse(raw: string): boolean {
    const times = this.#refusals.get(raw) ?? 0;
    this.#refusals.set(raw, times + 1);
    return times < FALSE_REFUSALS;
  }
}
