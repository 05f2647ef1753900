import type { Clock } from '../domain/clock.ts';
import { AppError } from '../domain/errors.ts';
import type { IdempotencyClaim, KeyedRequest, StoredAnswer } from '../domain/idempotency.ts';
import { withTimeout } from '../domain/with-timeout.ts';
import type { Log } from '../observability/log.ts';
import type { Store } from '../store/store.ts';

/** The timing of keyed requests, in milliseconds. */
export interface IdempotencyTiming {
  /**
   * How long a claim lasts without renewal. After an instance is killed, other instances can run its request again only
   * after this time.
   */
  claimMs: number;
  /** The time between renewals. */
  renewMs: number;
  /** How long a repeat waits for the answer of the run that is under way. */
  waitMs: number;
  /** The time between two checks for a run on another instance. */
  askMs: number;
}

const TIMING: IdempotencyTiming = { claimMs: 10_000, renewMs: 3_000, waitMs: 5_000, askMs: 200 };

/** The `retry-after` of a repeat whose first request still runs. */
const RETRY_AFTER_SECONDS = 1;

/** The largest answer that is stored, in bytes. A stored answer stays for a day. */
export const MAX_KEPT_BODY = 262_144;

export interface IdempotencyKeysDeps {
  store: Store;
  clock: Pick<Clock, 'elapsed'>;
  log: Log;
  /** A new id (`domain/id.ts`). */
  newId(): string;
  timing?: IdempotencyTiming;
  /** Called once for each request with a key. */
  onBegun?(result: KeyedResult): void;
}

/**
 * What a request with a key found: nothing; a run without an answer; an answer; a different request; a run under way.
 */
export type KeyedResult = 'first' | 'again' | 'replayed' | 'mismatch' | 'in-progress';

/** The start of a keyed request: it runs now, or it was answered before. */
export type KeyedStart = { kind: 'run'; run: KeyedRun } | { kind: 'answered'; answer: StoredAnswer & { body: string } };

/** One run of a keyed request. */
export interface KeyedRun {
  readonly claim: IdempotencyClaim;
  readonly request: KeyedRequest;
}

/**
 * How a run ends. `always` stores the answer for repeats. `after-effects` stores it only if there was an effect.
 * `never` lets repeats run.
 */
export type AnswerKeeping = 'always' | 'after-effects' | 'never';

/**
 * Runs the first request with a key, and answers repeats with the stored answer. If a run ends without an answer that
 * can be stored, the next repeat runs again under the same claim. Effects are named after the claim, so an effect of an
 * earlier run does not happen again.
 */
export class IdempotencyKeys {
  readonly #deps: IdempotencyKeysDeps;
  readonly #timing: IdempotencyTiming;
  readonly #owner: string;
  readonly #isAlone: boolean;
  /** The runs under way on this instance, by the id of their claim. */
  readonly #runs = new Map<string, { run: KeyedRun; over: PromiseWithResolvers<void> }>();
  #renewing: NodeJS.Timeout | undefined;

  constructor(deps: IdempotencyKeysDeps) {
    this.#deps = deps;
    this.#timing = deps.timing ?? TIMING;
    this.#owner = deps.newId();
    this.#isAlone = deps.store.leases.lastsMs === Number.POSITIVE_INFINITY;
  }

  /**
   * Begins a request. Waits up to `waitMs` if another run of it is under way.
   * @param isGone whether the client has left, which ends the wait
   * @throws AppError `IDEMPOTENCY_MISMATCH`, `IDEMPOTENCY_RUNNING`, `ANSWER_NOT_KEPT`, `UNAVAILABLE`
   */
  async begin(request: KeyedRequest, isGone: () => boolean): Promise<KeyedStart> {
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
   * Ends a run. If the store cannot be reached, the client still gets its answer. The claim then expires, and a repeat
   * runs again.
   */
  async end(run: KeyedRun, answer: StoredAnswer, keeping: AnswerKeeping): Promise<void> {
    const { status, body } = answer;
    const isKept = body !== null && Buffer.byteLength(body) <= MAX_KEPT_BODY;
    const kept = { status, body: isKept ? body : null };
    try {
      await this.#deps.store.write(async (writer) => {
        const onlyAfterEffects = keeping === 'after-effects';
        if (keeping !== 'never' && (await writer.keepAnswer(run.claim, kept, { onlyAfterEffects }))) return;
        await writer.leaveKey(run.claim);
      });
    } catch (error) {
      this.#deps.log.warn(
        { err: error, claim: run.claim.id },
        'the answer to a request with an Idempotency-Key could not be stored',
      );
    } finally {
      this.#over(run);
    }
  }

  /** Stops renewing claims. Safe to call twice. */
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
    // Another run may have taken over the claim, also on this instance.
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
      this.#deps.log.warn(
        { err: error, claims: claims.length },
        'claims of requests with an Idempotency-Key could not be renewed',
      );
    }
  }

  /** Waits until the request's run on this instance ends, or until the next check is due. */
  async #pause({ scope, key }: KeyedRequest): Promise<void> {
    const here = [...this.#runs.values()].find(({ run }) => run.request.scope === scope && run.request.key === key);
    await withTimeout(this.#timing.askMs, here?.over.promise ?? new Promise<never>(() => {}));
  }
}

function kept({ status, body }: StoredAnswer): StoredAnswer & { body: string } {
  if (body === null) throw new AppError('ANSWER_NOT_KEPT', { status: String(status) });
  return { status, body };
}
