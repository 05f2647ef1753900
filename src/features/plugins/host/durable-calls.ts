import type { PluginVersion } from '../../../../sandbox/contract.ts';
import type { Clock } from '../../../domain/clock.ts';
import { EndablePause } from '../../../domain/endable-pause.ts';
import { AppError } from '../../../domain/errors.ts';
import { type JournalEntry, journalOf } from '../../../domain/idempotency.ts';
import { wireTime } from '../../../domain/wire-time.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import type { Log } from '../../../observability/log.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { Bundles } from '../../calls/bundles.ts';
import { CANCELED, type CallRuns, EXPIRED } from '../../calls/calls.ts';
import {
  type CallEnd,
  type CallEnding,
  type CallRecord,
  type CallWait,
  MAX_DEATHS,
  MAX_JOURNAL_BYTES,
  type NewCall,
} from '../../calls/record.ts';
import { endsPluginWait, isFinal } from '../../transactions/records/transaction-state.ts';
import { CallInbox } from './call-inbox.ts';
import { CallJournal } from './call-journal.ts';
import { type CallRunner, contextText } from './call-runner.ts';
import type { CatalogPlugin } from './catalog/known-plugin.ts';
import type { DurableEnd } from './durable-run.ts';
import type { DurableNeeds, PluginAnswer, PluginRequest } from './plugin-host.ts';

/** The pace of durable calls, in milliseconds. */
export interface DurableTiming {
  /** How long a run has its call without renewal: then another instance may take it over. */
  claimMs: number;
  renewMs: number;
  /** The longest and the shortest time between two searches for due calls. */
  sweepMs: number;
  sweepFloorMs: number;
  /** How often a call is looked at that waits for a transaction of which nothing is heard. */
  lookMs: number;
  /** How long a call of a plugin that cannot run waits. */
  restMs: number;
  /** The longest pause of a call whose process is lost again and again. */
  lostRestMs: number;
  /** After which time the calls of a plugin are canceled that no instance knows any more. */
  removedMs: number;
}

const TIMING: DurableTiming = {
  claimMs: 8_000,
  renewMs: 2_500,
  sweepMs: 1_000,
  sweepFloorMs: 20,
  lookMs: 60_000,
  restMs: 5_000,
  lostRestMs: 300_000,
  removedMs: 600_000,
};

/** Runs at once on this instance, over all plugins. The queues of plugins have limits of their own. */
const MAX_RUNS = 256;
/** Due calls that are looked at together, so that their claims share commits. */
const TOGETHER = 16;
/** Runs of one claim that the service ended. Then the call makes room for others for a while. */
const MAX_REPEATS = 3;

export interface DurableCallsDeps extends DurableNeeds {
  runner: Pick<CallRunner, 'runDurable'>;
  plugin: (id: string) => CatalogPlugin | undefined;
  bundles: Bundles;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  seed(): string;
  timing?: DurableTiming | undefined;
}

/** A run of a call on this instance. */
interface Running {
  call: CallRecord;
  abort: AbortController;
  inbox: CallInbox | undefined;
  over: Promise<void>;
}

/** What a caller of a durable call gets: the answer, or the call as it is when the caller's wait is over. */
export type DurableAnswer = { answer: PluginAnswer } | { call: CallRecord };

/**
 * Runs durable calls to their ends. The store has them: a call that is due is claimed and run, also one whose instance
 * died. While a call only waits, it has no run.
 */
export class DurableCalls implements CallRuns {
  readonly #deps: DurableCallsDeps;
  readonly #timing: DurableTiming;
  readonly #running = new Map<string, Running>();
  /** The plugins of calls that are being accepted or looked at, and may run here, by the calls' ids. */
  readonly #beginning = new Map<string, string>();
  readonly #answers = new Map<string, PromiseWithResolvers<PluginAnswer | undefined>>();
  /** How many runs of a call in a row were lost here and heard of nothing new, by the calls' ids. */
  readonly #lost = new Map<string, number>();
  /** Ends the watches of the transactions that calls wait for. */
  readonly #watches = new Map<string, () => void>();
  readonly #pause = new EndablePause();
  #sweeping: Promise<void> | undefined;
  #renewing: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(deps: DurableCallsDeps) {
    this.#deps = deps;
    this.#timing = deps.timing ?? TIMING;
  }

  start(): void {
    if (this.#closed) return;
    this.#renewing ??= setInterval(() => void this.#renew(), this.#timing.renewMs);
    this.#sweeping ??= this.#sweep();
  }

  wake(): void {
    this.#pause.end();
  }

  stopped(callId: string): void {
    this.#running.get(callId)?.abort.abort();
    this.#answers.get(callId)?.resolve(undefined);
    this.#answers.delete(callId);
    this.#lost.delete(callId);
    this.#unwatch(callId);
  }

  sent(callId: string): void {
    this.#running.get(callId)?.inbox?.wake();
    this.wake();
  }

  /** Begins no more runs, and lets callers wait no longer. */
  rest(): void {
    this.#closed = true;
    this.#pause.end();
    for (const { resolve } of this.#answers.values()) resolve(undefined);
  }

  /** Begins no more runs. Calls that run are ended with the sandbox; the next instance takes them up. */
  async close(): Promise<void> {
    this.rest();
    await this.#sweeping;
    await Promise.all([...this.#running.values()].map(({ over }) => over));
    clearInterval(this.#renewing);
    for (const end of this.#watches.values()) end();
    for (const { resolve } of this.#answers.values()) resolve(undefined);
  }

  /**
   * Accepts a call, and waits for its end for `waitMs`. A repeat under the same key gets the same call.
   * @throws AppError `IDEMPOTENCY_MISMATCH`
   */
  async call(plugin: CatalogPlugin, version: PluginVersion, request: PluginRequest, lifetimeMs: number) {
    const { store, bundles, newId } = this.#deps;
    await bundles.keep(version);
    const id = newId();
    const { key = id, fingerprint = '', keyId, method, route, params, headers, query, requestId } = request;
    const { authorization: _, ...shown } = headers;
    const asked = { method, route, params, headers: shown, query, requestId };
    const accepted: NewCall = {
      ...{ id, pluginId: plugin.entry.id, keyId, key, fingerprint, trigger: null, lifetimeMs },
      ...{ version: version.version, request: asked },
    };
    const mayBegin = this.#hasRoom(plugin.entry.id) && !this.#closed;
    const { claimMs } = this.#timing;
    if (mayBegin) this.#beginning.set(id, plugin.entry.id);
    const accepting = store.write(async (writer) => {
      if (!(await writer.insertCall(accepted))) return await writer.callOfKey(keyId, key);
      if (mayBegin) return await writer.claimCall(id, { forMs: claimMs, version: null });
      return await writer.call(id);
    });
    const call = await accepting.finally(() => this.#beginning.delete(id));
    if (call === undefined || call.fingerprint !== fingerprint) throw new AppError('IDEMPOTENCY_MISMATCH', {});
    if (call.id === id && mayBegin) this.#begin(call);
    else if (call.id === id) this.wake();
    return call;
  }

  /** Waits for the end of a call for so long. */
  async answerOf(callId: string, waitMs: number): Promise<DurableAnswer> {
    const { store, clock } = this.#deps;
    const until = clock.elapsed() + waitMs;
    for (;;) {
      const left = until - clock.elapsed();
      const answer = left <= 0 ? undefined : await withTimeout(Math.min(left, ASK_MS), this.#answerHere(callId));
      if (answer !== undefined) return { answer };
      const call = await store.read.call(callId);
      if (call === undefined) throw new AppError('CALL_NOT_FOUND', { id: callId });
      if (call.endedAt !== null || left <= 0 || this.#closed) return { call };
    }
  }

  #answerHere(callId: string): Promise<PluginAnswer | undefined> {
    if (!this.#running.has(callId)) return new Promise(() => {});
    const known = this.#answers.get(callId) ?? Promise.withResolvers<PluginAnswer | undefined>();
    this.#answers.set(callId, known);
    return known.promise;
  }

  async #sweep(): Promise<void> {
    const { store, log } = this.#deps;
    if (!Number.isFinite(store.leases.lastsMs)) {
      // No other instance shares the store, so whatever ran is lost.
      await store
        .write((writer) => writer.resumeCalls())
        .catch((err: unknown) => log.error({ err }, 'durable calls could not be resumed'));
    }
    while (!this.#closed) await this.#pause.last(await this.#beginDue());
  }

  /** @returns how long the next search may wait, in milliseconds */
  async #beginDue(): Promise<number> {
    const { store, log } = this.#deps;
    const { sweepMs, sweepFloorMs } = this.#timing;
    try {
      const now = await store.now();
      const full = new Set(this.#runningPlugins().filter((id) => !this.#hasRoom(id)));
      const due = await store.read.dueCalls(now, [...full]);
      for (let from = 0; from < due.length && !this.#closed; from += TOGETHER) {
        const looks = due.slice(from, from + TOGETHER).map(async (one) => {
          if (!this.#running.has(one.id) && this.#hasRoom(one.pluginId)) await this.#lookAt(one);
        });
        const failed = (await Promise.allSettled(looks)).find(({ status }) => status === 'rejected');
        if (failed !== undefined && 'reason' in failed) throw failed.reason;
      }
      const next = await store.read.nextCallAt(now);
      return Math.min(Math.max(next === null ? sweepMs : next - now, sweepFloorMs), sweepMs);
    } catch (error) {
      log.error({ err: error }, 'search for due calls failed');
      return sweepMs;
    }
  }

  async #lookAt(due: Pick<CallRecord, 'id' | 'pluginId'>): Promise<void> {
    const { store, log } = this.#deps;
    const { id, pluginId } = due;
    this.#beginning.set(id, pluginId);
    try {
      await this.#look(due);
    } catch (err) {
      // The others are not kept waiting by one that cannot be read.
      log.error({ err, call: id, pluginId }, 'a durable call cannot be looked at');
      await store.write((writer) => writer.postponeCall(id, this.#timing.restMs));
    } finally {
      this.#beginning.delete(id);
    }
  }

  #runningPlugins(): string[] {
    return [...this.#beginning.values(), ...[...this.#running.values()].map(({ call }) => call.pluginId)];
  }

  /**
   * A plugin may have as many runs as there are places left after them. So the calls of one plugin, however many are due
   * and however long they wait for its processes, leave room for those of others.
   */
  #hasRoom(pluginId: string): boolean {
    const all = this.#runningPlugins();
    return all.filter((id) => id === pluginId).length < MAX_RUNS - all.length;
  }

  /** Begins a run of a due call, or has it wait when it cannot run. */
  async #look({ id, pluginId }: Pick<CallRecord, 'id' | 'pluginId'>): Promise<void> {
    const { store, bundles } = this.#deps;
    const { restMs, lookMs, claimMs } = this.#timing;
    const call = await store.read.call(id);
    if (call === undefined) return;
    const now = await store.now();
    if (now >= call.expiresAt) {
      await this.#stop(call, 'expired', EXPIRED);
      return;
    }
    const hindrance = this.#hindrance(call);
    if (hindrance !== undefined) {
      const since = call.waitsFor.find((wait) => wait.kind === 'plugin' && wait.reason === hindrance)?.until ?? now;
      if (hindrance === 'removed' && now - since > this.#timing.removedMs) {
        await this.#stop(call, 'canceled', CANCELED);
        return;
      }
      const waits: CallWait[] = [{ kind: 'plugin', reason: hindrance, until: since }];
      await store.write((writer) => writer.postponeCall(id, restMs, waits));
      return;
    }
    if (call.state === 'waiting' && !(await this.#isReady(call, now))) {
      this.#watch(call);
      await store.write((writer) => writer.postponeCall(id, Math.min(lookMs, call.expiresAt - now)));
      return;
    }
    const serving = this.#deps.plugin(pluginId)?.serving?.version;
    if (call.version === null && serving !== undefined) await bundles.keep(serving);
    const version = serving?.version ?? null;
    const claimed = await store.write((writer) => writer.claimCall(id, { forMs: claimMs, version }));
    if (claimed !== undefined) this.#begin(claimed);
  }

  /** Why the plugin of a call cannot run it. */
  #hindrance({ pluginId, version }: CallRecord): 'disabled' | 'removed' | 'not built' | undefined {
    const plugin = this.#deps.plugin(pluginId);
    if (plugin === undefined) return 'removed';
    if (plugin.isDisabled) return 'disabled';
    return version === null && plugin.serving === undefined ? 'not built' : undefined;
  }

  /** Whether something may have come that a call waits for. */
  async #isReady({ waitsFor }: Pick<CallRecord, 'waitsFor'>, now: number): Promise<boolean> {
    const { read } = this.#deps.store;
    const transactions = waitsFor.flatMap((wait) => (wait.kind === 'transaction' ? [wait] : []));
    if (transactions.length === 0 || waitsFor.some(({ kind, until }) => kind === 'event' || until <= now)) return true;
    for (const wait of transactions) {
      const transaction = await read.transaction(wait.relayerId, wait.id);
      const ends = wait.isFinal ? isFinal : endsPluginWait;
      if (transaction === undefined || ends(transaction.status)) return true;
    }
    return false;
  }

  async #stop(call: CallRecord, state: CallEnd, ending: CallEnding): Promise<void> {
    await this.#deps.store.write((writer) => writer.stopCall(call.id, state, ending));
    this.#ended(call, state, undefined);
  }

  #begin(call: CallRecord): void {
    const abort = new AbortController();
    const running: Running = { call, abort, inbox: undefined, over: Promise.resolve() };
    this.#running.set(call.id, running);
    this.#unwatch(call.id);
    running.over = this.#run(running)
      .catch((err: unknown) => {
        // The claim ends when its time is over, and the call is run again.
        this.#deps.log.error({ err, call: call.id, pluginId: call.pluginId }, 'a durable call was not run');
      })
      .finally(() => {
        this.#running.delete(call.id);
        // Who waits for the answer looks for it in the store from now on.
        this.#answers.get(call.id)?.resolve(undefined);
        this.#answers.delete(call.id);
        this.wake();
      });
  }

  async #run(running: Running): Promise<void> {
    const { store, bundles, runner, clock, log } = this.#deps;
    const { call, abort } = running;
    const { id, pluginId } = call;
    const claim = { id, token: call.token };
    const plugin = this.#deps.plugin(pluginId);
    const serving = plugin?.serving?.version;
    if (plugin === undefined || call.version === null) {
      await this.#suspend(running, { waitsFor: [], inMs: this.#timing.restMs, deaths: call.deaths });
      return;
    }
    const isFirst = call.tries === 1;
    const [entries, recorded, events, version] = await Promise.all([
      isFirst ? [] : store.read.journal(id),
      isFirst ? [] : store.read.effectNames(id),
      isFirst ? [] : store.read.callEvents(id),
      call.version === serving?.version ? serving : bundles.find(call.version),
    ]);
    if (version === undefined) {
      const message = 'The version with which the call began is not stored any more';
      await this.#end(running, 'threw', { error: { code: 'COMPILE_ERROR', message, status: 500 } }, call.deaths);
      return;
    }
    const stored = journalOf(entries);
    const start = stored?.start ?? {
      ...{ seed: this.#deps.seed(), now: clock.now(), version: version.version },
      context: contextText(plugin.entry, requestOf(call)),
    };
    const options = { claim, start, recorded, maxBytes: MAX_JOURNAL_BYTES };
    let journal = new CallJournal({ ...options, ...stored, start, isStartStored: stored !== undefined });
    let { deaths } = call;
    for (let runs = 1; ; runs += 1) {
      const inbox = new CallInbox(events, () => store.read.callEvents(id));
      running.inbox = inbox;
      const heardBefore = journal.heard.length;
      const end = await runner.runDurable(plugin, {
        ...{ callId: id, requestId: call.request.requestId, keyId: call.keyId, version, journal, inbox },
        depth: call.trigger?.depth,
        since: Math.min(call.createdAt, call.trigger?.since ?? call.trigger?.at ?? call.createdAt),
        leftMs: call.expiresAt - clock.now(),
        signal: abort.signal,
      });
      const losses = this.#countLost(id, end, journal.heard.length > heardBefore);
      switch (end.kind) {
        case 'gone':
          return;
        case 'ended': {
          const isOver = 'error' in end.ending && end.ending.error.code === 'TIMEOUT' && clock.now() >= call.expiresAt;
          if (isOver) await this.#end(running, 'expired', EXPIRED, deaths, journal.unstored());
          else await this.#end(running, end.state, end.ending, deaths, journal.unstored(), end.answer);
          return;
        }
        case 'waits':
          await this.#waits(running, end.waitsFor, deaths, journal);
          return;
        case 'failed': {
          const { code, message, status } = end.error;
          if (code === 'IDEMPOTENCY_RUNNING') return;
          if (code === 'UNAVAILABLE' || code === 'LOCK_HELD_ELSEWHERE') break;
          await this.#end(running, 'threw', { error: { code, message, status } }, deaths, journal.unstored());
          return;
        }
        case 'again':
          if (end.lost?.isCulprit === true) deaths += 1;
          break;
        default:
          throw new Error(`Unknown end ${JSON.stringify(end satisfies never)}`);
      }
      if (deaths >= MAX_DEATHS) {
        const message = `The call brought down ${deaths} processes`;
        const ending = { error: { code: 'SANDBOX_LOST', message, status: 503 } };
        await this.#end(running, 'threw', ending, deaths, journal.unstored());
        return;
      }
      const inMs = end.kind === 'again' ? end.inMs : this.#timing.sweepMs;
      log.info(
        { call: id, pluginId, runs, reason: end.kind === 'again' ? end.reason : end.error.code },
        'a durable call runs again',
      );
      if (runs >= MAX_REPEATS || losses >= MAX_REPEATS || this.#closed || end.kind === 'failed') {
        const wait = this.#closed ? inMs : Math.max(inMs, this.#rest(losses, call.expiresAt));
        await this.#suspend(running, { waitsFor: [], inMs: wait, deaths, entry: journal.unstored() });
        return;
      }
      await withTimeout(inMs, new Promise(() => {}));
      journal = journal.again(await store.read.effectNames(id));
    }
  }

  /** @returns how many runs of the call in a row were lost here and heard of nothing new; 0 when this was none */
  #countLost(callId: string, end: DurableEnd, heardMore: boolean): number {
    const isAgain = end.kind === 'again' || end.kind === 'failed';
    if (heardMore || !isAgain) this.#lost.delete(callId);
    if (heardMore || end.kind !== 'again' || end.lost === undefined) return 0;
    const losses = (this.#lost.get(callId) ?? 0) + 1;
    this.#lost.set(callId, losses);
    return losses;
  }

  /**
   * How long a call makes room for others. One that is lost again and again may be what takes the memory of the machine,
   * of which nobody is told, so it takes the processes of others down ever less often. Up to half of the pause is taken
   * off by chance, so that calls that were lost together do not come back together.
   */
  #rest(losses: number, expiresAt: number): number {
    const { restMs, lostRestMs } = this.#timing;
    if (losses < MAX_REPEATS) return restMs;
    const pause = Math.min(restMs * 2 ** Math.min(losses - MAX_REPEATS, 20), lostRestMs);
    const chance = Number.parseInt(this.#deps.seed().slice(0, 8), 16) / 2 ** 32;
    return Math.min(pause * (1 - chance / 2), Math.max(0, expiresAt - this.#deps.clock.now()));
  }

  async #waits(running: Running, waitsFor: CallWait[], deaths: number, journal: CallJournal): Promise<void> {
    const { clock } = this.#deps;
    const { call } = running;
    const isLooked = waitsFor.some(({ kind }) => kind === 'transaction');
    const ends = waitsFor.map(({ until }) => until);
    const inMs = Math.min(...ends, call.expiresAt) - clock.now();
    const pause = Math.max(0, isLooked ? Math.min(inMs, this.#timing.lookMs) : inMs);
    this.#watch({ id: call.id, waitsFor });
    await this.#suspend(running, { waitsFor, inMs: pause, deaths, entry: journal.unstored() });
  }

  async #suspend(
    { call, inbox }: Running,
    pause: { waitsFor: CallWait[]; inMs: number; deaths: number; entry?: JournalEntry | undefined },
  ): Promise<void> {
    const { store, metrics } = this.#deps;
    const isOurs = await store.write((writer) => writer.suspendCall(call, { ...pause, events: inbox?.size ?? 0 }));
    if (isOurs) metrics.count('plugin_calls_suspended', { plugin_id: call.pluginId });
    // A transaction may have ended before it was watched.
    if (isOurs && pause.waitsFor.length > 0) {
      const now = await store.now();
      if (
        pause.waitsFor.every(({ kind }) => kind === 'transaction') &&
        (await this.#isReady({ ...call, ...pause }, now))
      ) {
        await store.write((writer) => writer.wakeCall(call.id));
      }
    }
  }

  async #end(
    { call }: Running,
    state: CallEnd,
    ending: CallEnding,
    deaths: number,
    entry?: JournalEntry,
    answer?: PluginAnswer,
  ): Promise<void> {
    const end = { state, ending, deaths, entry };
    if (!(await this.#deps.store.write((writer) => writer.endCall(call, end)))) return;
    this.#ended(call, state, answer);
  }

  #ended({ id, pluginId }: CallRecord, state: CallEnd, answer: PluginAnswer | undefined): void {
    this.#deps.metrics.count('plugin_calls_ended', { plugin_id: pluginId, state });
    this.#unwatch(id);
    this.#lost.delete(id);
    this.#answers.get(id)?.resolve(answer);
    this.#answers.delete(id);
  }

  /** Wakes a call when a transaction that it waits for changes so that the wait ends. */
  #watch({ id, waitsFor }: Pick<CallRecord, 'id' | 'waitsFor'>): void {
    const { store, engine, log } = this.#deps;
    this.#unwatch(id);
    const ids = waitsFor.flatMap((wait) => (wait.kind === 'transaction' ? [wait.id] : []));
    if (ids.length === 0) return;
    const look = async () => {
      if (this.#closed || !(await this.#isReady({ waitsFor }, await store.now()))) return;
      await store.write((writer) => writer.wakeCall(id));
      this.#unwatch(id);
      this.wake();
    };
    const heard = () => void look().catch((err: unknown) => log.warn({ err, call: id }, 'a call was not woken'));
    const ends = ids.map((transactionId) => engine.onChange(transactionId, heard));
    this.#watches.set(id, () => {
      for (const end of ends) end();
    });
  }

  #unwatch(callId: string): void {
    this.#watches.get(callId)?.();
    this.#watches.delete(callId);
  }

  /** Keeps the claims of the calls that run. A call that another instance has taken, or that was ended, ends here. */
  async #renew(): Promise<void> {
    const { store, log } = this.#deps;
    const claims = [...this.#running.values()].map(({ call }) => call);
    if (claims.length === 0) return;
    try {
      const held = new Set(await store.write((writer) => writer.renewCalls(claims, this.#timing.claimMs)));
      for (const { id, token } of claims) {
        const running = this.#running.get(id);
        if (!held.has(id) && running?.call.token === token) running.abort.abort();
      }
    } catch (error) {
      log.warn({ err: error, calls: claims.length }, 'claims of durable calls could not be renewed');
    }
  }
}

/** What the handler of a call is called with. */
function requestOf({ request: { event, ...request }, keyId, trigger }: CallRecord): PluginRequest {
  return {
    ...request,
    keyId,
    ...(trigger !== null && {
      trigger: { ...trigger, at: wireTime(trigger.at), ...(event !== undefined && { event }) },
    }),
  };
}

/** How often a call is looked for that runs on another instance, in ms. */
const ASK_MS = 500;
