import { AppError, invalidRequest } from '../../domain/errors.ts';
import { type JournalPage, journalOf, type KeyedEffectName } from '../../domain/idempotency.ts';
import type { Json, WireObject } from '../../domain/json/json.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import { changeSettingsOnce } from '../resource.ts';
import { versionSchema } from './bundles.ts';
import { type CallEnding, type CallFilter, type CallRecord, MAX_EVENT_BYTES, MAX_EVENTS } from './record.ts';
import { configTexts, replayRecordOf } from './replay-record.ts';

/** What runs calls on this instance. */
export interface CallRuns {
  /** A call may be due. */
  wake(): void;
  /** A call was ended by a client. */
  stopped(callId: string): void;
  /** A call was sent an event. */
  sent(callId: string): void;
}

/** The durable calls of plugins, for clients. Each method is 404 for a call of another plugin. */
export interface CallsService {
  list(pluginId: string, page: PageRequest, filter: CallFilter): Promise<Page<WireObject>>;
  get(pluginId: string, callId: string): Promise<WireObject>;
  /** What the call heard, for a replay. Values of granted environment entries are redacted. */
  record(pluginId: string, callId: string): Promise<WireObject>;
  /** Ends a call that is open. */
  cancel(pluginId: string, callId: string, by: Caller): Promise<WireObject>;
  /** Runs a call that did not return again, from its last effect on. */
  retry(pluginId: string, callId: string, lifetimeMs: number, by: Caller): Promise<WireObject>;
  /** Sends a value to a call, which waits for the name or will. */
  send(pluginId: string, callId: string, event: { name: string; value: Json }, by: Caller): Promise<WireObject>;
  /** Takes up new calls. */
  wake(): void;
  /** Has the calls run from now on. */
  attach(runs: CallRuns): void;
}

/** A call as answers show it. */
export function callView(call: CallRecord): WireObject {
  const { ending, trigger } = call;
  return {
    id: call.id,
    plugin_id: call.pluginId,
    key: call.key,
    key_id: call.keyId,
    state: call.state,
    waits_for: call.waitsFor.map((wait) => ({
      kind: wait.kind,
      name: wait.kind === 'event' ? wait.name : wait.kind === 'plugin' ? wait.reason : null,
      transaction_id: wait.kind === 'transaction' ? wait.id : null,
      until: wireTime(wait.until),
    })),
    tries: call.tries,
    version: call.version,
    trigger: trigger && { name: trigger.name, at: wireTime(trigger.at) },
    created_at: wireTime(call.createdAt),
    expires_at: wireTime(call.expiresAt),
    ended_at: call.endedAt === null ? null : wireTime(call.endedAt),
    answer: ending !== null && 'returned' in ending ? (JSON.parse(ending.returned) as Json) : null,
    error: ending !== null && 'error' in ending ? errorView(ending.error) : null,
  };
}

function errorView({ code, message, status, details }: Extract<CallEnding, { error: unknown }>['error']): WireObject {
  return { code, message, status, details: details === undefined ? null : (JSON.parse(details) as Json) };
}

/** The ends that clients and the service make. */
export const CANCELED: CallEnding = {
  error: { code: 'CALL_CANCELED', message: 'The call was canceled', status: 409 },
};
export const EXPIRED: CallEnding = {
  error: { code: 'CALL_EXPIRED', message: 'The lifetime of the call was over (limits.lifetime)', status: 504 },
};

export function createCallsService(store: Store): CallsService {
  let runs: CallRuns | undefined;

  async function find(pluginId: string, callId: string): Promise<CallRecord> {
    const call = await store.read.call(callId);
    if (call === undefined || call.pluginId !== pluginId) throw new AppError('CALL_NOT_FOUND', { id: callId });
    return call;
  }

  /** Changes a call once, and notes who did. */
  async function change(
    pluginId: string,
    callId: string,
    by: Caller,
    action: 'cancel' | 'resume' | 'send',
    body: (writer: StoreWriter) => Promise<void>,
  ): Promise<void> {
    await changeSettingsOnce(store, by, async (writer) => {
      await body(writer);
      const about = { action, resource: 'plugin', resourceId: pluginId } as const;
      return { outcome: null, audit: { ...about, before: null, after: { call: callId } } };
    });
  }

  const viewOf = async (pluginId: string, callId: string) => callView(await find(pluginId, callId));

  return {
    async list(pluginId, page, filter) {
      const { items, total } = await store.read.calls(pluginId, page, filter);
      return { items: items.map(callView), total };
    },

    get: viewOf,

    async record(pluginId, callId) {
      const call = await find(pluginId, callId);
      const journal = journalOf(await store.read.journal(callId));
      if (journal === undefined) throw invalidRequest('the call has heard nothing that is stored');
      const { start, deliveries } = journal;
      const bundle = await store.read.bundle(start.version);
      if (bundle === undefined)
        throw invalidRequest('the version of the call is not stored, which says what is secret');
      const { env } = versionSchema.parse(JSON.parse(bundle));
      const { config } = JSON.parse(start.context) as { config?: Json };
      return replayRecordOf(call.pluginId, start, deliveries, call.ending, { ...env, ...configTexts(config) });
    },

    async cancel(pluginId, callId, by) {
      await find(pluginId, callId);
      await change(pluginId, callId, by, 'cancel', async (writer) => {
        if (!(await writer.stopCall(callId, 'canceled', CANCELED))) throw invalidRequest('the call has ended');
      });
      runs?.stopped(callId);
      return await viewOf(pluginId, callId);
    },

    async retry(pluginId, callId, lifetimeMs, by) {
      await find(pluginId, callId);
      await change(pluginId, callId, by, 'resume', async (writer) => {
        const done: KeyedEffectName[] = [];
        const refused: KeyedEffectName[] = [];
        for (const name of await writer.effectNames(callId)) {
          const effect = await writer.effect({ claim: { id: callId, token: 0 }, ...name, isStep: true });
          (effect?.failure === undefined ? done : refused).push(name);
        }
        const kept = untilLastEffect(journalOf(await writer.journal(callId)), done, refused);
        if (await writer.retryCall(callId, { lifetimeMs, ...kept })) return;
        throw invalidRequest('only a call that threw, expired or was canceled can be tried again');
      });
      runs?.wake();
      return await viewOf(pluginId, callId);
    },

    async send(pluginId, callId, event, by) {
      if (Buffer.byteLength(JSON.stringify(event.value)) > MAX_EVENT_BYTES) {
        throw invalidRequest(`an event has at most ${MAX_EVENT_BYTES} bytes of JSON`);
      }
      await find(pluginId, callId);
      await change(pluginId, callId, by, 'send', async (writer) => {
        const stored = await writer.insertCallEvent(callId, event);
        if (stored === 'ended') throw invalidRequest('the call has ended');
        if (stored === 'full') throw invalidRequest(`a call takes at most ${MAX_EVENTS} events`);
      });
      runs?.sent(callId);
      return await viewOf(pluginId, callId);
    },

    wake: () => runs?.wake(),

    attach(attached) {
      runs = attached;
    },
  };
}

/** The journal up to the last effect that happened, and the refusals after it. */
function untilLastEffect(
  journal: ReturnType<typeof journalOf>,
  done: readonly KeyedEffectName[],
  refused: readonly KeyedEffectName[],
): { keepUpTo: JournalPage | undefined; forget: KeyedEffectName[] } {
  const { deliveries = [] } = journal ?? {};
  const effects = new Set(done.map(({ occurrence }) => occurrence));
  const last = deliveries.findLastIndex(({ request }) => effects.has(request));
  // An effect that happened and was not heard of may depend on all that was.
  const isAllHeard = effects.isSubsetOf(new Set(deliveries.map(({ request }) => request)));
  const kept = isAllHeard ? deliveries.slice(0, last + 1) : deliveries;
  const heard = new Set(kept.map(({ request }) => request));
  const forget = refused.filter(({ occurrence }) => !heard.has(occurrence));
  return { keepUpTo: journal && { start: journal.start, deliveries: kept }, forget };
}
