import { randomBytes, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { systemClock } from '../../domain/clock.ts';
import { AppError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json/json.ts';
import { FetchFailure } from '../../egress/fetch/plugin-fetch.ts';
import { bindCapabilities } from '../../features/plugins/host/capabilities/all-capabilities.ts';
import { createPluginHost } from '../../features/plugins/host/create-plugin-host.ts';
import { pluginEntrySchema } from '../../features/plugins/records/plugin.ts';
import { failure } from '../../http/envelope.ts';
import { createLog } from '../../observability/log.ts';
import { NO_METRICS } from '../../observability/metrics.ts';
import type { FakeRelayer } from './fake-relayer.ts';
import { FakeServices, type SentRequest } from './fake-services.ts';

const SANDBOX_DIR = resolve(import.meta.dirname, '..', '..', '..', 'sandbox');
const CLOSE_MS = 2000;

export interface SandboxOptions {
  /** The folder of the plugins. */
  folder: string;
  /** Entries as in config.json. Plugins in the folder need none. Logs are always collected. */
  entries?: (Partial<z.input<typeof pluginEntrySchema>> & { id: string })[];
  /** The environment variables. A plugin sees those that its entry grants. */
  env?: Record<string, string>;
  relayers?: Record<string, FakeRelayer>;
  /** Answers the plugin's fetches from granted hosts. Without it, fetches are not answered. */
  fetch?: (request: Request) => Response | Promise<Response>;
}

export interface CallOptions {
  params?: Json;
  /** The route, with its leading slash. */
  route?: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string[]>;
  query?: Record<string, string[]>;
  /** The trigger that makes the call. The `event` of a webhook is `{ headers, body }`. */
  trigger?: { name: string; at?: string; event?: Json };
}

export interface CallAnswer {
  status: number;
  /** The parsed body: an envelope, or the result itself with `raw_response`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test knows what its plugin answers
  body: any;
}

/** Plugins in the service's sandbox, with the same compiler, grants and limits, and with the test's own relayers. */
export interface Sandbox {
  call(id: string, options?: CallOptions): Promise<CallAnswer>;
  /** The requests sent through relayers, in order. */
  readonly sent: readonly SentRequest[];
  /** The plugins' stored values, by key. */
  readonly values: Map<string, Json>;
  /** Returns the service's log, a JSON text a line. */
  log(): string;
  close(): Promise<void>;
}

/** Opens a sandbox. The test has to close it. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, entries = [], env = {}, relayers = {}, fetch: answer } = options;
  const fakes = new FakeServices(relayers);
  const lines: string[] = [];
  const host = createPluginHost({
    entries: entries.map((entry) => pluginEntrySchema.parse({ path: `${entry.id}.ts`, emit_logs: true, ...entry })),
    pluginsDir: resolve(folder),
    sandboxDir: SANDBOX_DIR,
    environment: (name: string) => env[name],
    log: createLog('info', { write: (line) => lines.push(line) }),
    metrics: NO_METRICS,
    clock: systemClock,
    uuid: randomUUID,
    seed: () => randomBytes(32).toString('hex'),
    maxProcesses: 4,
    mostThreads: 1,
  });
  const services = fakes.services({ fetch: (request) => answered(answer, request), close: async () => {} });
  await host.start({
    services,
    capabilities: fakes.capabilities(bindCapabilities(services)),
    books: {
      kvUsage: async () => ({ keys: 0, bytes: 0 }),
      spentLastHour: async () => ({ value: 0n, fee: 0n }),
      triggers: async () => [],
    },
  });
  return {
    async call(id, { params = {}, route = '', method = 'POST', headers = {}, query = {}, trigger } = {}) {
      const keyId = trigger === undefined ? 'test' : `trigger:${id}/${trigger.name}`;
      const request = {
        ...{ method, route, headers, query, params, keyId, requestId: randomUUID() },
        ...(trigger !== undefined && { trigger: { at: new Date().toISOString(), depth: 1, ...trigger } }),
      };
      try {
        const { status, body } = await host.call(id, request, new AbortController().signal);
        return { status, body: JSON.parse(body) };
      } catch (error) {
        // An unknown plugin or a method that it does not allow. Over HTTP these are answers too.
        if (error instanceof AppError) return { status: error.status, body: failure(error) };
        throw error;
      }
    },
    sent: fakes.sent,
    values: fakes.values,
    log: () => lines.join(''),
    close: () => host.close(CLOSE_MS),
  };
}

type Fetched = Parameters<Parameters<FakeServices['services']>[0]['fetch']>[0];

async function answered(answer: SandboxOptions['fetch'], { url, method, headers, body }: Fetched) {
  if (answer === undefined) throw new FetchFailure('transport', `nobody answers for ${url.host} in this test`);
  const lines = headers.map(([name, value]): [string, string] => [name, value]);
  const request = new Request(url, {
    method,
    headers: lines,
    ...(body !== undefined && { body: new Uint8Array(body) }),
  });
  const given = await answer(request);
  return {
    url: url.href,
    redirected: false,
    status: given.status,
    statusText: given.statusText,
    headers: [...given.headers],
    body: Buffer.from(await given.arrayBuffer()),
  };
}
