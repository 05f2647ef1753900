import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { PluginFolder } from '../../sandbox/test/support/plugin-folder.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createPluginHost, type PluginHostDeps } from '../../src/features/plugins/host/create-plugin-host.ts';
import type {
  PluginBooks,
  PluginHost,
  PluginRequest,
  PluginSurroundings,
} from '../../src/features/plugins/host/plugin-host.ts';
import { pluginEntrySchema } from '../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../src/observability/log.ts';
import { PluginServices } from './plugin-services.ts';
import { RecordedMetrics } from './recorded-metrics.ts';

/** Plugin books in memory. They return what was stored. */
class FakeBooks implements PluginBooks {
  kvUsage = async () => ({ keys: 2, bytes: 30 });
  spentLastHour = async () => ({ value: 5n, fee: 2n ** 70n });
  triggers = async () => [];
}

export interface RunningHost {
  host: PluginHost;
  services: PluginServices;
  metrics: RecordedMetrics;
  folder: PluginFolder;
  /** All log lines so far. */
  log(): string;
  call(id: string, params?: unknown, more?: Partial<PluginRequest>, signal?: AbortSignal): Promise<HostAnswer>;
  close(): Promise<void>;
}

/** A call's answer with its body parsed. */
export interface HostAnswer {
  status: number;
  // Tests read bodies of many shapes; what is not there is undefined and fails the comparison.
  body: ReturnType<typeof JSON.parse>;
  text: string;
  retryAfter?: number;
}

export interface HostOptions extends Partial<Omit<PluginHostDeps, 'entries'> & PluginSurroundings> {
  files?: Record<string, string>;
  entries?: (Partial<z.input<typeof pluginEntrySchema>> & { id: string })[];
  /** Called with the host before it starts. */
  beforeStart?: (host: PluginHost) => void;
}

/** The parts of a host that runs the plugins of a folder. */
export function hostDeps(pluginsDir: string): PluginHostDeps {
  return {
    entries: [],
    pluginsDir,
    sandboxDir: resolve(import.meta.dirname, '../../sandbox'),
    environment: () => undefined,
    log: createLog('silent'),
    metrics: new RecordedMetrics(),
    clock: systemClock,
    seed: () => '5'.repeat(64),
    uuid: randomUUID,
    maxProcesses: 4,
    mostThreads: 1,
    watch: { debounceMs: 20, pollMs: 250 },
  };
}

/** A plugin host with real threads and children, over services in memory. */
export async function startPluginHost({
  files = {},
  entries = [],
  beforeStart,
  ...given
}: HostOptions = {}): Promise<RunningHost> {
  const folder = new PluginFolder(files);
  const services = new PluginServices();
  const metrics = new RecordedMetrics();
  const lines: string[] = [];
  const { services: others, books = new FakeBooks(), settings, durable, ...deps } = given;
  const host = createPluginHost({
    ...hostDeps(folder.path),
    entries: entries.map((entry) => pluginEntrySchema.parse({ path: `${entry.id}.ts`, ...entry })),
    log: createLog('debug', { write: (line) => lines.push(line) }),
    metrics,
    ...deps,
  });
  beforeStart?.(host);
  await host.start({
    ...{ services: others ?? services, books },
    ...(settings !== undefined && { settings }),
    ...(durable !== undefined && { durable }),
  });
  return {
    host,
    services,
    metrics,
    folder,
    log: () => lines.join(''),
    async call(id, params = {}, more = {}, signal = new AbortController().signal) {
      const request = {
        method: 'POST',
        route: '',
        headers: {},
        query: {},
        keyId: 'key-1',
        requestId: 'req-1',
      } as const;
      const { body, ...answer } = await host.call(id, { ...request, params: params as never, ...more }, signal);
      return { ...answer, text: body, body: JSON.parse(body) };
    },
    async close() {
      await host.close(1000);
      folder.remove();
    },
  };
}
