import { AppError, invalidRequest } from '../../src/domain/errors.ts';
import type { KeyedEffect } from '../../src/domain/idempotency.ts';
import type { WireObject } from '../../src/domain/json/json.ts';
import type { ListPart, ListPartRequest, Page, PageRequest } from '../../src/domain/page.ts';
import type { RpcOutcome } from '../../src/egress/rpc/rpc-client.ts';
import { RESOURCE_PATHS, type ResourceName } from '../../src/features/api-keys/records/access.ts';
import type { Caller } from '../../src/features/api-keys/records/caller.ts';
import type { AuditService } from '../../src/features/audit/audit.ts';
import type { AuditFilter } from '../../src/features/audit/record.ts';
import { createCallsService } from '../../src/features/calls/calls.ts';
import type { PluginsService } from '../../src/features/plugins/plugins.ts';
import type { PluginEntry } from '../../src/features/plugins/records/plugin.ts';
import type { RelayerFilter } from '../../src/features/relayers/records/relayer.ts';
import { type ResourceService, resourceErrors } from '../../src/features/resource.ts';
import type {
  ApiServices,
  CallTerms,
  KvService,
  LifecycleService,
  RelayersService,
  RpcService,
  SigningService,
  TransactionsService,
} from '../../src/features/services.ts';
import type { TransactionStatus } from '../../src/features/transactions/records/transaction-state.ts';
import type { TriggersService } from '../../src/features/triggers/triggers.ts';
import type { DeliveriesService } from '../../src/features/webhooks/deliveries.ts';
import type { Store } from '../../src/store/store.ts';
import { FakeEffects, NO_BUNDLES } from './keyed-effect.ts';
import { fetchServiceOver, NO_PLUGIN_HTTP } from './no-plugin-http.ts';

/** Services that hold only what a test puts in. */
export class FakeServices implements ApiServices {
  readonly relayers = new FakeRelayers();
  readonly transactions = new FakeTransactions();
  readonly lifecycle = new FakeLifecycle();
  readonly signing = new FakeSigning();
  readonly rpc = new FakeRpc();
  readonly kv = new FakeKv();
  readonly fetch = fetchServiceOver(NO_PLUGIN_HTTP);
  readonly effects = new FakeEffects();
  readonly bundles = NO_BUNDLES;
  readonly calls = createCallsService({} as Store);
  readonly deliveries = new FakeDeliveries();
  readonly plugins = new FakePlugins();
  readonly triggers = new FakeTriggers();
  readonly resources = {
    ...(Object.fromEntries(
      (Object.keys(RESOURCE_PATHS) as ResourceName[]).map((name) => [name, new FakeResource(name)]),
    ) as Record<ResourceName, FakeResource>),
    signer: new FakeSigners('signer'),
    api_key: new FakeApiKeys('api_key'),
  };
  readonly audit = new FakeAudit();
}

class FakeTriggers implements TriggersService {
  async views(): Promise<WireObject[]> {
    return [];
  }

  async fire({ id }: PluginEntry, name: string): Promise<WireObject> {
    throw new AppError('TRIGGER_NOT_FOUND', { id, name });
  }

  pause = this.fire;
  resume = this.fire;

  async receive(..._: Parameters<TriggersService['receive']>): Promise<WireObject> {
    throw new AppError('WEBHOOK_REFUSED', {});
  }
}

class FakeDeliveries implements DeliveriesService {
  async list(): Promise<ListPart<WireObject>> {
    return { items: [], next: null };
  }

  async get(_: string, id: string): Promise<WireObject> {
    throw new AppError('DELIVERY_NOT_FOUND', { id });
  }

  redeliver(notificationId: string, id: string): Promise<WireObject> {
    return this.get(notificationId, id);
  }
}

class FakeRelayers implements RelayersService {
  readonly known = new Map<string, WireObject>();
  asked: PageRequest[] = [];
  filters: (RelayerFilter | undefined)[] = [];
  wei = '0';

  async get(relayerId: string): Promise<WireObject> {
    const relayer = this.known.get(relayerId);
    if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
    return relayer;
  }

  async list(page: PageRequest, filter?: RelayerFilter): Promise<Page<WireObject>> {
    this.asked.push(page);
    this.filters.push(filter);
    const from = (page.page - 1) * page.perPage;
    const all = [...this.known].filter(([id]) => filter?.among?.includes(id) !== false).map(([, relayer]) => relayer);
    return { items: all.slice(from, from + page.perPage), total: all.length };
  }

  async create(body: unknown): Promise<WireObject> {
    const relayer = body as WireObject;
    this.known.set(String(relayer['id']), relayer);
    return relayer;
  }

  async remove(relayerId: string): Promise<void> {
    await this.get(relayerId);
    this.known.delete(relayerId);
  }

  async update(relayerId: string, body: unknown): Promise<WireObject> {
    return { ...(await this.get(relayerId)), ...(body as WireObject) };
  }

  async status(relayerId: string): Promise<WireObject> {
    const relayer = await this.get(relayerId);
    return { network_type: 'evm', balance: this.wei, paused: relayer['paused'] };
  }

  async balance(relayerId: string): Promise<{ balance: bigint; unit: string }> {
    await this.get(relayerId);
    return { balance: BigInt(this.wei), unit: 'wei' };
  }
}

/** Settings of one kind. What is made is kept as it was given. */
class FakeResource implements ResourceService {
  readonly known = new Map<string, WireObject>();
  readonly callers: Caller[] = [];
  readonly #name: ResourceName;

  constructor(name: ResourceName) {
    this.#name = name;
  }

  async get(id: string): Promise<WireObject> {
    const thing = this.known.get(id);
    if (thing === undefined) throw this.#error('NOT_FOUND', id);
    return thing;
  }

  async list(): Promise<Page<WireObject>> {
    return { items: [...this.known.values()], total: this.known.size };
  }

  async create(body: unknown, by: Caller): Promise<WireObject> {
    this.callers.push(by);
    const thing = body as WireObject;
    const id = String(thing['id']);
    if (this.known.has(id)) throw this.#error('EXISTS', id);
    this.known.set(id, thing);
    return thing;
  }

  async update(id: string, body: unknown, by: Caller): Promise<WireObject> {
    this.callers.push(by);
    return { ...(await this.get(id)), ...(body as WireObject) };
  }

  async remove(id: string): Promise<void> {
    await this.get(id);
    this.known.delete(id);
  }

  #error(kind: 'NOT_FOUND' | 'EXISTS', id: string): AppError {
    const [code] = resourceErrors(this.#name, kind) as ['SIGNER_EXISTS'];
    return new AppError(code, { id });
  }
}

class FakeSigners extends FakeResource {
  override async update(id: string): Promise<never> {
    await this.get(id);
    throw invalidRequest('Signer updates are not allowed');
  }
}

class FakeApiKeys extends FakeResource {
  /** The key of the requests; undefined when it was revoked since. */
  own: WireObject | undefined = { id: 'default', name: 'default', expires_at: null, permissions: ['*'] };

  override async get(id: string): Promise<WireObject> {
    return id === 'default' && this.own !== undefined ? this.own : await super.get(id);
  }

  override async create(body: unknown, by: Caller): Promise<WireObject> {
    return { ...(await super.create(body, by)), key: 'a fresh key' };
  }
}

class FakePlugins implements PluginsService {
  readonly changes: unknown[] = [];

  async update(entry: PluginEntry, body: unknown): Promise<void> {
    this.changes.push([entry.id, body]);
  }

  async enable(entry: PluginEntry, isEnabled: boolean): Promise<void> {
    this.changes.push([entry.id, isEnabled]);
  }
}

class FakeAudit implements AuditService {
  asked: { part: ListPartRequest; filter: AuditFilter }[] = [];

  async list(part: ListPartRequest, filter: AuditFilter): Promise<ListPart<WireObject>> {
    this.asked.push({ part, filter });
    return { items: [{ id: 1, action: 'update' }], next: null };
  }
}

class FakeTransactions implements TransactionsService {
  sent: { relayerId: string; body: unknown }[] = [];
  /** The names of the effects, of requests with an idempotency key. */
  effects: (KeyedEffect | undefined)[] = [];
  listed: { page: PageRequest; status: TransactionStatus | undefined }[] = [];
  /** What `send` does; a test may make it throw, or never end. */
  onSend: (body: unknown) => Promise<WireObject> = async () => ({ id: 'tx-1', status: 'pending' });

  async send(relayerId: string, body: unknown, { effect }: CallTerms = {}): Promise<WireObject> {
    this.sent.push({ relayerId, body });
    this.effects.push(effect);
    return this.onSend(body);
  }

  async get(_relayerId: string, transactionId: string): Promise<WireObject> {
    if (transactionId !== 'tx-1') throw new AppError('TRANSACTION_NOT_FOUND', { id: transactionId });
    return { id: transactionId, status: 'mined' };
  }

  async list(_relayerId: string, page: PageRequest, status?: TransactionStatus): Promise<Page<WireObject>> {
    this.listed.push({ page, status });
    return { items: [{ id: 'tx-1' }], total: 1 };
  }

  async wait(): Promise<undefined> {
    return undefined;
  }
}

class FakeLifecycle implements LifecycleService {
  readonly intents: { kind: string; relayerId: string; transactionId?: string; body?: unknown }[] = [];
  /** What replacing and canceling do first; a test may make it throw. */
  onIntent: () => void = () => {};

  async replace(relayerId: string, transactionId: string, body: unknown): Promise<WireObject> {
    this.onIntent();
    this.intents.push({ kind: 'replace', relayerId, transactionId, body });
    return { id: transactionId, status: 'submitted' };
  }

  async cancel(relayerId: string, transactionId: string): Promise<WireObject> {
    this.onIntent();
    this.intents.push({ kind: 'cancel', relayerId, transactionId });
    return { id: transactionId, status: 'canceled' };
  }

  async cancelPending(relayerId: string): Promise<WireObject> {
    this.intents.push({ kind: 'cancel all', relayerId });
    return { total_processed: 0 };
  }

  async bySequence(_relayerId: string, sequence: bigint): Promise<WireObject> {
    return { id: 'tx-1', nonce: sequence };
  }

  async byHash(_relayerId: string, hash: string): Promise<WireObject> {
    if (!hash.startsWith('0x')) throw new AppError('TRANSACTION_NOT_FOUND', { id: hash });
    return { id: 'tx-1', hash };
  }

  async timeline(_relayerId: string, transactionId: string): Promise<WireObject> {
    return { transaction_id: transactionId, events: [] };
  }
}

class FakeSigning implements SigningService {
  async signMessage(_relayerId: string, body: unknown): Promise<WireObject> {
    return { message: JSON.stringify(body) };
  }

  async signTypedData(_relayerId: string, body: unknown): Promise<WireObject> {
    return { typedData: JSON.stringify(body) };
  }

  async quoteSponsored(_relayerId: string, body: unknown): Promise<WireObject> {
    return { quoted: JSON.stringify(body) };
  }

  async buildSponsored(_relayerId: string, body: unknown): Promise<WireObject> {
    return { built: JSON.stringify(body) };
  }

  async signTransaction(_relayerId: string, body: unknown): Promise<WireObject> {
    return { signature: JSON.stringify(body) };
  }
}

class FakeRpc implements RpcService {
  outcome: RpcOutcome = { jsonrpc: '2.0', result: '0x1', id: 7 };
  calls = 0;

  async call(): Promise<RpcOutcome> {
    this.calls += 1;
    return this.outcome;
  }

  async batch(_relayerId: string, bodies: readonly unknown[]): Promise<RpcOutcome[]> {
    return bodies.map(() => this.outcome);
  }
}

class FakeKv implements KvService {
  async get(): Promise<null> {
    return null;
  }

  async listKeys(): Promise<string[]> {
    return [];
  }

  async clear(): Promise<number> {
    return 0;
  }

  async lock(): Promise<null> {
    return null;
  }

  async unlock(): Promise<boolean> {
    return false;
  }

  async set(): Promise<boolean> {
    return true;
  }

  async del(): Promise<boolean> {
    return false;
  }

  async exists(): Promise<boolean> {
    return false;
  }
}
