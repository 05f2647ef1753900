import { randomBytes } from 'node:crypto';
import { AppError } from '../../domain/errors.ts';
import type { Json, WireObject } from '../../domain/json/json.ts';
import { JsonTextError, parseJson } from '../../domain/json/json-text.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { PluginEntry } from '../plugins/records/plugin.ts';
import { changeSettingsOnce } from '../resource.ts';
import { type DeclaredTrigger, decideRate } from './decide.ts';
import { digestOf, insertFiring, keyIdOf, stateOf } from './firing.ts';
import { kindOf, nextMoment, type Trigger } from './records/trigger.ts';
import type { TriggerState } from './records/trigger-state.ts';
import { type IncomingWebhook, verifyWebhook } from './signature.ts';

/** Triggers of plugins as clients see them, and what clients do with them. */
export interface TriggersService {
  /** The triggers of a plugin, as `GET /plugins/{id}` shows them. */
  views(plugin: PluginEntry): Promise<WireObject[]>;
  /** Makes a call now, also while the trigger is paused. `TRIGGER_NOT_FOUND`. */
  fire(plugin: PluginEntry, name: string, event: Json | undefined, by: Caller): Promise<WireObject>;
  pause(plugin: PluginEntry, name: string, by: Caller): Promise<WireObject>;
  /** A schedule goes on with the next moment; events go on with those that came meanwhile, as far as they are kept. */
  resume(plugin: PluginEntry, name: string, by: Caller): Promise<WireObject>;
  /**
   * Makes a call for a webhook, once for each delivery. `WEBHOOK_REFUSED` before anything else is done; then
   * `TRIGGER_PAUSED`, `TOO_MANY_REQUESTS`, `UNAVAILABLE`.
   */
  receive(pluginId: string, name: string, hook: ReceivedWebhook): Promise<WireObject>;
}

export interface ReceivedWebhook extends IncomingWebhook {
  /** What the plugin sees of the headers. */
  headers: Record<string, string>;
}

export interface TriggersDeps {
  store: Store;
  /** The plugins as they are declared now. */
  declared(): readonly PluginEntry[];
  /** @throws Error when the variable is not set */
  secret(reference: NonNullable<Trigger['secret']>): string;
  /** Takes up new calls. */
  calls: { wake(): void };
  /** Called after each change of where a trigger stands. */
  changed(): void;
  newId(): string;
  metrics: Metrics;
}

/** More JSON values in a webhook are passed on as a text. */
const MAX_VALUES = 20_000;
/** A signature of an unknown hook takes as long to refuse as one of a known hook. */
const NO_SECRET = randomBytes(32).toString('hex');

export function createTriggersService(deps: TriggersDeps): TriggersService {
  const { store, declared, calls, changed, newId, metrics } = deps;

  function view({ trigger }: DeclaredTrigger, state: TriggerState | undefined): WireObject {
    const kind = kindOf(trigger);
    const from = state?.cursor.kind === 'moment' ? state.cursor.at : undefined;
    const next = from === undefined || state?.paused != null ? undefined : nextMoment(trigger, from);
    return {
      name: trigger.name,
      kind,
      cron: trigger.cron ?? null,
      time_zone: trigger.cron === undefined ? null : (trigger.time_zone ?? 'UTC'),
      every: trigger.every ?? null,
      state: state?.paused == null ? 'active' : state.paused === 'person' ? 'paused' : 'paused-by-throws',
      next_at: next === undefined ? null : wireTime(next),
      last_call: state?.lastCall ?? null,
      last_at: state?.lastAt == null ? null : wireTime(state.lastAt),
      fired: state?.fired ?? 0,
      skipped: state?.skipped ?? 0,
    };
  }

  /** Changes where a trigger stands, with its audit record. */
  async function change(
    plugin: PluginEntry,
    name: string,
    by: Caller,
    action: 'fire' | 'pause' | 'resume',
    make: (state: TriggerState) => TriggerState,
    event?: Json,
  ): Promise<WireObject> {
    const one = find(plugin, name);
    const now = await store.now();
    const known = await stateOf(one, await store.read.trigger(plugin.id, name), store.read, now);
    const id = newId();
    const { made } = await changeSettingsOnce(store, by, async (writer) => {
      const before = (await writer.trigger(plugin.id, name)) ?? known;
      let after = make(before.digest === digestOf(one.trigger) ? before : known);
      if (action === 'fire') {
        const firing = { id, key: `fire/${id}`, at: now, depth: 1, ...(event !== undefined && { event }) };
        after = (await insertFiring(writer, one, after, firing)) ?? after;
      }
      await writer.putTrigger(after);
      const shown = { trigger: name };
      const audit = {
        ...({ action, resource: 'plugin', resourceId: plugin.id } as const),
        before: { ...shown, paused: before.paused, fired: before.fired },
        after: { ...shown, paused: after.paused, fired: after.fired, ...(action === 'fire' && { call: id }) },
      };
      return { outcome: action === 'fire' ? { call_id: id } : (view(one, after) as Json), audit };
    });
    changed();
    if (action === 'fire') {
      metrics.count('trigger_firings', { plugin_id: plugin.id, trigger: name });
      calls.wake();
    }
    return made.outcome as WireObject;
  }

  function find(plugin: PluginEntry, name: string): DeclaredTrigger {
    const trigger = plugin.triggers?.find((one) => one.name === name);
    if (trigger === undefined) throw new AppError('TRIGGER_NOT_FOUND', { id: plugin.id, name });
    return { plugin, trigger };
  }

  /** The hook, and the marks of a delivery that has its right signature. */
  async function verified(pluginId: string, name: string, hook: ReceivedWebhook) {
    const plugin = declared().find(({ id }) => id === pluginId);
    const trigger = plugin?.triggers?.find((one) => one.name === name && one.on === 'webhook');
    const secret = trigger?.secret === undefined ? NO_SECRET : deps.secret(trigger.secret);
    const marks = verifyWebhook(hook, secret, await store.now());
    return plugin === undefined || trigger === undefined || marks === undefined
      ? undefined
      : { plugin, trigger, marks };
  }

  return {
    async views(plugin) {
      const states = new Map((await store.read.triggersOf(plugin.id)).map((state) => [state.name, state]));
      return (plugin.triggers ?? []).map((trigger) => {
        const state = states.get(trigger.name);
        return view({ plugin, trigger }, state?.digest === digestOf(trigger) ? state : undefined);
      });
    },

    fire: (plugin, name, event, by) => change(plugin, name, by, 'fire', (state) => state, event),

    pause: (plugin, name, by) => change(plugin, name, by, 'pause', (state) => ({ ...state, paused: 'person' })),

    async resume(plugin, name, by) {
      const now = await store.now();
      return await change(plugin, name, by, 'resume', (state) => {
        if (state.paused === null) return state;
        const cursor = state.cursor.kind === 'moment' ? ({ kind: 'moment', at: now } as const) : state.cursor;
        return { ...state, paused: null, since: now, lookedAt: now, cursor };
      });
    },

    async receive(pluginId, name, hook) {
      const count = (result: string) => metrics.count('trigger_webhooks', { result });
      const found = await verified(pluginId, name, hook);
      if (found === undefined) {
        count('refused');
        throw new AppError('WEBHOOK_REFUSED', {});
      }
      const { marks, ...one } = found;
      const now = await store.now();
      const known = await stateOf(one, await store.read.trigger(pluginId, name), store.read, now);
      const id = newId();
      const receive = async (writer: StoreWriter) => {
        const state = (await writer.trigger(pluginId, name)) ?? known;
        if (state.paused !== null) return 'paused';
        // The first mark is of what is signed. A known one leaves no other mark behind.
        for (const mark of marks) if (!(await writer.insertTriggerDelivery(keyIdOf(one), mark))) return 'repeated';
        const rate = decideRate(one.trigger, state.rateAt, now);
        // Undoes the marks: the sender may deliver it again.
        if (!rate.isAllowed)
          throw new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: Math.ceil(rate.inMs / 1000) });
        const event = { headers: hook.headers, body: contentOf(hook.body) };
        const made = await insertFiring(writer, one, state, { id, key: `hook/${id}`, at: now, depth: 1, event });
        await writer.putTrigger({ ...(made ?? state), lookedAt: now, rateAt: rate.rateAt });
        return 'called';
      };
      const outcome = await store.write(receive).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'TOO_MANY_REQUESTS') count('limited');
        throw error;
      });
      count(outcome);
      if (outcome === 'paused') throw new AppError('TRIGGER_PAUSED', { id: pluginId, name });
      if (outcome === 'repeated') return { accepted: true, repeated: true };
      metrics.count('trigger_firings', { plugin_id: pluginId, trigger: name });
      calls.wake();
      return { accepted: true, repeated: false };
    },
  };
}

/** What a webhook says: its JSON, or else its text. */
function contentOf(body: Uint8Array): Json {
  const text = new TextDecoder().decode(body);
  try {
    return parseJson(text, 'plain', MAX_VALUES) as Json;
  } catch (error) {
    if (error instanceof JsonTextError || error instanceof AppError) return text;
    throw error;
  }
}
