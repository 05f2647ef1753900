import type { Clock } from '../domain/clock.ts';
import { AppError } from '../domain/errors.ts';
import type { Claim, KeptAnswer, KeyedRequest } from '../domain/idempotency.ts';
import { inTime } from '../domain/in-time.ts';
import type { Log } from '../observability/log.ts';
import type { Store } from '../store/store.ts';

/** The pace of keyed requests. Times are in milliseconds. */
export interface IdempotencyTiming {
  /** How long a claim lasts without renewal: how long a killed instance's request cannot be run again by another. */
  claimMs: number;
  /** From one renewal to the next. */
  renewMs: number;
  /** How long a repeat waits for the answer of the run that is under way. */
  waitMs: number;
  /** How often it asks, for a run on another instance. */
  askMs: number;
}

const TIMING: IdempotencyTiming = { claimMs: 10_000, renewMs: 3_000, waitMs: 5_000, askMs: 200 };

/** When a repeat may come back that found its request still running. */
const RETRY_AFTER_SECONDS = 1;

/** Answers beyond this are too large to be kept for a day. */
export const LARGEST_KEPT_BODY = 262_144;

export interface IdempotencyKeysDeps {
  store: Store;
  clock: Pick<Clock, 'elapsed'>;
  log: Log;
  /** A new UUID v4. */
  newId(): string;
  timing?: IdempotencyTiming;
  /** Told once for each request with a key. */
  onBegun?(result: KeyedResult): void;
}

/** What a request with a key met: nothing; a run without an answer; its answer; another request; a run under way. */
export type KeyedResult = 'first' | 'again' | 'replayed' | 'mismatch' | 'in-progress';

/** What came of a keyed request: it is to run now, or was answered before. */
export type Begun = { kind: 'run'; run: KeyedRun } | { kind: 'answered'; answer: KeptAnswer & { body: string } };

/** One run of a keyed request. */
export interface KeyedRun {
  readonly claim: Claim;
  readonly request: KeyedRequest;
}

/** How a run ends: `always` keeps the answer for repeats, `after-effects` only if there was one, `never` lets them run. */
export type Keeping = 'always' | 'after-effects' | 'never';

/**
 * The first use of a key runs the request, and its repeats get the answer of that run. A run that did not come to an
 * answer, or only to one that asks for another try, is followed by a further one under the same claim: effects are named
 * after the claim, so what happened in an earlier run does not happen again.
 */
export class IdempotencyKeys {
  readonly #deps: IdempotencyKeysDeps;
  readonly #timing: IdempotencyTiming;
  readonly #owner: string;
  readonly #isAlone: boolean;
  /** Those under way here, by the id of their claim. */
  readonly #runs = new Map<string, { run: KeyedRun; over: PromiseWithResolvers<void> }>();
  #renewing: NodeJS.Timeout | undefined;

  constructor(deps: IdempotencyKeysDeps) {
    this.#deps = deps;
    this.#timing = deps.timing ?? TIMING;
    this.#owner = deps.newId();
    this.#isAlone = deps.store.leases.lastsMs === Number.POSITIVE_INFINITY;
  }

  /**
   * Waits a while for a run that is under way.
   * @param isGone whether the client has left, which ends the wait
   * @throws AppError `IDEMPOTENCY_MISMATCH`, `IDEMPOTENCY_RUNNING`, `ANSWER_NOT_KEPT`, `UNAVAILABLE`
   */
  async begin(request: KeyedRequest, isGone: () => boolean): Promise<Begun> {
    const { store, clock, newId, onBegun = () => {} } = this.#deps;
    const { claimMs, waitMs } = this.#timing;
    const giveUpAt = clock.elapsed() + waitMs;
    for (;;) {
      const claimant = { id: newId(), owner: this.#owner, forMs: claimMs, isAlone: this.#isAlone };
      const state = await store.write((writer) => writer.claimKey(request, claimant));
      switch (state.kind) {
        case 'claimed':
          onBegun(state.claim.token === 1 ? 'first' : 'again');
          return { kind: 'run', run: this.#started({ claim: state.claim, request }) };
        case 'answered':
          onBegun('replayed');
          return { kind: 'answered', answer: kept(state.answer) };
        case 'other-request':
          onBegun('mismatch');
          throw new AppError('IDEMPOTENCY_MISMATCH', {});
        case 'running':
          if (isGone() || clock.elapsed() >= giveUpAt) {
            onBegun('in-progress');
            throw new AppError('IDEMPOTENCY_RUNNING', {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
          }
          await this.#pause(request);
          break;
        default:
          throw new Error(`Unknown state ${JSON.stringify(state satisfies never)}`);
      }
    }
  }

  /**
   * Ends a run. That the store cannot be reached is no reason to keep the answer from its client: the claim expires, and
   * a repeat runs again.
   */
  async end(run: KeyedRun, answer: KeptAnswer, keeping: Keeping): Promise<void> {
    const { status, body } = answer;
    const isKept = body !== null && Buffer.byteLength(body) <= LARGEST_KEPT_BODY;
    const kept = { status, body: isKept ? body : null };
    try {
      await this.#deps.store.write(async (writer) => {
        const onlyAfterEffects = keeping === 'after-effects';
        if (keeping !== 'never' && (await writer.keepAnswer(run.claim, kept, { onlyAfterEffects }))) return;
        await writer.leaveKey(run.claim);
      });
    } catch (error) {
      this.#deps.log.warn({ err: error, claim: run.claim.id }, 'the answer of a keyed request was not kept');
    } finally {
      this.#over(run);
    }
  }

  /** Renews nothing any more. Safe to call twice. */
  close(): void {
    this.#rest();
    for (const { over } of this.#runs.values()) over.resolve();
    this.#runs.clear();
  }

  #started(run: KeyedRun): KeyedRun {
    this.#runs.set(run.claim.id, { run, over: Promise.withResolvers<void>() });
    this.#renewing ??= setInterval(() => void this.#renew(), this.#timing.renewMs);
    return run;
  }

  #over({ claim }: KeyedRun): void {
    const entry = this.#runs.get(claim.id);
    // Another run may have taken the claim over, even here.
    if (entry?.run.claim.token !== claim.token) return;
    entry.over.resolve();
    this.#runs.delete(claim.id);
    if (this.#runs.size === 0) this.#rest();
  }

  #rest(): void {
    clearInterval(this.#renewing);
    this.#renewing = undefined;
  }

  async #renew(): Promise<void> {
    const claims = [...this.#runs.values()].map(({ run }) => run.claim);
    try {
      await this.#deps.store.write((writer) => writer.renewClaims(claims, this.#timing.claimMs));
    } catch (error) {
      this.#deps.log.warn({ err: error, claims: claims.length }, 'claims of keyed requests were not renewed');
    }
  }

  /** Until the request's run here is over, or it is time to ask. */
  async #pause({ scope, key }: KeyedRequest): Promise<void> {
    const here = [...this.#runs.values()].find(({ run }) => run.request.scope === scope && run.request.key === key);
    await inTime(this.#timing.askMs, here?.over.promise ?? new Promise<never>(() => {}));
  }
}

function kept({ status, body }: KeptAnswer): KeptAnswer & { body: string } {
  if (body === null) throw new AppError('ANSWER_NOT_KEPT', { status: String(status) });
  return { status, body };
}
