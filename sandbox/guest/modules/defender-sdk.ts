/**
 * The exports of `'@openzeppelin/defender-sdk'` and of the packages for Actions: an Action runs as a plugin, and sends
 * through the relayer that its entry names. Only the documented names and types were used to write it.
 */
import type { PluginContext } from '../plugin-api.ts';
import { frozen } from '../sdk/frozen.ts';
import type { TransactionResponse } from '../sdk/network-models.ts';
import {
  callPluginBy,
  type Foreign,
  kvKey,
  missing,
  RelayerLink,
  relayerIn,
  relayerProvider,
  relayerSigner,
  requestOf,
  SIGN_INSTEAD,
} from './foreign-host.ts';
import * as library from './own-ethers.ts';
import { pluginError } from './relayer-sdk.ts';

/** The context of the running call. An isolate serves one at a time. */
let running: PluginContext | undefined;
/** The relayers that the call has asked for, by id. */
const links = new Map<string, RelayerLink>();

callPluginBy({
  around: (handler, context) => {
    running = context;
    links.clear();
    return handler(eventOf(context), {});
  },
});

function call(): PluginContext {
  return running ?? missing('Defender outside of a call', 'use it in the handler');
}

/** What Defender gives an Action. A webhook trigger has the request in its event, any other call in its parameters. */
function eventOf(context: PluginContext): object {
  const { params, headers, query, config = {}, trigger } = context;
  const { body = params, headers: sent = headers } = trigger?.event ?? {};
  const name: unknown = config['name'];
  const id = `isolayer:${context.caller.keyId}`;
  const run = crypto.randomUUID();
  return {
    ...{ credentials: 'isolayer', relayerARN: 'isolayer', kvstoreARN: 'isolayer', tenantId: 'isolayer' },
    ...{ actionId: id, actionName: name, actionRunId: run, autotaskId: id, autotaskName: name, autotaskRunId: run },
    secrets: process.env,
    request: { body, headers: customHeaders(sent), queryParameters: firsts(query) },
  };
}

function firsts(given: Record<string, string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value].flat()[0] ?? '']));
}

function customHeaders(headers: Record<string, string | string[]>): Record<string, string> {
  return firsts(Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-'))));
}

interface Credentials {
  apiKey?: string;
  apiSecret?: string;
  relayerApiKey?: string;
  relayerApiSecret?: string;
  credentials?: unknown;
  relayerARN?: unknown;
}

/**
 * The relayer that credentials stand for: `config.relayer` of the entry. Keys of a relayer stand for the one that
 * `config.relayers` has for the key; where there are such keys, an unknown one stands for none.
 */
function linkOf(given: Credentials | Relayer): RelayerLink {
  if (given instanceof Relayer) return given.link;
  const { config } = call();
  const key = given.relayerApiKey ?? given.apiKey;
  const byKey = config?.['relayers'] as Record<string, string> | undefined;
  const isKnown = key !== undefined && byKey !== undefined;
  if (isKnown && !Object.hasOwn(byKey, key)) {
    const message = '"config" of the entry has "relayers", and none for the API key that the script uses';
    throw pluginError(message, { code: 'NOT_CONFIGURED' });
  }
  const id = isKnown ? (byKey[key] as string) : relayerIn(call());
  const link = links.get(id) ?? new RelayerLink(id, call);
  links.set(id, link);
  return link;
}

/** Refuses an ethers that the plugin does not have. */
function libraryOf(options: { ethersVersion?: string } = {}): Foreign {
  const { ethersVersion: asked } = options;
  const { version } = library;
  if (asked !== undefined && asked !== `v${version}`) {
    missing(
      `ethersVersion ${asked}`,
      version === 0 ? 'install ethers beside the plugin' : `it is bundled with ethers ${version}`,
    );
  }
  return library;
}

/** What a relayer of Defender can do beside this, with what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  'listTransactions list': 'keep the ids of what you send in the key-value store',
  getTransactionByNonce: 'ask by the id of the transaction',
  'replaceTransactionById replaceTransactionByNonce cancelTransactionById':
    'send a transaction; replace and cancel over the API of the service',
  'sign signTypedData': SIGN_INSTEAD,
};

/** Has each of these names throw when it is read or called. */
function lacks(prototype: object, names: string, refuse: (name: string) => PropertyDescriptor): void {
  for (const name of names.split(' ')) Object.defineProperty(prototype, name, refuse(name));
}

/** A relayer, as `client.relaySigner` and as the class of the older package. */
export class Relayer {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  get link(): RelayerLink {
    return linkOf(this.#credentials);
  }

  async getRelayer(): Promise<Foreign> {
    const { id, name, address, network, paused, policies } = await this.link.relayer.getRelayer();
    return {
      relayerId: id,
      name,
      address,
      network,
      paused,
      policies: policies ?? {},
      minBalance: 0,
      pendingTxCost: '0',
    };
  }

  async getRelayerStatus(): Promise<Foreign> {
    const { relayer } = this.link;
    const [{ id, name, address }, status] = await Promise.all([relayer.getRelayer(), relayer.getRelayerStatus()]);
    const { nonce, paused, pending_transactions_count: numberOfPendingTransactions } = status;
    const quota = { txsQuotaUsage: 0, rpcQuotaUsage: 0 };
    return { relayerId: id, name, address, nonce: Number(nonce), paused, numberOfPendingTransactions, ...quota };
  }

  async sendTransaction(payload: Foreign): Promise<Foreign> {
    const { link } = this;
    if (payload.isPrivate === true || payload.privateMode !== undefined) {
      const { policies } = await link.relayer.getRelayer();
      if (policies?.private_transactions !== true) {
        missing('isPrivate', 'set the policy private_transactions of the relayer');
      }
    }
    return transactionOf(await link.send(requestOf(payload)), link);
  }

  async getTransaction(transactionId: string): Promise<Foreign> {
    const { link } = this;
    return transactionOf(await link.relayer.getTransaction({ transactionId }), link);
  }

  query(id: string): Promise<Foreign> {
    return this.getTransaction(id);
  }

  /** A JSON-RPC call; `(method, params)` in the older package. */
  call(asked: string | { method: string; params: unknown[] }, params: unknown[] = []): Promise<Foreign> {
    const request = typeof asked === 'string' ? { method: asked, params } : asked;
    return this.link.relayer.rpc({ jsonrpc: '2.0', id: 1, ...request });
  }

  getProvider(options?: { ethersVersion?: string }): Foreign {
    return relayerProvider(libraryOf(options), this.link);
  }

  async getSigner(provider: Foreign, options: { ethersVersion?: string } = {}): Promise<Foreign> {
    return relayerSigner(libraryOf(options), this.link, provider, options);
  }

  static {
    for (const [names, instead] of Object.entries(UNSUPPORTED)) {
      lacks(this.prototype, names, (name) => ({ value: () => missing(name, instead) }));
    }
  }
}

async function transactionOf(sent: TransactionResponse, link: RelayerLink): Promise<Foreign> {
  const optional = (value: unknown) => value ?? undefined;
  const number = (value: unknown) => (value == null ? undefined : Number(value));
  return {
    ...{ transactionId: sent.id, hash: sent.hash, status: sent.status, to: sent['to'], from: sent['from'] },
    ...{ value: sent['value'], data: optional(sent['data']), speed: optional(sent['speed']) },
    ...{ nonce: number(sent['nonce']), gasLimit: number(sent['gas_limit']), gasPrice: number(sent['gas_price']) },
    maxFeePerGas: number(sent['max_fee_per_gas']),
    maxPriorityFeePerGas: number(sent['max_priority_fee_per_gas']),
    chainId: Number(await link.rpc('eth_chainId', [])),
    ...{ createdAt: sent.created_at, sentAt: optional(sent.sent_at) },
  };
}

const PREFIX = 'defender:';

/** The key-value store of Actions, in the plugin's own. */
export class KeyValueStoreClient {
  async get(key: string): Promise<string | undefined> {
    return (await call().kv.get<string>(kvKey(PREFIX, key))) ?? undefined;
  }

  async put(key: string, value: string): Promise<void> {
    await call().kv.set(kvKey(PREFIX, key), value);
  }

  async del(key: string): Promise<void> {
    await call().kv.del(kvKey(PREFIX, key));
  }
}

const ELSEWHERE = 'settings are made in the configuration or over the API of the service';

export class Defender {
  readonly #options: Credentials;

  constructor(options: Credentials) {
    this.#options = options;
  }

  get relaySigner(): Relayer {
    return new Relayer(this.#options);
  }

  get keyValueStore(): KeyValueStoreClient {
    return new KeyValueStoreClient();
  }

  static {
    const names =
      'networks network account approvalProcess monitor action relay relayGroup proposal deploy notificationChannel addressBook';
    lacks(this.prototype, names, (name) => ({ get: () => missing(`client.${name}`, ELSEWHERE) }));
  }
}

/** A provider of the plugin's ethers, 5 or 6. A constructor returns the object that it makes. */
export const DefenderRelayProvider = class {
  constructor(credentials: Credentials | Relayer) {
    return relayerProvider(library, linkOf(credentials));
  }
} as new (
  credentials: Credentials | Relayer,
) => Foreign;

export const DefenderRelaySigner = class {
  /** With ethers 6 an address stands before the options. */
  constructor(credentials: Credentials | Relayer, provider: Foreign, ...[third, fourth]: Foreign[]) {
    return relayerSigner(library, linkOf(credentials), provider, (typeof third === 'string' ? fourth : third) ?? {});
  }
} as new (
  credentials: Credentials | Relayer,
  provider: Foreign,
  ...options: Foreign[]
) => Foreign;

export { DefenderRelayProvider as DefenderRelayProviderV5, DefenderRelaySigner as DefenderRelaySignerV5 };

for (const one of [Relayer, KeyValueStoreClient, Defender, DefenderRelayProvider, DefenderRelaySigner]) frozen(one);
