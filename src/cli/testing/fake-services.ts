import { setTimeout as pause } from 'node:timers/promises';
import { FIXED_LIMITS } from '../../../sandbox/contract.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json/json.ts';
import type { PluginHttp } from '../../egress/fetch/plugin-http.ts';
import { createFetchService } from '../../features/plugins/fetch.ts';
import type { BoundCapability } from '../../features/plugins/host/capabilities/capability.ts';
import type { KvService, Services } from '../../features/services.ts';
import type { StoreReader } from '../../store/store.ts';
import type { FakeRelayer } from './fake-relayer.ts';

const ENDS = new Set(['mined', 'confirmed', 'canceled', 'expired', 'failed']);

/** The capabilities of relayers that {@link FakeServices} answers itself. */
const SHORTER: ReadonlySet<string> = new Set([
  ...['sendTransaction', 'getTransaction', 'waitTransaction', 'getRelayer', 'getRelayerStatus', 'signTransaction'],
  'rpc',
]);

/** A request that a plugin has sent. */
export interface SentRequest {
  relayerId: string;
  request: Json;
}

/** The services for a plugin under test: fake relayers, a key-value store in memory, and the test's own fetch. */
export class FakeServices {
  readonly sent: SentRequest[] = [];
  /** The stored values, by key. */
  readonly values = new Map<string, Json>();
  private readonly relayers: Readonly<Record<string, FakeRelayer>>;
  private readonly locks = new Map<string, number>();
  private fences = 0;

  constructor(relayers: Readonly<Record<string, FakeRelayer>>) {
    this.relayers = relayers;
  }

  /** Returns the services in the form that the plugin host needs. */
  services(http: PluginHttp): Services {
    const nobody = () => Promise.reject(new Error('no plugin asks for this'));
    const write = () => Promise.reject(new Error('a call under test has no key'));
    const transactions = {
      send: (id: string, body: unknown) => this.send(id, body as Json),
      get: (id: string, transaction: string) => this.transaction(id, transaction),
      list: nobody,
      wait: (id: string, transaction: string, timing: { intervalMs: number; timeoutMs: number }, signal: AbortSignal) =>
        this.wait(id, transaction, timing, signal),
    };
    const relayers = {
      get: async (id: string) => this.info(id),
      status: async (id: string) => this.status(id),
      list: async () => ({ items: Object.keys(this.relayers).map((id) => ({ id })), total: 0 }),
    };
    const rpc = { call: (id: string, body: unknown) => this.rpc(id, body as JsonObject), batch: nobody };
    const signing = { signTransaction: (id: string, body: unknown) => this.sign(id, body as Json) };
    return {
      transactions,
      relayers,
      rpc,
      signing,
      lifecycle: {},
      notifications: {},
      kv: this.kv(),
      fetch: createFetchService({ http, store: { read: {} as StoreReader, write } }),
      effects: { recorded: async () => [], failure: async () => undefined, refuse: async () => true },
    } as unknown as Services;
  }

  /**
   * The capabilities over the fakes. One that a {@link FakeRelayer} has no shorter form of is answered by the
   * function of the same name, with the same arguments, of the test's relayer.
   */
  capabilities(bound: ReadonlyMap<string, BoundCapability>): ReadonlyMap<string, BoundCapability> {
    return new Map([...bound].map(([method, capability]) => [method, this.answerable(capability)]));
  }

  private answerable(capability: BoundCapability): BoundCapability {
    const [, name = ''] = capability.method.split('relayer.');
    if (name === '' || SHORTER.has(name)) return capability;
    return {
      ...capability,
      prepare: (params) => {
        const { relayerId, ...given } = params as { relayerId: string };
        const run = async () => {
          const functions = this.relayer(relayerId) as Record<string, ((...given: unknown[]) => Json) | undefined>;
          const answer = functions[name];
          if (answer === undefined) throw invalidRequest(`the test's relayer ${relayerId} has no function ${name}`);
          return await answered(() => answer(...Object.values(given)));
        };
        return { ...capability.prepare(params), run };
      },
    };
  }

  private relayer(id: string): FakeRelayer {
    const relayer = Object.hasOwn(this.relayers, id) ? this.relayers[id] : undefined;
    if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id });
    return relayer;
  }

  private info(id: string): JsonObject {
    const { info = {} } = this.relayer(id);
    const base = { id, name: id, network: 'test', network_type: 'evm', paused: false, system_disabled: false };
    return { ...base, signer_id: 'test', address: `0x${'11'.repeat(20)}`, ...info };
  }

  private status(id: string): JsonObject {
    const { status = {} } = this.relayer(id);
    const { network_type = 'evm' } = this.info(id);
    const base = { network_type, balance: '0', pending_transactions_count: 0, paused: false, system_disabled: false };
    return { ...base, ...status };
  }

  private async send(id: string, request: Json): Promise<JsonObject> {
    const relayer = this.relayer(id);
    this.sent.push({ relayerId: id, request });
    const own = {
      id: `tx-${this.sent.length}`,
      relayer_id: id,
      status: 'pending',
      created_at: new Date().toISOString(),
    };
    return { ...own, ...(await answered(() => relayer.send?.(request))) };
  }

  private async transaction(id: string, transactionId: string): Promise<JsonObject> {
    const relayer = this.relayer(id);
    const defaults = { id: transactionId, relayer_id: id, status: 'mined', hash: `0x${'22'.repeat(32)}` };
    return { ...defaults, ...(await answered(() => relayer.transaction?.(transactionId))) };
  }

  private async wait(
    id: string,
    transactionId: string,
    { intervalMs, timeoutMs }: { intervalMs: number; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    for (const end = performance.now() + timeoutMs; ; ) {
      const transaction = await this.transaction(id, transactionId);
      if (ENDS.has(transaction['status'] as string)) return transaction;
      if (performance.now() + intervalMs > end) return undefined;
      await pause(intervalMs, undefined, { signal });
    }
  }

  private async rpc(id: string, { method, params = [], id: number = 1 }: JsonObject): Promise<JsonObject> {
    const relayer = this.relayer(id);
    const result = (await answered(() => relayer.rpc?.(method as string, params))) ?? null;
    return { jsonrpc: '2.0', id: number, result };
  }

  private async sign(id: string, request: Json): Promise<JsonObject> {
    const relayer = this.relayer(id);
    if (relayer.sign === undefined)
      throw new AppError('NOT_SUPPORTED', { what: 'sign_transaction', networkType: 'evm' });
    return await answered(() => relayer.sign?.(request) ?? {});
  }

  private kv(): KvService {
    const { values, locks } = this;
    return {
      get: async (_plugin, key) => (values.has(valid(key)) ? JSON.stringify(values.get(key)) : null),
      set: async (_caller, key, json) => {
        values.set(valid(key), JSON.parse(json) as Json);
        return true;
      },
      del: async (_caller, key) => values.delete(valid(key)),
      exists: async (_plugin, key) => values.has(valid(key)),
      listKeys: async (_plugin, prefix, after = '') =>
        [...values.keys()]
          .filter((key) => key.startsWith(prefix) && key > after)
          .sort()
          .slice(0, FIXED_LIMITS.kv_page),
      clear: async () => {
        const { size } = values;
        values.clear();
        return size;
      },
      lock: async (_caller, name) => {
        if (locks.has(valid(name))) return null;
        this.fences += 1;
        locks.set(name, this.fences);
        return { name, fence: this.fences };
      },
      unlock: async (_plugin, { name, fence }) => locks.get(name) === fence && locks.delete(name),
    };
  }
}

/** Passes an error of a test's relayer on to the plugin, in the form of a refused request. */
async function answered<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof AppError ? error : invalidRequest(error instanceof Error ? error.message : String(error));
  }
}

function valid(key: string): string {
  if (!/^[A-Za-z0-9:_-]{1,512}$/.test(key)) throw invalidRequest('invalid key');
  return key;
}
