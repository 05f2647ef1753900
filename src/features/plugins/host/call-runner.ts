import {
  type CallerSignal,
  type CallingTrigger,
  type CallOutcome,
  type CallReport,
  type CallUsage,
  END_CODES,
  endCodeFailure,
  type HostFailure,
  type InvocationContext,
  type LogEntry,
  type PluginVersion,
} from '../../../../sandbox/contract.ts';
import {
  type CallQueues,
  type ChildSeat,
  type NoSeatReason,
  positionInStack,
  type Quarantine,
  requestFingerprint,
  type Sandbox,
  type UsageLedger,
} from '../../../../sandbox/host/sandbox.ts';
import type { Clock } from '../../../domain/clock.ts';
import { type IdempotencyClaim, journalOf } from '../../../domain/idempotency.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import type { Log } from '../../../observability/log.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { Bundles } from '../../calls/bundles.ts';
import { MAX_JOURNAL_BYTES } from '../../calls/record.ts';
import type { RecordedEffects } from '../../recorded-effects.ts';
import type { PluginEntry } from '../records/plugin.ts';
import type { CallFeed } from './call-feed.ts';
import { CallJournal, EffectsWithoutJournal, type RunJournal } from './call-journal.ts';
import type { CallLog } from './call-log.ts';
import type { CallRecord, RunningCalls } from './call-record.ts';
import { MAX_SHOWN_NAMES } from './catalog/fetch-hosts.ts';
import type { CatalogPlugin } from './catalog/known-plugin.ts';
import type { ServingVersion } from './catalog/version-swap.ts';
import { type DurableEnd, type DurableRun, WaitWatch } from './durable-run.ts';
import { forwardLogs } from './forwarded-logs.ts';
import { lineOfLeftCalls } from './open-calls.ts';
import { endingOf, failureAnswer, type PlacedOutcome, pluginAnswerOf, type ShownUsage } from './outcome.ts';
import type { PluginAnswer, PluginRequest } from './plugin-host.ts';

export interface CallRunnerDeps {
  pool: Pick<Sandbox, 'cancel' | 'run'>;
  admission: CallQueues;
  calls: RunningCalls;
  quarantine: Quarantine;
  /** The plugin as it stands now; it may have been edited since the call came in. */
  plugin: (id: string) => CatalogPlugin | undefined;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  usage: Pick<UsageLedger, 'add'>;
  callLog: CallLog;
  feed: CallFeed;
  effects: Pick<RecordedEffects, 'journal' | 'recorded'>;
  bundles: Bundles;
  /** The seed of a call's chance: 64 hex digits that nobody can guess. */
  seed(): string;
}

/** What a keyed call runs, and with what it begins. */
interface PinnedRun {
  journal: RunJournal;
  context: string;
  /** Undefined: the version that serves. */
  version: PluginVersion | undefined;
}

/** The most bytes of JSON that the journal of a call with an idempotency key may have. */
const MAX_KEYED_BYTES = 8 * MAX_JOURNAL_BYTES;

/**
 * How long a call may at least wait for a place, in ms. The limit is half of its plugin's timeout where that is longer.
 */
const MIN_WAIT_MS = 3000;

/** How long a call waits for the first build of its plugin, in ms. */
const BUILD_WAIT_MS = 10_000;

/** Errors with a lower status are answers that the plugin meant to give. */
const MIN_UNMEANT_STATUS = 500;

/** How long a durable call waits for a place before it makes room for others, in ms. */
const DURABLE_WAIT_MS = 60_000;
/** After which time a durable call tries again to get a place, or a process, in ms. */
const BUSY_MS = 2000;
const LOST_MS = 500;

/** Nobody waits for a durable call in a way that could end it. */
const NEVER_GONE: CallerSignal = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };

/** A lost call runs again only when at least this much time is left before its deadline, in ms. */
const MIN_RERUN_MS = 100;

const SHUT_DOWN = { kind: 'ended', code: 'SERVICE_UNAVAILABLE', message: 'The server is shutting down' } as const;

const NO_USAGE: CallUsage = { cpu_ms: 0, calls: 0, heap_bytes: 0, bytes_in: 0, bytes_out: 0 };

/** Takes one plugin call from admission to its answer. A failed call has an answer, too. */
export class CallRunner {
  private readonly deps: CallRunnerDeps;

  constructor(deps: CallRunnerDeps) {
    this.deps = deps;
  }

  async run(called: CatalogPlugin, request: PluginRequest, signal: CallerSignal): Promise<PluginAnswer> {
    const { clock, quarantine, admission } = this.deps;
    const { entry } = called;
    const began = clock.elapsed();
    let hashed: string | undefined;
    const fingerprint = () => {
      hashed ??= requestFingerprint(request);
      return hashed;
    };
    const backOff = quarantine.refusal(entry.id, request.keyId, fingerprint);
    if (backOff !== undefined) return this.refuse(entry, backedOff(entry.id, backOff), request, began);
    let plugin = called;
    if (called.serving === undefined && called.failure === undefined) {
      await withTimeout(BUILD_WAIT_MS, Promise.race([called.isBuilt, admission.closing]));
      plugin = this.deps.plugin(entry.id) ?? called;
    }
    const { serving } = plugin;
    if (serving === undefined) {
      const unbuilt = admission.isClosed ? notSeated(entry.id, 'closed', quarantine) : stillCompiling(entry.id);
      return this.refuse(entry, plugin.failure ?? unbuilt, request, began);
    }

    const pinned = request.claim && (await this.keyed(request.claim, serving.version, contextText(entry, request)));
    let journal = pinned?.journal;
    const context = pinned?.context ?? contextText(entry, request);
    // The timeout counts from the moment at which the call first has a place. Waiting for a place does not count.
    let deadline: number | undefined;
    let usage = NO_USAGE;
    for (let mayRerun = true; ; mayRerun = false) {
      const applicant = {
        pluginId: entry.id,
        version: () => pinned?.version ?? this.deps.plugin(entry.id)?.serving?.version ?? serving.version,
        waitUntil: clock.elapsed() + Math.max(entry.timeout * 500, MIN_WAIT_MS),
        signal,
      };
      const place = this.deps.admission.enter(applicant);
      const seat = place instanceof Promise ? await place : place;
      if (typeof seat === 'string') return this.refuse(entry, notSeated(entry.id, seat, quarantine), request, began);
      const refusal = place === seat ? undefined : quarantine.refusalAfterWait(entry.id, fingerprint);
      if (refusal !== undefined) {
        this.deps.admission.leave(seat);
        return this.refuse(entry, backedOff(entry.id, refusal), request, began);
      }

      deadline ??= clock.elapsed() + entry.timeout * 1000;

      const record = this.deps.calls.begin({
        child: seat.child.id,
        plugin: plugin.caller,
        requestId: request.requestId,
        callerKeyId: request.keyId,
        depth: request.trigger?.depth,
        fingerprint,
        journal,
      });
      const report = await this.drive(seat, record, context, deadline - clock.elapsed(), signal);
      usage = sumOf(usage, report.usage);
      const timeLeft = deadline - clock.elapsed() > MIN_RERUN_MS;
      // A call with an idempotency key may run again: its further run finds what this one did.
      const isHarmless = !record.hadEffect || journal !== undefined;
      if (report.lost && mayRerun && timeLeft && isHarmless && !signal.aborted && !record.failure) {
        if (request.claim === undefined || journal === undefined) continue;
        // The lost run's effects may still happen. Waits for them, so that the further run finds them recorded.
        if (await journal.settled(deadline - clock.elapsed())) {
          journal = await this.again(journal, request.claim);
          continue;
        }
      }

      const outcome = report.lost && admission.isClosed ? SHUT_DOWN : restated(report.outcome, entry);
      this.count(entry.id, outcome.kind === 'ended' ? outcome.code : outcome.kind, began, usage);
      if (outcome.kind !== 'ended') quarantine.endedWell(entry.id, request.keyId);
      const failure = record.failure ?? (outcome.kind === 'ended' ? undefined : journal?.missed());
      if (failure !== undefined) throw failure;
      const shown = { ...usage, duration_ms: durationSince(began, clock) };
      const logs = record.open.size === 0 ? report.logs : await this.withLeftCalls(report, record);
      return this.answer(entry, outcome, { ...report, logs, usage: shown }, record, seat.version).answer;
    }
  }

  /** Runs a durable call until it ends, or waits, or is to be run again. */
  async runDurable({ entry, caller }: CatalogPlugin, run: DurableRun): Promise<DurableEnd> {
    const { clock, admission, quarantine } = this.deps;
    const { journal, inbox, signal, version } = run;
    const began = clock.elapsed();
    const waitUntil = began + DURABLE_WAIT_MS;
    const place = admission.enter({ pluginId: entry.id, version: () => version, waitUntil, signal });
    const seat = place instanceof Promise ? await place : place;
    if (seat === 'canceled') return { kind: 'gone' };
    if (typeof seat === 'string') {
      return { kind: 'again', inMs: seat === 'closed' ? 0 : BUSY_MS, reason: seat };
    }
    const timeoutMs = Math.max(1, Math.min(entry.timeout * 1000, run.leftMs));
    const record = this.deps.calls.begin({
      child: seat.child.id,
      plugin: caller,
      requestId: run.requestId,
      callerKeyId: run.keyId,
      fingerprint: () => run.callId,
      depth: run.depth,
      since: run.since,
      journal,
      inbox,
    });
    const drop = () => record.onFailure?.();
    const heardBefore = journal.heard.length;
    const driving = this.drive(seat, record, journal.start.context, timeoutMs, NEVER_GONE);
    const watch = new WaitWatch(record, clock, { sliceMs: version.limits.slice_ms, timeoutMs });
    if (signal.aborted) drop();
    else signal.addEventListener('abort', drop, { once: true });
    const report = await driving;
    signal.removeEventListener('abort', drop);
    watch.close();

    if (signal.aborted) return { kind: 'gone' };
    if (record.failure !== undefined) return { kind: 'failed', error: record.failure };
    if (watch.waitsFor !== undefined) {
      this.deps.usage.add(entry.id, 'waits', report.usage);
      return { kind: 'waits', waitsFor: watch.waitsFor };
    }
    // Also when the call itself is the cause: it ends with the third process.
    if (report.lost || (report.outcome.kind === 'ended' && report.outcome.code === 'SANDBOX_LOST')) {
      // Effects of the lost run may still happen. The further run finds them recorded.
      await journal.settled(timeoutMs);
      const lost = { isCulprit: record.isCulprit };
      return { kind: 'again', inMs: admission.isClosed ? 0 : LOST_MS, reason: 'its process was lost', lost };
    }
    const outcome = restated(report.outcome, entry);
    if (outcome.kind === 'ended' && (outcome.code === 'SERVICE_UNAVAILABLE' || outcome.code === 'CANCELED')) {
      return { kind: 'again', inMs: 0, reason: outcome.message };
    }
    const isRunOver = outcome.kind === 'ended' && outcome.code === 'TIMEOUT' && timeoutMs < run.leftMs;
    // The time limit is of one run. A call that hears of something in each of its runs goes on.
    if (isRunOver && journal.heard.length > heardBefore) {
      await journal.settled(timeoutMs);
      return { kind: 'again', inMs: 0, reason: 'the time of its run was over' };
    }
    const missed = outcome.kind === 'ended' ? undefined : journal.missed();
    if (missed !== undefined) return { kind: 'failed', error: missed };
    this.count(entry.id, outcome.kind === 'ended' ? outcome.code : outcome.kind, began, report.usage);
    if (outcome.kind !== 'ended') quarantine.endedWell(entry.id, run.keyId);
    const usage = { ...report.usage, duration_ms: durationSince(began, clock) };
    const logs = record.open.size === 0 ? report.logs : await this.withLeftCalls(report, record);
    const { shown, answer } = this.answer(entry, outcome, { ...report, logs, usage }, record, seat.version);
    return { kind: 'ended', state: shown.kind === 'returned' ? 'returned' : 'threw', ending: endingOf(shown), answer };
  }

  /**
   * Opens the journal of a call with an idempotency key. All its runs have the context and the version of the first,
   * as far as that one had an effect.
   */
  private async keyed(claim: IdempotencyClaim, serving: PluginVersion, context: string): Promise<PinnedRun> {
    const { effects, bundles, clock } = this.deps;
    await bundles.keep(serving);
    const [entries, recorded] =
      claim.token === 1 ? [[], []] : await Promise.all([effects.journal(claim.id), effects.recorded(claim.id)]);
    const heard = journalOf(entries);
    if (heard === undefined && recorded.length > 0) {
      return { journal: new EffectsWithoutJournal(claim, recorded), context, version: undefined };
    }
    if (heard === undefined) {
      const start = { seed: this.deps.seed(), now: clock.now(), version: serving.version, context };
      return { journal: new CallJournal({ claim, start, maxBytes: MAX_KEYED_BYTES }), context, version: serving };
    }
    const { start, deliveries, waits } = heard;
    const options = { claim, start, deliveries, waits, isStartStored: true, recorded, maxBytes: MAX_KEYED_BYTES };
    const version = start.version === serving.version ? serving : await bundles.find(start.version);
    return { journal: new CallJournal(options), context: start.context, version: version ?? serving };
  }

  /** The journal for a further run after a process was lost. */
  private async again(journal: RunJournal, claim: IdempotencyClaim): Promise<RunJournal> {
    const recorded = await this.deps.effects.recorded(claim.id);
    return journal instanceof CallJournal ? journal.again(recorded) : new EffectsWithoutJournal(claim, recorded);
  }

  /** Runs the call once in one child. During the run the gateway may note a failure of the call. Never rejects. */
  private async drive(
    seat: ChildSeat,
    record: CallRecord,
    context: string,
    leftMs: number,
    signal: CallerSignal,
  ): Promise<CallReport> {
    const { pool, calls, admission, log } = this.deps;
    const { id: child, thread } = seat.child;
    const drop = () => {
      calls.end(record);
      pool.cancel(thread, child, record.call);
    };
    record.onFailure = drop;
    const durable = record.journal?.durable;
    const cancel = () => {
      // A call that changed something runs on, so that its author's clean-up code runs.
      if (!record.hadEffect) drop();
    };
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    let report = lostReport();
    try {
      const task = {
        child,
        call: record.call,
        version: seat.version.version,
        context,
        timeout_ms: Math.max(1, leftMs),
        ...(durable !== undefined && { durable }),
      };
      report = await pool.run(thread, task);
    } catch (error) {
      const { plugin, requestId, callerKeyId: keyId } = record;
      log.error({ err: error, pluginId: plugin.id, requestId, keyId }, 'a plugin call was lost');
    }
    signal.removeEventListener('abort', cancel);
    calls.end(record);
    admission.leave(seat, report.lost);
    return report;
  }

  /** The lines of a call, and one that names what it left behind. */
  private async withLeftCalls({ outcome, logs }: CallReport, record: CallRecord): Promise<LogEntry[]> {
    const { plugin, requestId, open } = record;
    const message = await lineOfLeftCalls(
      open,
      outcome.kind === 'returned',
      { pluginId: plugin.id, requestId },
      this.deps.log,
    );
    return message === undefined ? logs : [...logs, { level: 'warn', message }];
  }

  private answer(
    entry: PluginEntry,
    outcome: CallOutcome,
    report: CallReport & { usage: ShownUsage },
    record: CallRecord,
    version: PluginVersion,
  ): { shown: PlacedOutcome; answer: PluginAnswer } {
    const serving = this.deps.plugin(entry.id)?.serving;
    const mapped =
      serving?.version.version === version.version ? (text: string) => serving.positions.mapped(text) : same;
    const { id: pluginId, emit_logs, forward_logs } = entry;
    const granted = takeUngrantedReads(report.logs, this.deps.log, pluginId, serving);
    const lines = granted.map(({ level, message }) => ({ level, message: mapped(message) }));
    const logs = lines.filter(({ level }) => emit_logs || forward_logs || level === 'uncaught');
    if (report.dropped_logs > 0) {
      logs.push({ level: 'warn', message: `${report.dropped_logs} more log lines were dropped` });
    }
    this.remember(outcome, lines, report.usage, record);
    forwardLogs(
      this.deps.log,
      logs,
      { pluginId, requestId: record.requestId, keyId: record.callerKeyId },
      forward_logs,
    );
    const shown = placed(
      outcome.kind === 'returned' ? outcome : { ...outcome, message: mapped(outcome.message) },
      logs,
    );
    const trail = { logs, traces: record.traces.entries(this.deps.clock.elapsed()), usage: report.usage };
    return { shown, answer: pluginAnswerOf(shown, entry, trail) };
  }

  /** Keeps the call for later requests, whether or not its answer shows its lines. Most calls write no lines. */
  private remember(
    outcome: CallOutcome,
    lines: readonly LogEntry[],
    usage: ShownUsage,
    { plugin: { id: pluginId }, requestId, callerKeyId: keyId }: CallRecord,
  ): void {
    const call = {
      pluginId,
      requestId,
      keyId,
      at: this.deps.clock.now(),
      durationMs: usage.duration_ms,
      outcome: outcome.kind === 'ended' ? outcome.code : outcome.kind,
      lines,
    };
    this.deps.feed.add(call);
    if (lines.length > 0 || outcome.kind !== 'returned') this.deps.callLog.add(pluginId, call);
  }

  /** `outcome` is `returned`, `threw` or an end code, never a text of the plugin. `usage` is that of all its runs. */
  private count(pluginId: string, outcome: string, began: number, usage: CallUsage): void {
    const { clock, metrics } = this.deps;
    this.deps.usage.add(pluginId, outcome, usage);
    metrics.count('plugin_call_outcomes', { plugin_id: pluginId, outcome });
    metrics.observe('plugin_call_duration', { plugin_id: pluginId }, since(began, clock));
  }

  private refuse(entry: PluginEntry, failure: HostFailure, request: PluginRequest, began: number): PluginAnswer {
    const { clock, feed } = this.deps;
    const code = failure.code in END_CODES ? failure.code : 'COMPILE_ERROR';
    this.count(entry.id, code, began, NO_USAGE);
    const durationMs = durationSince(began, clock);
    const { requestId, keyId } = request;
    feed.add({ pluginId: entry.id, requestId, keyId, at: clock.now(), outcome: code, durationMs, lines: [] });
    return failureAnswer(failure, entry, { logs: [], traces: [], usage: { ...NO_USAGE, duration_ms: durationMs } });
  }
}

/**
 * The JSON text of the call's context. It is made once and passed on to the guest. The caller's credential is not in
 * it.
 */
export function contextText(
  entry: PluginEntry,
  request: Pick<PluginRequest, 'params' | 'headers' | 'route' | 'method' | 'query' | 'keyId' | 'trigger'>,
): string {
  const context: InvocationContext = {
    params: request.params,
    headers: withoutCredential(request.headers),
    route: request.route,
    ...(entry.config !== undefined && { config: entry.config }),
    method: request.method,
    query: request.query,
    caller: { keyId: request.keyId },
    ...(request.trigger !== undefined && { trigger: triggerOf(request.trigger) }),
  };
  return JSON.stringify(context);
}

function triggerOf({ name, at, event }: NonNullable<PluginRequest['trigger']>): CallingTrigger {
  return { name, at, ...(event !== undefined && { event }) };
}

function withoutCredential(headers: PluginRequest['headers']): PluginRequest['headers'] {
  if (headers['authorization'] === undefined) return headers;
  const { authorization: _, ...others } = headers;
  return others;
}

/**
 * Adds the place in the author's files to an uncaught error that has no details of its own, and to a call whose time
 * was over: the sandbox wrote the stack into the log.
 */
function placed(outcome: CallOutcome, logs: readonly LogEntry[]): PlacedOutcome {
  if (outcome.kind === 'returned') return outcome;
  if (outcome.kind === 'threw' && (outcome.status < MIN_UNMEANT_STATUS || outcome.details !== '{}')) return outcome;
  if (outcome.kind === 'ended' && outcome.code !== 'CPU_LIMIT') return outcome;
  const place = positionInStack(logs.findLast(({ level }) => level === 'uncaught')?.message ?? '');
  if (place === undefined) return outcome;
  const details = JSON.stringify(place);
  if (outcome.kind === 'threw') return { ...outcome, details };
  return { ...outcome, message: `${outcome.message}, at ${place.file}:${place.line}:${place.column}`, details };
}

/**
 * States the timeout as the operator configured it. The sandbox does not know it: a second run gets only the time that
 * is left.
 */
function restated(outcome: CallOutcome, entry: PluginEntry): CallOutcome {
  if (outcome.kind !== 'ended' || outcome.code !== 'TIMEOUT') return outcome;
  return { ...outcome, message: `Plugin execution timed out after ${entry.timeout} seconds` };
}

function notSeated(pluginId: string, reason: NoSeatReason, quarantine: Quarantine): HostFailure {
  switch (reason) {
    case 'canceled':
      return endCodeFailure('CANCELED', 'The client left before the call began');
    case 'backed-off':
      return backedOff(pluginId, quarantine.backOff(pluginId) ?? { reason: 'it did not load', leftMs: 1000 });
    case 'closed':
      return endCodeFailure(SHUT_DOWN.code, SHUT_DOWN.message, 5);
    case 'queue-full':
      return endCodeFailure('SERVICE_UNAVAILABLE', `Too many calls of plugin ${pluginId} are waiting`, 2);
    case 'waited-too-long':
      return endCodeFailure('SERVICE_UNAVAILABLE', `No sandbox process became free for plugin ${pluginId}`, 2);
    default:
      throw new Error(`Unknown reason ${String(reason satisfies never)}`);
  }
}

function stillCompiling(pluginId: string): HostFailure {
  return endCodeFailure('SERVICE_UNAVAILABLE', `Plugin ${pluginId} is still being compiled`, 2);
}

function backedOff(pluginId: string, { reason, leftMs }: { reason: string; leftMs: number }): HostFailure {
  const seconds = Math.ceil(leftMs / 1000);
  const message = `Plugin ${pluginId} is backed off for ${seconds} s, because its process was killed again and again: ${reason}`;
  return endCodeFailure('SERVICE_UNAVAILABLE', message, seconds);
}

function lostReport(): CallReport {
  return {
    outcome: { kind: 'ended', code: 'SANDBOX_LOST', message: 'The sandbox process of this call was lost' },
    logs: [],
    dropped_logs: 0,
    usage: NO_USAGE,
    lost: true,
  };
}

/** The sum of the usage of several runs. `heap_bytes` is the largest of them. */
function sumOf(a: CallUsage, b: CallUsage): CallUsage {
  return {
    cpu_ms: a.cpu_ms + b.cpu_ms,
    calls: a.calls + b.calls,
    heap_bytes: Math.max(a.heap_bytes, b.heap_bytes),
    bytes_in: a.bytes_in + b.bytes_in,
    bytes_out: a.bytes_out + b.bytes_out,
  };
}

/** Whole milliseconds. */
function durationSince(began: number, clock: Clock): number {
  return Math.round(clock.elapsed() - began);
}

function since(began: number, clock: Clock): number {
  return (clock.elapsed() - began) / 1000;
}

function same(text: string): string {
  return text;
}

/** The form of an environment entry's name that is accepted from a sandbox. The name goes into the log. */
const NAME = /^[A-Z][A-Z0-9_]{1,99}$/;

/**
 * Removes the lines that name environment entries which the plugin read without a grant. Logs each name once for a
 * version, unless the plugin's code already showed it. The plugin's view shows the name from then on.
 * @returns the other lines
 */
export function takeUngrantedReads(
  lines: readonly LogEntry[],
  log: Log,
  pluginId: string,
  version: ServingVersion | undefined,
): readonly LogEntry[] {
  if (!lines.some(({ level }) => level === 'ungranted')) return lines;
  const known = version?.reads.environment;
  for (const { level, message: name } of lines) {
    if (level !== 'ungranted' || known === undefined || known.length > MAX_SHOWN_NAMES) continue;
    if (known.includes(name) || !NAME.test(name)) continue;
    known.push(name);
    known.sort();
    const hint = `add ${JSON.stringify(name)} to permissions.env of plugin ${pluginId} in config.json`;
    log.warn({ pluginId, missing: [name], hint }, 'a plugin reads an environment entry that it does not see');
  }
  return lines.filter(({ level }) => level !== 'ungranted');
}
