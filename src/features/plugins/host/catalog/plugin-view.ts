import type { HourUsage, ProcessUse } from '../../../../../sandbox/host/sandbox.ts';
import type { Clock } from '../../../../domain/clock.ts';
import type { WireObject } from '../../../../domain/json/json.ts';
import type { Page, PageRequest } from '../../../../domain/page.ts';
import { wireTime } from '../../../../domain/wire-time.ts';
import { type PluginEntry, relayerGrantSchema } from '../../records/plugin.ts';
import { settingsView } from '../../records/plugin-settings.ts';
import { hasBudget } from '../../records/spending.ts';
import { type PluginGrants, readPluginGrants } from '../capabilities/grants.ts';
import type { PluginBooks } from '../plugin-host.ts';
import { hostRefusal, MAX_SHOWN_NAMES } from './fetch-hosts.ts';
import type { CatalogPlugin } from './known-plugin.ts';
import { type ServingVersion, stateOf } from './version-swap.ts';

export interface PluginViewsDeps {
  books: PluginBooks;
  plugins: () => readonly ShownPlugin[];
  /** The usage of the plugin's calls within the last hour. */
  lastHour: (pluginId: string) => HourUsage;
  /** The plugin's processes. */
  uses: (pluginId: string) => readonly ProcessUse[];
  /** How many calls of the plugin run and wait. */
  load: (pluginId: string) => { running: number; queued: number };
  backOff: (pluginId: string) => { reason: string; leftMs: number } | undefined;
  clock: Clock;
}

/** A plugin as the catalog has it. */
export interface ShownPlugin extends CatalogPlugin {
  /** Since when its newest version does not serve, in milliseconds since the epoch. */
  failedAt: number | undefined;
}

/**
 * Plugins as `GET /plugins` shows them, with their entries and their present state. Values of `config` and of the
 * environment are never shown.
 */
export class PluginViews {
  private readonly deps: PluginViewsDeps;

  constructor(deps: PluginViewsDeps) {
    this.deps = deps;
  }

  /** Plugins, sorted by id. With `among`: only the plugins with these ids. */
  async list({ page, perPage }: PageRequest, among?: readonly string[]): Promise<Page<WireObject>> {
    const all = this.deps.plugins();
    const plugins = among === undefined ? all : all.filter(({ entry }) => among.includes(entry.id));
    const shown = plugins.slice((page - 1) * perPage, page * perPage);
    return { items: await Promise.all(shown.map((plugin) => this.view(plugin))), total: plugins.length };
  }

  async get(id: string): Promise<WireObject | undefined> {
    const plugin = this.deps.plugins().find(({ entry }) => entry.id === id);
    return plugin && (await this.view(plugin));
  }

  private async view(plugin: ShownPlugin): Promise<WireObject> {
    const { books, clock, lastHour, uses, load, backOff } = this.deps;
    const { entry, serving, failure, failedAt } = plugin;
    const { id } = entry;
    const away = backOff(id);
    const processes = uses(id);
    const [kvUsage, permissions, triggers] = await Promise.all([
      books.kvUsage(id),
      permissionsView(entry, books),
      entry.triggers === undefined ? [] : books.triggers(entry),
    ]);
    return {
      id,
      path: entry.path,
      ...settingsView(entry),
      isolation: entry.isolation,
      durable: entry.durable,
      enabled: !plugin.isDisabled,
      state: away === undefined ? stateOf(plugin) : 'backing-off',
      version: serving === undefined ? null : { hash: serving.version.version, since: wireTime(serving.since) },
      error:
        failure === undefined
          ? null
          : {
              code: failure.code,
              message: failure.message,
              file: failure.details?.['file'] ?? null,
              line: failure.details?.['line'] ?? null,
              column: failure.details?.['column'] ?? null,
              since: failedAt === undefined ? null : wireTime(failedAt),
            },
      back_off:
        away === undefined ? null : { reason: away.reason, until: wireTime(Math.ceil(clock.now() + away.leftMs)) },
      reads: serving === undefined ? null : readsView(entry, serving, readPluginGrants(entry)),
      permissions,
      triggers,
      limits: { ...entry.limits },
      kv_usage: { ...kvUsage },
      now: {
        processes: processes.length,
        isolates: sum(processes, ({ isolates }) => isolates),
        resident_bytes: sum(processes, ({ residentBytes }) => residentBytes),
        calls_running: load(id).running,
        calls_queued: load(id).queued,
      },
      last_hour: hourView(lastHour(id)),
    };
  }
}

/** What a plugin may do; `*` stands for every relayer. */
async function permissionsView(entry: PluginEntry, books: PluginBooks): Promise<WireObject> {
  const { permissions } = entry;
  if (permissions === undefined) {
    return { relayers: { '*': { methods: [...relayerGrantSchema.options] } }, hosts: [], env: [], kv: true };
  }
  const grants = readPluginGrants(entry);
  const relayers = await Promise.all(
    Object.entries(permissions.relayers).map(async ([relayerId, permission]) => {
      const caveats = grants.spender(relayerId)?.caveats;
      const given = Object.entries(permission).map(([key, value]) => [key, isAmount(value) ? String(value) : value]);
      const view: WireObject = Object.fromEntries(given);
      if (caveats === undefined || !hasBudget(caveats)) return [relayerId, view] as const;
      const { value, fee } = await books.spentLastHour(entry.id, relayerId);
      return [relayerId, { ...view, last_hour: { value: value.toString(), fee: fee.toString() } }] as const;
    }),
  );
  const { hosts, env, kv } = permissions;
  return { relayers: Object.fromEntries(relayers), hosts: hosts.map((host) => ({ ...host })), env, kv };
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** What the code reads and fetches. When a grant is missing, `missing` is the line that adds it. */
function readsView({ id, permissions }: PluginEntry, { reads }: ServingVersion, grants: PluginGrants): WireObject {
  return {
    environment: reads.environment.slice(0, MAX_SHOWN_NAMES).map((name) => {
      const granted = permissions?.env.includes(name) === true;
      const line = `add ${JSON.stringify(name)} to permissions.env of plugin ${id} in config.json`;
      return { name, granted, missing: granted ? null : line };
    }),
    fetches: reads.fetches,
    hosts: reads.hosts.slice(0, MAX_SHOWN_NAMES).map((host) => {
      const missing = hostRefusal(host, grants.hosts) ?? null;
      return { host, granted: missing === null, missing };
    }),
    more: Math.max(reads.environment.length, reads.hosts.length) > MAX_SHOWN_NAMES,
  };
}

function hourView(hour: HourUsage): WireObject {
  return {
    since: wireTime(Math.round(hour.since)),
    calls: hour.calls,
    outcomes: Object.fromEntries([...hour.outcomes].sort(([a], [b]) => (a < b ? -1 : 1))),
    cpu_ms: Math.round(hour.cpuMs * 1000) / 1000,
    heap_peak_bytes: hour.heapPeakBytes,
    capability_calls: hour.capabilityCalls,
    bytes_in: hour.bytesIn,
    bytes_out: hour.bytesOut,
  };
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
