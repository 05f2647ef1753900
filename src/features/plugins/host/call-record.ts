import { CallTable } from '../../../../sandbox/host/sandbox.ts';
import type { AppError } from '../../../domain/errors.ts';
import type { KvCaller, KvQuota } from '../records/kv.ts';
import type { CallInbox } from './call-inbox.ts';
import type { RunJournal } from './call-journal.ts';
import type { PluginGrants } from './capabilities/grants.ts';
import { HeldLocks } from './capabilities/held-locks.ts';
import type { OpenCall } from './open-calls.ts';
import { Traces } from './trace.ts';

/** The facts of a plugin by which the gateway decides. */
export interface CallingPlugin {
  readonly id: string;
  readonly grants: PluginGrants;
  /** Capability calls that one plugin call may make. */
  readonly maxCalls: number;
  readonly kvQuota: KvQuota;
  /** The longest that one plugin call lasts, in milliseconds. */
  readonly timeoutMs: number;
}

/** One run of a plugin call in a child. Identity is looked up here, never taken from the guest. */
export class CallRecord {
  readonly call: number;
  readonly child: number;
  readonly plugin: CallingPlugin;
  /** The HTTP request that made the call. */
  readonly requestId: string;
  readonly callerKeyId: string;
  /** How many triggers led to the call; undefined: none. */
  readonly depth: number | undefined;
  readonly since: number | undefined;
  /** A hash of what the request asks for. Different requests have different hashes. */
  readonly fingerprint: () => string;
  /** What all runs of the call have in common, when it is durable or its request has an idempotency key. */
  readonly journal: RunJournal | undefined;
  /** The events that the call is sent, when it is durable. */
  readonly inbox: CallInbox | undefined;
  readonly traces = new Traces();
  readonly locks = new HeldLocks();
  /** Capability calls without an answer, in the order in which they were made. */
  readonly open = new Set<OpenCall>();
  /** Capability calls made so far, without timers. */
  requests = 0;
  /** Timers of the guest that the host keeps. */
  timers = 0;
  /** True from just before the first capability call that may change something. */
  hadEffect = false;
  /** True once a capability call was refused. */
  wasRefused = false;
  ended = false;
  /** True when the call brought down its process. */
  isCulprit = false;
  /** Called when a capability call is made, begins to wait, or is answered. */
  onProgress: (() => void) | undefined;
  /** The error that ends the call, whatever its plugin does. */
  failure: AppError | undefined;
  /** Ends the guest's side of the call. */
  onFailure: (() => void) | undefined;
  private abort: AbortController | undefined;

  constructor(
    given: Pick<CallRecord, 'call' | 'child' | 'plugin' | 'requestId' | 'callerKeyId' | 'fingerprint'> & {
      journal?: RunJournal | undefined;
      inbox?: CallInbox | undefined;
      depth?: number | undefined;
      since?: number | undefined;
    },
  ) {
    this.call = given.call;
    this.child = given.child;
    this.plugin = given.plugin;
    this.requestId = given.requestId;
    this.callerKeyId = given.callerKeyId;
    this.depth = given.depth;
    this.since = given.since;
    this.fingerprint = given.fingerprint;
    this.journal = given.journal;
    this.inbox = given.inbox;
  }

  /** The identity under which the call changes its plugin's values now. */
  get kvCaller(): KvCaller {
    return { pluginId: this.plugin.id, quota: this.plugin.kvQuota, locks: this.locks.all };
  }

  /** Ends the call with an error of the service in place of the plugin's answer. The first error counts. */
  fail(error: AppError): void {
    this.failure ??= error;
    this.onFailure?.();
  }

  /** Aborted when the call ends; made on first use, since most calls never need it. */
  get signal(): AbortSignal {
    this.abort ??= new AbortController();
    if (this.ended) this.abort.abort();
    return this.abort.signal;
  }

  end(): void {
    this.ended = true;
    this.abort?.abort();
    this.locks.end();
    this.journal?.end();
  }
}

/** The calls that are running, by the number that frames and messages carry. */
export class RunningCalls {
  private readonly records = new CallTable<CallRecord>();
  private last = 0;

  get size(): number {
    return this.records.size;
  }

  /** Starts a record under a number that no running call has; 0 means "no call" on the wire. */
  begin(given: Omit<ConstructorParameters<typeof CallRecord>[0], 'call'>): CallRecord {
    do this.last = this.last >= 0xffff_ffff ? 1 : this.last + 1;
    while (this.records.has(this.last));
    const record = new CallRecord({ ...given, call: this.last });
    this.records.set(record.call, record);
    return record;
  }

  /** The running call with this number in this child. */
  find(child: number, call: number): CallRecord | undefined {
    const record = this.records.get(call);
    return record?.child === child ? record : undefined;
  }

  /** Ends a call: each further capability call of it is refused. Safe to call twice. */
  end(record: CallRecord): void {
    record.end();
    this.records.delete(record.call);
  }
}
