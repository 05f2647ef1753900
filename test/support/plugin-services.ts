import { FIXED_LIMITS } from '../../sandbox/contract.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { KeyedEffect } from '../../src/domain/idempotency.ts';
import type { Json, WireObject } from '../../src/domain/json/json.ts';
import type { FetchService } from '../../src/features/plugins/fetch.ts';
import { bindCapabilities } from '../../src/features/plugins/host/capabilities/all-capabilities.ts';
import type { BoundCapability } from '../../src/features/plugins/host/capabilities/capability.ts';
import type { SpendingPlugin } from '../../src/features/plugins/records/spending.ts';
import type {
  KvService,
  LifecycleService,
  RelayersService,
  RpcService,
  Services,
  SigningService,
  TransactionsService,
} from '../../src/features/services.ts';
import { FakeEffects, NO_BUNDLES } from './keyed-effect.ts';
import { fetchServiceOver, NO_PLUGIN_HTTP } from './no-plugin-http.ts';

const refused = () => Promise.reject(new Error('no plugin may use this service'));

/** Services in memory with one relayer, `known`. They record the plugins' requests. */
export class PluginServices implements Services {
  /** Requests that were sent, in order. */
  readonly sent: { relayerId: string; body: unknown }[] = [];
  /** The names of their effects. */
  readonly named: (KeyedEffect | undefined)[] = [];
  /** The limits under which they were sent. */
  readonly spenders: (SpendingPlugin | undefined)[] = [];
  /** The error with which sends are refused. */
  refusal: AppError | undefined;
  /** The outcomes of the runs of keyed calls. */
  readonly effects: FakeEffects;
  readonly bundles = NO_BUNDLES;
  /** Further fields of the answers to sends. */
  view: WireObject = {};
  readonly store = new Map<string, Json>();
  /** The fences of locks that are held. */
  readonly locks = new Map<string, number>();
  private fences = 0;
  /** The result of waits. `undefined` waits until the plugin call ends. */
  waited: WireObject | undefined = { id: 'tx-1', status: 'mined' };
  /** Resolves every `send`; replace it to hold them back. */
  beforeSend: () => Promise<void> = () => Promise.resolve();
  aborted = 0;

  constructor(effects = new FakeEffects()) {
    this.effects = effects;
  }

  readonly transactions: TransactionsService = {
    send: async (relayerId, body, { effect, spender } = {}) => {
      this.known(relayerId);
      this.spenders.push(spender);
      if (this.refusal !== undefined) throw this.refusal;
      this.named.push(effect);
      await this.beforeSend();
      this.sent.push({ relayerId, body });
      return {
        ...this.view,
        id: `tx-${this.sent.length}`,
        relayer_id: relayerId,
        status: 'pending',
        nonce: 7n,
        value: 2n ** 70n,
      };
    },
    get: (relayerId, id) => {
      this.known(relayerId);
      if (!id.startsWith('tx-')) throw new AppError('TRANSACTION_NOT_FOUND', { id });
      return Promise.resolve({ id, relayer_id: relayerId, status: 'mined' });
    },
    list: () => Promise.resolve({ items: [], total: 0 }),
    wait: (relayerId, _id, { timeoutMs }, signal) => {
      this.known(relayerId);
      if (timeoutMs === 0) return Promise.resolve(undefined);
      if (this.waited !== undefined) return Promise.resolve(this.waited);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          this.aborted++;
          reject(new Error('aborted'));
        });
      });
    },
  };

  /** No capability reaches them. */
  readonly lifecycle: LifecycleService = {
    replace: refused,
    cancel: refused,
    cancelPending: refused,
    bySequence: refused,
    byHash: refused,
    timeline: refused,
  };

  readonly relayers: RelayersService = {
    get: (relayerId) => {
      this.known(relayerId);
      if (relayerId === 'faulty') throw new Error('the secret is swordfish');
      return Promise.resolve({ id: relayerId, paused: false });
    },
    list: () => Promise.resolve({ items: [], total: 0 }),
    create: refused,
    remove: refused,
    update: () => Promise.reject(new Error('no plugin may change a relayer')),
    status: (relayerId) => {
      this.known(relayerId);
      return Promise.resolve({ network_type: 'evm', balance: '1' });
    },
    balance: () => Promise.resolve({ balance: 1n, unit: 'wei' }),
  };

  readonly signing: SigningService = {
    signMessage: () => Promise.reject(new Error('no plugin may sign messages')),
    signTypedData: () => Promise.reject(new Error('no plugin may sign typed data')),
    quoteSponsored: () => Promise.reject(new Error('no plugin asks for it this way')),
    buildSponsored: () => Promise.reject(new Error('no plugin asks for it this way')),
    signTransaction: () => {
      throw new AppError('NOT_SUPPORTED', { what: 'sign_transaction', networkType: 'evm' });
    },
  };

  readonly rpc: RpcService = {
    call: () => Promise.resolve({ jsonrpc: '2.0', result: '0x1', id: 1 }),
    batch: () => Promise.reject(new Error('no plugin calls a batch')),
  };

  /** Reaches no host until a test replaces it. */
  fetch: FetchService = fetchServiceOver(NO_PLUGIN_HTTP);

  kv: KvService = {
    get: async (pluginId, key) => {
      const value = this.store.get(`${pluginId}/${validKey(key)}`);
      return value === undefined ? null : JSON.stringify(value);
    },
    set: async ({ pluginId, locks }, key, json) => {
      const name = `${pluginId}/${validKey(key)}`;
      if (locks.some((lock) => this.locks.get(`${pluginId}/${lock.name}`) !== lock.fence)) throw new Error('lock lost');
      this.store.set(name, JSON.parse(json) as Json);
      return true;
    },
    del: async ({ pluginId }, key) => this.store.delete(`${pluginId}/${validKey(key)}`),
    exists: async (pluginId, key) => this.store.has(`${pluginId}/${validKey(key)}`),
    listKeys: async (pluginId, prefix, after = '') =>
      [...this.store.keys()]
        .filter((name) => name.startsWith(`${pluginId}/${prefix}`))
        .map((name) => name.slice(pluginId.length + 1))
        .filter((key) => key > after)
        .sort()
        .slice(0, FIXED_LIMITS.kv_page),
    clear: async ({ pluginId }) => {
      const names = [...this.store.keys()].filter((name) => name.startsWith(`${pluginId}/`));
      return names.filter((name) => this.store.delete(name)).length;
    },
    lock: async ({ pluginId }, name) => {
      const key = `${pluginId}/${validKey(name)}`;
      if (this.locks.has(key)) return null;
      this.fences += 1;
      this.locks.set(key, this.fences);
      return { name, fence: this.fences };
    },
    unlock: async (pluginId, { name, fence }) => {
      const key = `${pluginId}/${name}`;
      return this.locks.get(key) === fence && this.locks.delete(key);
    },
  };

  private known(id: string): void {
    if (id === 'paused') throw new AppError('RELAYER_PAUSED', {});
    if (id !== 'known' && id !== 'faulty') throw new AppError('RELAYER_NOT_FOUND', { id });
  }
}

function validKey(key: string): string {
  if (!/^[A-Za-z0-9:_-]{1,512}$/.test(key)) throw new AppError('INVALID_REQUEST', { reason: 'invalid key' });
  return key;
}

/** One capability over these services. */
export function bound(services: Services, method: string): BoundCapability {
  const found = bindCapabilities(services).get(method);
  if (found === undefined) throw new Error(`there is no capability ${method}`);
  return found;
}
