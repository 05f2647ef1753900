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

const SEND_INSTEAD = 'send a transaction; replace and cancel over the API of the service';

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

  listTransactions(): never {
    return missing('listTransactions', 'keep the ids of what you send in the key-value store');
  }

  list(): never {
    return this.listTransactions();
  }

  getTransactionByNonce(): never {
    return missing('getTransactionByNonce', 'ask by the id of the transaction');
  }

  replaceTransactionById(): never {
    return missing('replaceTransactionById', SEND_INSTEAD);
  }

  replaceTransactionByNonce(): never {
    return missing('replaceTransactionByNonce', SEND_INSTEAD);
  }

  cancelTransactionById(): never {
    return missing('cancelTransactionById', SEND_INSTEAD);
  }

  sign(): never {
    return missing('sign', 'ask for it over the API of the service: POST /relayers/{id}/sign');
  }

  signTypedData(): never {
    return missing('signTypedData', 'ask for it over the API of the service: POST /relayers/{id}/sign-typed-data');
  }
}

async function transactionOf(sent: TransactionResponse, link: RelayerLink): Promise<Foreign> {
  const optional = (value: unknown) => (value === null ? undefined : value);
  const number = (value: unknown) => (value === null || value === undefined ? undefined : Number(value));
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

  static localKVStoreClient(): never {
    return missing('localKVStoreClient', 'test the plugin with isolayer/testing');
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
    for (const name of names.split(' ')) {
      Object.defineProperty(this.prototype, name, { get: () => missing(`client.${name}`, ELSEWHERE) });
    }
  }
}

/** A provider of the plugin's ethers. A constructor returns the object that it makes. */
function providerClass(ethersVersion?: string) {
  return class DefenderRelayProvider {
    constructor(credentials: Credentials | Relayer) {
      return relayerProvider(libraryOf(ethersVersion === undefined ? {} : { ethersVersion }), linkOf(credentials));
    }
  } as new (
    credentials: Credentials | Relayer,
  ) => Foreign;
}

function signerClass(ethersVersion?: string) {
  return class DefenderRelaySigner {
    /** With ethers 6 an address stands before the options. */
    constructor(credentials: Credentials | Relayer, provider: Foreign, ...[third, fourth]: Foreign[]) {
      const options = typeof third === 'string' ? fourth : third;
      const own = libraryOf(ethersVersion === undefined ? {} : { ethersVersion });
      return relayerSigner(own, linkOf(credentials), provider, options ?? {});
    }
  } as new (
    credentials: Credentials | Relayer,
    provider: Foreign,
    ...options: Foreign[]
  ) => Foreign;
}

export const DefenderRelayProvider = /* @__PURE__ */ providerClass();
export const DefenderRelaySigner = /* @__PURE__ */ signerClass();
export const DefenderRelayProviderV5 = /* @__PURE__ */ providerClass('v5');
export const DefenderRelaySignerV5 = /* @__PURE__ */ signerClass('v5');

for (const one of [Relayer, KeyValueStoreClient, Defender]) frozen(one);
for (const one of [DefenderRelayProvider, DefenderRelayProviderV5]) frozen(one);
for (const one of [DefenderRelaySigner, DefenderRelaySignerV5]) frozen(one);
