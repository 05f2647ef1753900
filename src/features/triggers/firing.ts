import { hash } from 'node:crypto';
import type { Json } from '../../domain/json/json.ts';
import { canonicalJson, memoizePerObject } from '../../domain/json/json.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { NewCall } from '../calls/record.ts';
import { lifetimeOf, type PluginEntry } from '../plugins/records/plugin.ts';
import type { Timestamp } from '../transactions/records/transaction.ts';
import type { DeclaredTrigger } from './decide.ts';
import { kindOf, type Trigger } from './records/trigger.ts';
import { type TriggerCursor, type TriggerState, triggerKeyId } from './records/trigger-state.ts';

/** A call that a trigger makes. Its key is unique for the trigger: the moment, or the event. */
export interface Firing {
  id: string;
  key: string;
  /** Of which moment, or when. */
  at: Timestamp;
  depth: number;
  /** From when on it may have been made, where that is before `at`: a database that was put back makes it again. */
  since?: Timestamp | undefined;
  event?: Json;
}

/** The triggers of all plugins. */
export function declaredTriggers(plugins: readonly PluginEntry[]): DeclaredTrigger[] {
  return plugins.flatMap((plugin) => (plugin.triggers ?? []).map((trigger) => ({ plugin, trigger })));
}

export function keyIdOf({ plugin, trigger }: DeclaredTrigger): string {
  return triggerKeyId(plugin.id, trigger.name);
}

/** What tells a trigger from another one that had its name: at what it fires. */
export const digestOf = memoizePerObject(
  ({ name: _, params: __, missed: ___, at_most: ____, secret: _____, ...when }: Trigger): string =>
    hash('sha256', canonicalJson(when)),
);

/**
 * Where a declared trigger stands. A new one, and one that fires at something else than what is stored, begins from now.
 * What a person or its throws have paused stays so.
 */
export async function stateOf(
  { plugin, trigger }: DeclaredTrigger,
  stored: TriggerState | undefined,
  read: Pick<Store['read'], 'latestTransactionEvent'>,
  now: Timestamp,
): Promise<TriggerState> {
  const digest = digestOf(trigger);
  if (stored?.digest === digest) return stored;
  const never = { paused: null, lastCall: null, lastAt: null, fired: 0, skipped: 0, rateAt: 0 };
  return {
    ...(stored ?? { ...never, pluginId: plugin.id, name: trigger.name }),
    digest,
    cursor: await cursorFor(trigger, read, now),
    since: now,
    lookedAt: now,
  };
}

async function cursorFor(
  trigger: Trigger,
  read: Pick<Store['read'], 'latestTransactionEvent'>,
  now: Timestamp,
): Promise<TriggerCursor> {
  switch (kindOf(trigger)) {
    case 'cron':
    case 'every':
      return { kind: 'moment', at: now };
    case 'transaction':
      return { kind: 'place', ...(await read.latestTransactionEvent()) };
    case 'balance':
      return { kind: 'low', relayers: [] };
    case 'webhook':
      return { kind: 'none' };
  }
}

/**
 * Inserts the call of a firing, in the commit that moves the trigger's cursor.
 * @returns the state with the call; undefined when there is a call for it already
 */
export async function insertFiring(
  writer: StoreWriter,
  { plugin, trigger }: DeclaredTrigger,
  state: TriggerState,
  { id, key, at, depth, since, event }: Firing,
): Promise<TriggerState | undefined> {
  const params = trigger.params ?? {};
  const call: NewCall = {
    id,
    pluginId: plugin.id,
    keyId: keyIdOf({ plugin, trigger }),
    key,
    fingerprint: hash('sha256', canonicalJson({ params, event: event ?? null })),
    version: null,
    request: {
      ...{ method: 'POST', route: '', params, headers: {}, query: {}, requestId: id },
      ...(event !== undefined && { event }),
    },
    trigger: { name: trigger.name, at, depth, ...(since !== undefined && { since }) },
    lifetimeMs: lifetimeOf(plugin),
  };
  if (!(await writer.insertCall(call))) return undefined;
  return { ...state, lastCall: id, lastAt: at, fired: state.fired + 1 };
}
