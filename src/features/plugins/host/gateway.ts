import { hash } from 'node:crypto';
import { ZodError } from 'zod';
import {
  type CapabilityReply,
  FIXED_LIMITS,
  type Json,
  type RequestMessage,
  TIMER_REQUEST,
} from '../../../../sandbox/contract.ts';
import type { Clock } from '../../../domain/clock.ts';
import { AppError, StoreUnavailable } from '../../../domain/errors.ts';
import type { Delivery, KeyedEffect } from '../../../domain/idempotency.ts';
import { didYouMean } from '../../../domain/json/issue-text.ts';
import { canonicalJson, type WireValue } from '../../../domain/json/json.ts';
import type { FetchGrants } from '../../../egress/fetch/plugin-fetch.ts';
import type { Log } from '../../../observability/log.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { Actor } from '../../api-keys/records/caller.ts';
import { MAX_JOURNAL_BYTES, MAX_STEPS } from '../../calls/record.ts';
import type { RecordedEffects } from '../../recorded-effects.ts';
import type { KvCaller } from '../records/kv.ts';
import type { SpendingPlugin } from '../records/spending.ts';
import type { CallInbox } from './call-inbox.ts';
import { type Asked, CallJournal, type NamedEffect, type RunJournal } from './call-journal.ts';
import type { CallRecord, RunningCalls } from './call-record.ts';
import type { BoundCapability, PreparedCapabilityCall, WaitReason } from './capabilities/capability.ts';
import type { HeldLocks } from './capabilities/held-locks.ts';
import { INTERNAL_FAILURE, spendingFailure, WaitTimeout } from './capabilities/relayer-failure.ts';
import { printableLogText } from './forwarded-logs.ts';
import type { CallAnswer, OpenCall } from './open-calls.ts';

export interface CapabilityGatewayDeps {
  capabilities: ReadonlyMap<string, BoundCapability>;
  calls: RunningCalls;
  effects: RecordedEffects;
  log: Log;
  metrics: Metrics;
  clock: Clock;
  /** A fresh UUID. */
  uuid: () => string;
  /** The relayers that there are, for a hint at a misspelt one. There may be more. */
  relayerIds: () => Promise<readonly string[]>;
}

/**
 * The only way from plugins to the services. Finds the running call, counts, parses, checks the grant, traces and calls
 * the service. Tells the plugin only as much about a failure as it may know.
 */
export class CapabilityGateway {
  private readonly deps: CapabilityGatewayDeps;

  constructor(deps: CapabilityGatewayDeps) {
    this.deps = deps;
  }

  /** Answers one capability call. The sandbox sets `child` and `call`, not the guest. Never rejects. */
  async answer(child: number, call: number, message: RequestMessage): Promise<CapabilityReply> {
    const record = this.deps.calls.find(child, call);
    if (record === undefined) return refuse(OVER);
    const open: OpenCall = { message, hasEffect: false, answering: UNANSWERED };
    if (record.journal !== undefined) open.askedAt = record.journal.askedAt(message.id);
    record.open.add(open);
    open.answering = this.handle(record, message, open);
    record.onProgress?.();
    const answer = await open.answering;
    record.open.delete(open);
    record.onProgress?.();
    const { method, result, reply } = answer;
    this.deps.metrics.count('plugin_capability_calls', { plugin_id: record.plugin.id, method, answer: result });
    return reply;
  }

  private handle(record: CallRecord, message: RequestMessage, open: OpenCall): Promise<CallAnswer> {
    const read = this.read(record, message);
    const { prepared } = read;
    if (prepared !== undefined) open.hasEffect = prepared.effect;
    const { journal } = record;
    if (journal !== undefined) return this.inTurn(record, journal, message, read, open);
    return prepared === undefined
      ? Promise.resolve(read.refusal)
      : this.granted(record, read.capability, prepared, open);
  }

  /** Counts and parses a capability call. */
  private read(record: CallRecord, message: RequestMessage): ReadCall {
    const { maxCalls } = record.plugin;
    // A durable call's timers are no calls for its author.
    const isTimer = message.method === TIMER_REQUEST && record.journal?.durable !== undefined;
    const isBeyond = isTimer ? ++record.timers > FIXED_LIMITS.durable_timers : ++record.requests > maxCalls;
    if (isBeyond) {
      const most = isTimer ? `${FIXED_LIMITS.durable_timers} timers` : `${maxCalls} capability calls`;
      return { refusal: refused('unknown', `A call of this plugin may make ${most}`) };
    }
    const capability = this.deps.capabilities.get(message.method);
    if (capability === undefined) {
      return { refusal: refused('unknown', `There is no capability ${quoted(message.method)}`) };
    }
    try {
      assertSize(message.params, FIXED_LIMITS.request_bytes);
      return { capability, prepared: capability.prepare(message.params) };
    } catch (error) {
      const reason = `Invalid payload: ${reasonOf(error)}`;
      this.traceUnread(record, capability, message.params);
      return { refusal: refused(capability.method, reason) };
    }
  }

  /**
   * Answers a capability call of a run whose course is in a journal: with what an earlier run heard, or now. Ends the
   * run when it goes another way than that run, and when what it is told cannot be stored.
   */
  private async inTurn(
    record: CallRecord,
    journal: RunJournal,
    message: RequestMessage,
    read: ReadCall,
    open: OpenCall,
  ): Promise<CallAnswer> {
    const { prepared, refusal } = read;
    const { id: request, method } = message;
    const payload = (prepared === undefined ? message.params : prepared.payload()) as Json;
    const asked = { request, method, hash: payloadHash(method, payload), payload };
    const hasEffect = prepared?.effect === true;
    try {
      const heard = await journal.meet(asked, hasEffect, (again) =>
        this.noteHeard(record, journal, asked, again, read),
      );
      if (heard !== undefined) return this.heardBefore(record, heard, read);
      let answer = refusal;
      if (prepared !== undefined) {
        const effect = hasEffect ? journal.effect(asked) : undefined;
        const answering =
          effect === undefined
            ? this.granted(record, read.capability, prepared, open)
            : journal.track(this.keyed(record, journal, read.capability, prepared, open, effect));
        answer = await answering;
      }
      if (answer === undefined) throw new Error('a capability call has no answer');
      if (record.ended) return answer;
      const reply = journal.hear(asked, answer.reply, this.deps.clock.now());
      if (journal.isFull && record.inbox !== undefined) throw journalFull();
      return { ...answer, reply };
    } catch (error) {
      if (!record.ended) {
        const where = { pluginId: record.plugin.id, method: prepared && method, requestId: record.requestId };
        this.deps.log.warn(
          { ...where, err: error },
          'a plugin call with an Idempotency-Key ended before its plugin did',
        );
        record.fail(error instanceof AppError && LEFT_THE_WAY.has(error.code) ? error : notStored(error));
      }
      return refused(read.capability?.method ?? 'unknown', OVER);
    }
  }

  /** Notes what of the things that an earlier run did has to be done again: locks end with a run. */
  private noteHeard(
    record: CallRecord,
    journal: RunJournal,
    asked: Asked,
    { reply }: Delivery,
    { prepared }: ReadCall,
  ): void {
    const { ok, value } = reply as CapabilityReply & { value?: Json };
    if (!ok || prepared === undefined || !(journal instanceof CallJournal)) return;
    const { method, payload } = asked;
    if (method === 'kv.lock' && typeof value === 'number') {
      journal.holds(value, async () => {
        const { effect } = journal.effect(asked);
        const taken = await prepared.run(new CallPrincipal(record, this.deps.clock, undefined, effect));
        if (typeof taken === 'number') record.locks.rename(taken, value);
      });
    } else if (method === 'kv.unlock') journal.released(Number(fieldOf(payload, 'fence')));
    else if (method === 'call.waitFor') {
      const name = fieldOf(payload, 'name');
      if (typeof name === 'string') record.inbox?.heard(name);
    }
  }

  /** Answers as an earlier run was answered. What it did is not done again. */
  private heardBefore(
    record: CallRecord,
    { reply: stored, at }: Delivery,
    { capability, prepared }: ReadCall,
  ): CallAnswer {
    const reply = { ...(stored as CapabilityReply), at };
    const method = capability?.method ?? 'unknown';
    if (prepared === undefined) return { method, result: 'refused', reply };
    if (prepared.effect) record.hadEffect = true;
    this.traceAtOnce(record, prepared, reply.ok ? 'ok' : 'error');
    return { method, result: reply.ok ? 'ok' : 'failed', reply };
  }

  /** Runs the call if the plugin has the grant for it, and refuses it otherwise. */
  private async granted(
    record: CallRecord,
    capability: BoundCapability,
    prepared: PreparedCapabilityCall,
    open: OpenCall,
    effect?: KeyedEffect,
  ): Promise<CallAnswer> {
    const refusal = record.plugin.grants.refusal(prepared.need);
    if (refusal === undefined) return this.run(record, capability, prepared, open, effect);
    this.traceAtOnce(record, prepared, 'refused');
    this.noteRefusal(record, capability.method, refusal);
    return refused(capability.method, refusal);
  }

  /** Answers an effect of a keyed call. Its outcome is stored before the plugin hears of it. */
  private async keyed(
    record: CallRecord,
    journal: RunJournal,
    capability: BoundCapability,
    prepared: PreparedCapabilityCall,
    open: OpenCall,
    { effect, isRecorded, stored }: NamedEffect,
  ): Promise<CallAnswer> {
    const { effects } = this.deps;
    const { method } = capability;
    if (journal.isFull) throw journalFull();
    const failure = isRecorded ? await effects.failure(effect) : undefined;
    if (failure !== undefined) {
      this.traceAtOnce(record, prepared, 'error');
      return { method, result: 'failed', reply: { ok: false, error: failure } };
    }
    // A recorded effect has happened, so its grant is not checked again.
    const answer = isRecorded
      ? await this.run(record, capability, prepared, open, effect)
      : await this.granted(record, capability, prepared, open, effect);
    if (answer.reply.ok || answer.isDone === true) {
      stored();
      return answer;
    }
    if (record.ended || record.failure !== undefined) return answer;
    const { message, ...more } = answer.reply.error;
    const error = { message: message.slice(0, MAX_FAILURE), ...more };
    if (!(await effects.refuse(effect, error))) {
      throw new Error(`It was done, and what came of it cannot be told: ${message}`);
    }
    stored();
    return { ...answer, reply: { ok: false, error } };
  }

  /** Traces a relayer call whose payload was not understood. */
  private traceUnread(record: CallRecord, { traceMethod: method }: BoundCapability, params: unknown): void {
    if (method === undefined) return;
    this.traceAtOnce(record, { trace: { method, relayerId: relayerNamedIn(params), payload: null } }, 'error');
  }

  private traceAtOnce(
    record: CallRecord,
    { trace }: Pick<PreparedCapabilityCall, 'trace'>,
    outcome: 'ok' | 'error' | 'refused',
  ): void {
    if (trace === undefined) return;
    const now = this.deps.clock.elapsed();
    record.traces.begin({ ...trace, requestId: this.deps.uuid() }, now)(outcome, now);
  }

  /**
   * Logs the first refusal of a call as a warning, and further ones at level debug. So a plugin that asks a thousand
   * times does not fill the log.
   */
  private noteRefusal(record: CallRecord, method: string, refusal: string): void {
    const level = record.wasRefused ? 'debug' : 'warn';
    record.wasRefused = true;
    // The refusal may contain a name that the guest chose, in any characters.
    const shown = printableLogText(refusal.slice(0, MAX_REFUSAL));
    this.deps.log[level]({ pluginId: record.plugin.id, requestId: record.requestId, method }, shown);
  }

  private async run(
    record: CallRecord,
    capability: BoundCapability,
    prepared: PreparedCapabilityCall,
    open: OpenCall,
    effect: KeyedEffect | undefined,
  ): Promise<CallAnswer> {
    const { clock, uuid } = this.deps;
    const { method } = capability;
    const requestId = uuid();
    const began = clock.elapsed();
    const endTrace = prepared.trace && record.traces.begin({ ...prepared.trace, requestId }, began);
    if (prepared.effect) record.hadEffect = true;
    try {
      const principal = new CallPrincipal(record, clock, open, effect);
      const value = toGuestValue(await prepared.run(principal), FIXED_LIMITS.request_bytes);
      endTrace?.('ok', clock.elapsed());
      return { method, result: 'ok', reply: { ok: true, value } };
    } catch (error) {
      const exceeded = error instanceof AppError ? spendingFailure(error) : undefined;
      endTrace?.(exceeded === undefined ? 'error' : 'refused', clock.elapsed());
      if (error instanceof AppError && exceeded !== undefined) {
        this.noteRefusal(record, method, error.message);
        return {
          method,
          result: 'refused',
          reply: { ok: false, error: { message: capability.failure(error), ...exceeded } },
        };
      }
      const reply = this.failure(record, capability, requestId, error);
      if (error instanceof AppError && error.code === 'RELAYER_NOT_FOUND' && !reply.ok) {
        reply.error.message += await this.nearRelayer(record, prepared);
      }
      return { method, result: 'failed', reply, isDone: error instanceof TooLarge };
    }
  }

  /** The relayer that was probably meant, of those that the plugin may read. Empty when none is near. */
  private async nearRelayer(record: CallRecord, { need }: PreparedCapabilityCall): Promise<string> {
    if (!('relayer' in need)) return '';
    const ids = await this.deps.relayerIds().catch(() => []);
    const { grants } = record.plugin;
    const near = didYouMean(
      need.relayer,
      ids.filter((id) => grants.refusal({ relayer: id, right: 'read' }) === undefined),
    );
    return near === undefined ? '' : `. ${near}`;
  }

  private failure(record: CallRecord, capability: BoundCapability, requestId: string, error: unknown): CapabilityReply {
    if (error instanceof WaitTimeout) {
      return { ok: false, error: { message: error.message, status: error.status } };
    }
    if (error instanceof TooLarge) return refuse(`The answer is ${error.message}`);
    const where = {
      pluginId: record.plugin.id,
      method: capability.method,
      requestId: record.requestId,
      relayerRequestId: requestId,
    };
    if (error instanceof AppError) {
      // A run that differs from the first run must not cause further effects.
      if (LEFT_THE_WAY.has(error.code)) record.fail(error);
      // What a durable call hears is kept. A database that does not answer is no answer, so the call runs again.
      else if (record.inbox !== undefined && error instanceof StoreUnavailable) record.fail(error);
      if (error.status >= 500) this.deps.log.error({ ...where, err: error }, 'a capability call failed');
      return refuse(capability.failure(error));
    }
    if (record.ended) return refuse(OVER);
    this.deps.log.error({ ...where, err: error }, 'a capability call failed unexpectedly');
    return refuse(INTERNAL_FAILURE);
  }
}

const OVER = 'The plugin call is over';

const UNANSWERED = new Promise<never>(() => {});

/** The most characters of a failure that are stored for further runs. The first run hears no more than that, either. */
const MAX_FAILURE = 4096;

/** The most characters of a refusal that the log shows. */
const MAX_REFUSAL = 500;

/** The most characters of a relayer's id that a trace shows when the payload was not understood. */
const MAX_RELAYER = 256;

/** Errors after which a run of a request with an idempotency key cannot repeat its first run. */
const LEFT_THE_WAY: ReadonlySet<string> = new Set([
  'EFFECT_MISMATCH',
  'EFFECT_UNKNOWN',
  'IDEMPOTENCY_RUNNING',
  'JOURNAL_FULL',
  'LOCK_HELD_ELSEWHERE',
]);

/** A capability call as it was understood, or the refusal of one that was not. */
type ReadCall =
  | { capability: BoundCapability; prepared: PreparedCapabilityCall; refusal?: undefined }
  | { refusal: CallAnswer; capability?: undefined; prepared?: undefined };

/** The identity of a call record. Its signal is made only for a capability that asks for it. */
class CallPrincipal {
  readonly effect: KeyedEffect | undefined;
  private readonly record: CallRecord;
  private readonly clock: Clock;
  private readonly open: OpenCall | undefined;

  constructor(record: CallRecord, clock: Clock, open: OpenCall | undefined, effect: KeyedEffect | undefined) {
    this.record = record;
    this.clock = clock;
    this.open = open;
    this.effect = effect;
  }

  get pluginId(): string {
    return this.record.plugin.id;
  }

  get actor(): Actor {
    const { callerKeyId: keyId, requestId, plugin, depth, since } = this.record;
    return { keyId, requestId, pluginId: plugin.id, depth, since };
  }

  get signal(): AbortSignal {
    return this.record.signal;
  }

  get kvCaller(): KvCaller {
    return this.record.kvCaller;
  }

  get locks(): HeldLocks {
    return this.record.locks;
  }

  get inbox(): CallInbox | undefined {
    return this.record.inbox;
  }

  waits(reason: WaitReason, ms: number): number {
    const { open, record } = this;
    const now = this.clock.now();
    if (open === undefined) return ms;
    const { askedAt = now } = open;
    const until = askedAt + ms;
    open.wait = { on: { ...reason, until }, since: now };
    record.journal?.waits(open.message.id, askedAt);
    record.onProgress?.();
    return Math.max(0, until - now);
  }

  get timeoutMs(): number {
    return this.record.plugin.timeoutMs;
  }

  get hosts(): FetchGrants {
    return this.record.plugin.grants.hosts;
  }

  spender(relayerId: string): SpendingPlugin | undefined {
    return this.record.plugin.grants.spender(relayerId);
  }

  maySend(relayerId: string): boolean {
    return this.record.plugin.grants.refusal({ relayer: relayerId, right: 'send' }) === undefined;
  }
}

function journalFull(): AppError<'JOURNAL_FULL'> {
  return new AppError('JOURNAL_FULL', { limit: `${MAX_STEPS} answers or ${MAX_JOURNAL_BYTES} bytes` });
}

function fieldOf(payload: Json, name: string): Json | undefined {
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload[name] : undefined;
}

function notStored(cause: unknown): AppError<'UNAVAILABLE'> {
  const reason = 'What an effect of this request came to could not be stored; repeat it with the same Idempotency-Key';
  return new AppError('UNAVAILABLE', { reason }, { cause, retryAfterSeconds: 1 });
}

/** A hash that tells effects apart. Two spellings of the same payload have the same hash. */
export function payloadHash(method: string, payload: unknown): string {
  return hash('sha256', `${method}\n${canonicalJson(payload)}`);
}

function refuse(message: string): CapabilityReply {
  return { ok: false, error: { message } };
}

function refused(method: string, message: string): CallAnswer {
  return { method, result: 'refused', reply: refuse(message) };
}

/** The relayer's id in a payload that was not understood. Only readers of the trace see it. */
function relayerNamedIn(params: unknown): string {
  const named: unknown = typeof params === 'object' && params !== null && 'relayerId' in params ? params.relayerId : '';
  return typeof named === 'string' ? named.slice(0, MAX_RELAYER) : '';
}

/** The first error in a payload, with its place. */
function reasonOf(error: unknown): string {
  if (error instanceof TooLarge) return error.message;
  if (!(error instanceof ZodError)) throw error;
  const issue = error.issues[0];
  if (issue === undefined) return 'not understood';
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}

/** Quotes a guest's text in a message of the service: shortened, on one line. */
function quoted(text: string): string {
  return JSON.stringify(String(text).slice(0, 64));
}

/** Thrown when a value is larger than what may cross to the guest or come from it. */
export class TooLarge extends Error {
  constructor(limit: number) {
    super(`larger than ${limit} bytes`);
    this.name = 'TooLarge';
  }
}

/**
 * A service's answer as plain JSON for the guest. Integers beyond 2^53 become decimal strings; absent fields are left
 * out.
 * @throws TooLarge when its JSON text would exceed about `limit` bytes
 */
export function toGuestValue(wire: WireValue, limit: number): Json {
  return plain(wire, new Budget(limit));
}

/**
 * Checks the size of a guest's value without writing its JSON text.
 * @throws TooLarge
 */
export function assertSize(value: Json, limit: number): void {
  measure(value, new Budget(limit));
}

class Budget {
  private left: number;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
    this.left = limit;
  }

  take(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) throw new TooLarge(this.limit);
  }
}

function plain(wire: WireValue, budget: Budget): Json {
  if (typeof wire === 'bigint') {
    const number = Number(wire);
    budget.take(8);
    return Number.isSafeInteger(number) ? number : wire.toString();
  }
  if (Array.isArray(wire)) {
    budget.take(2);
    return wire.map((item) => plain(item, budget));
  }
  if (typeof wire === 'object' && wire !== null) {
    const result: { [key: string]: Json } = {};
    for (const [key, value] of Object.entries(wire)) {
      if (value === undefined) continue;
      budget.take(Buffer.byteLength(key) + 4);
      define(result, key, plain(value, budget));
    }
    return result;
  }
  const value = wire ?? null;
  measure(value, budget);
  return value;
}

function measure(value: Json, budget: Budget): void {
  if (typeof value === 'string') budget.take(Buffer.byteLength(value) + 2);
  else if (typeof value !== 'object' || value === null) budget.take(8);
  else if (Array.isArray(value)) {
    budget.take(2);
    for (const item of value) measure(item, budget);
  } else {
    for (const [key, item] of Object.entries(value)) {
      budget.take(Buffer.byteLength(key) + 4);
      measure(item, budget);
    }
  }
}

/** A node may answer with a key named `__proto__`; plain assignment would change the object's prototype instead. */
function define(target: { [key: string]: Json }, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else target[key] = value;
}
