/**
 * What the modules share that stand in for the libraries of other hosts of scripts. Providers and signers are those of
 * the plugin's own ethers, 5 or 6, so that its contracts take them. What they ask and send goes through a relayer.
 */

import type { PluginContext } from '../plugin-api.ts';
import type { Relayer } from '../sdk/capabilities.ts';
import type { TransactionResponse } from '../sdk/network-models.ts';
import { pluginError } from './relayer-sdk.ts';

/** A value of a package that only the plugin has: its types are not known here. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type Foreign = any;

/** As `RUN_PLUGIN` in `sandbox/language-names.ts`. */
const RUN_PLUGIN = '__isolayer_run_plugin__';

/** How a plugin is called that was written for another host. */
interface ForeignForm {
  /** Answers calls of a plugin that exports no handler. */
  handler?: (context: PluginContext) => unknown;
  /** Calls the handler that the plugin exports. */
  around?: (handler: (...given: unknown[]) => unknown, context: PluginContext) => unknown;
}

/** Says how the plugin is called. Works while the module loads; later it does nothing. */
export function callPluginBy(form: ForeignForm): void {
  const globals = globalThis as { [RUN_PLUGIN]?: unknown };
  if (RUN_PLUGIN in globals) globals[RUN_PLUGIN] = form;
}

/** Throws for what a script asks of its old host and a plugin cannot do. */
export function missing(what: string, instead: string): never {
  throw pluginError(`${what} has no counterpart in a plugin: ${instead}`, { code: 'NOT_SUPPORTED', status: 501 });
}

export const SIGN_INSTEAD = 'ask for it over the API of the service: POST /relayers/{id}/sign or …/sign-typed-data';

/** The relayer that the plugin's entry names. */
export function relayerIn({ config }: PluginContext): string {
  const id: unknown = config?.['relayer'];
  if (typeof id === 'string' && id !== '') return id;
  throw pluginError('"config" of the plugin\'s entry has to name its relayer: { "relayer": "…" }', {
    code: 'NOT_CONFIGURED',
  });
}

/** A key of another host's store as a key of `kv`. The other host's may have any characters. */
export function kvKey(prefix: string, key: unknown): string {
  return prefix + String(key).replaceAll(/[^A-Za-z0-9_-]/g, (one) => `:${one.charCodeAt(0).toString(16)}:`);
}

/** What {@link kvKey} made a key of. */
export function ofKvKey(prefix: string, key: string): string {
  return key
    .slice(prefix.length)
    .replaceAll(/:([0-9a-f]{1,4}):/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

const ENDED: ReadonlySet<string> = new Set(['failed', 'canceled', 'expired']);
/** The timeout of the plugin's entry ends a wait before. */
const WAIT_MS = 2 ** 31 - 1;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One relayer as a script of another host sees it: a node, and an account that sends. */
export class RelayerLink {
  readonly id: string;
  readonly #context: () => PluginContext;
  /** The ids of what was sent, by hash. The hash of a transaction changes when its price is raised. */
  readonly #sent = new Map<string, string>();
  #address: Promise<string> | undefined;

  constructor(id: string, context: () => PluginContext) {
    this.id = id;
    this.#context = context;
  }

  get relayer(): Relayer {
    return this.#context().api.useRelayer(this.id);
  }

  address(): Promise<string> {
    this.#address ??= this.relayer.getRelayer().then(({ address }) => address);
    return this.#address;
  }

  /** The result of a JSON-RPC call; rejects with the node's error. */
  async rpc(method: string, params: unknown): Promise<Foreign> {
    const { result, error } = await this.relayer.rpc({ jsonrpc: '2.0', id: 1, method, params });
    if (error == null) return result;
    const { code, message, description, data } = error;
    throw Object.assign(new Error(description ?? message), { code, data });
  }

  /** Sends a transaction, and resolves when it is signed. Once it is accepted, this rejects only if it never will be. */
  async send(request: object): Promise<TransactionResponse> {
    const { id, ...accepted } = await this.relayer.sendTransaction(request);
    let known: TransactionResponse = { ...accepted, id };
    for (let ms = 50; known.hash == null; ms = Math.min(ms * 2, 2000)) {
      if (ENDED.has(known.status)) throw unsent(known);
      await pause(ms);
      known = await this.relayer.getTransaction({ transactionId: id });
    }
    this.#sent.set(known.hash.toLowerCase(), id);
    return known;
  }

  /** Waits until a transaction is in a block, or never will be. */
  settled(id: string): Promise<TransactionResponse> {
    return this.#context().api.transactionWait({ id, relayer_id: this.id }, { interval: 1000, timeout: WAIT_MS });
  }

  /** The hash under which a transaction is in a block. For one of ours this waits until it is. */
  async minedHash(hash: string): Promise<string> {
    const id = this.#sent.get(hash.toLowerCase());
    if (id === undefined) return hash;
    const known = await this.settled(id);
    if (known.hash == null || known.status === 'canceled' || known.status === 'expired') {
      throw unsent(known);
    }
    return known.hash;
  }
}

function unsent({ id, status, status_reason: reason }: TransactionResponse): Error {
  const message = `Transaction ${id} is ${status}${reason == null ? '' : `: ${reason}`}`;
  return pluginError(message, { code: 'TRANSACTION_FAILED', status: 422, details: { id, status } });
}

const AMOUNTS = {
  value: 'value',
  gasLimit: 'gas_limit',
  gasPrice: 'gas_price',
  maxFeePerGas: 'max_fee_per_gas',
  maxPriorityFeePerGas: 'max_priority_fee_per_gas',
} as const;

/** The request of a transaction in the form of ethers or Defender. Amounts may be of any kind. */
export function requestOf(given: Foreign, speed = 'fast'): Record<string, unknown> {
  const { to, data, validUntil, validForSeconds, accessList } = given;
  if (given.nonce != null) missing('A nonce', 'the relayer gives each transaction its own');
  const request: Record<string, unknown> = { to: to ?? undefined, data: data ?? '0x', value: '0' };
  for (const [name, ours] of Object.entries(AMOUNTS)) {
    const amount: Foreign = given[name];
    if (amount != null) request[ours] = BigInt(String(amount)).toString();
  }
  if (validUntil != null) request['valid_until'] = new Date(validUntil).toISOString();
  else if (typeof validForSeconds === 'number') {
    request['valid_until'] = new Date(Date.now() + validForSeconds * 1000).toISOString();
  }
  if (accessList != null) request['access_list'] = accessList;
  const isPriced = 'gas_price' in request || 'max_fee_per_gas' in request;
  if (!isPriced) request['speed'] = given.speed ?? speed;
  return request;
}

/** Never asked: the requests of the providers go through the relayer. No URL, which would count as a host to grant. */
const NOWHERE = 'relayer.invalid';

function demand(library: Foreign): void {
  if (library.version === 0) missing('A provider', 'install ethers (5 or 6) beside the plugin');
}

/** A provider of the plugin's ethers that asks the relayer's nodes. */
export function relayerProvider(library: Foreign, link: RelayerLink, chainId?: number): Foreign {
  demand(library);
  if (library.version === 5) {
    const network = chainId === undefined ? undefined : { chainId, name: 'unknown' };
    const Provider: Foreign = class RelayerProvider extends library.providers.StaticJsonRpcProvider {
      send(method: string, params: unknown) {
        return link.rpc(method, params);
      }
      async getTransactionReceipt(hash: unknown) {
        return super.getTransactionReceipt(await link.minedHash(String(await hash)));
      }
      getSigner() {
        return relayerSigner(library, link, this);
      }
    };
    return new Provider(NOWHERE, network);
  }
  const Provider: Foreign = class RelayerProvider extends library.JsonRpcProvider {
    #network: Promise<unknown> | undefined;
    async send(method: string, params: unknown) {
      const request = { id: 1, jsonrpc: '2.0', method, params };
      const { result, error } = await link.relayer.rpc(request);
      if (error == null) return result;
      throw super.getRpcError(request, { id: 1, error });
    }
    _detectNetwork() {
      this.#network ??= link.rpc('eth_chainId', []).then((id) => library.Network.from(BigInt(id)));
      return this.#network;
    }
    async getTransactionReceipt(hash: string) {
      return await super.getTransactionReceipt(await link.minedHash(hash));
    }
    async getSigner() {
      return relayerSigner(library, link, this);
    }
  };
  // A cache would leave timers behind when the call ends.
  return new Provider(NOWHERE, chainId, { staticNetwork: chainId !== undefined, cacheTimeout: -1 });
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** A signer of the plugin's ethers that sends through the relayer. `options` are parts of each of its transactions. */
export function relayerSigner(library: Foreign, link: RelayerLink, provider: Foreign, options: object = {}): Foreign {
  demand(library);
  const isOld = library.version === 5;
  const addressOf = async (to: Foreign): Promise<unknown> => {
    if (typeof to?.getAddress === 'function') return await to.getAddress();
    if (typeof to !== 'string' || ADDRESS.test(to)) return to;
    const address: unknown = await provider?.resolveName(to);
    if (typeof address !== 'string') throw new Error(`No address is known for ${to}`);
    return address;
  };
  return new (class RelayerSigner extends (isOld ? library.Signer : library.AbstractSigner) {
    constructor() {
      super(provider);
      if (isOld) Object.defineProperty(this, 'provider', { value: provider, enumerable: true });
    }
    getAddress() {
      return link.address();
    }
    connect(other: Foreign) {
      return relayerSigner(library, link, other, options);
    }
    async sendTransaction(given: Foreign) {
      // ethers 5 passes promises.
      const pairs = Object.entries(given).map(async ([name, value]) => [name, await value] as const);
      const transaction: Foreign = Object.fromEntries(await Promise.all(pairs));
      const to = await addressOf(transaction.to);
      const sent = await link.send(requestOf({ ...options, ...transaction, to }));
      const chainId = BigInt(await link.rpc('eth_chainId', []));
      return isOld
        ? responseOf5(library, link, provider, sent, chainId)
        : responseOf6(library, provider, sent, chainId);
    }
    signMessage() {
      return missing('Signing a message', SIGN_INSTEAD);
    }
    signTransaction() {
      return missing('Signing without sending', 'send the transaction');
    }
    signTypedData() {
      return missing('Signing typed data', SIGN_INSTEAD);
    }
    _signTypedData() {
      return this['signTypedData']();
    }
  })();
}

function responseOf6(library: Foreign, provider: Foreign, sent: TransactionResponse, chainId: bigint): Foreign {
  const amount = (value: Foreign) => (value == null ? null : BigInt(String(value)));
  const fields = {
    ...{ blockNumber: null, blockHash: null, index: 0, type: 2, signature: null, accessList: null, chainId },
    ...{ hash: sent.hash, to: sent['to'], from: sent['from'], nonce: sent['nonce'], data: sent['data'] ?? '0x' },
    value: amount(sent['value']) ?? 0n,
    gasLimit: amount(sent['gas_limit']) ?? 0n,
    gasPrice: amount(sent['gas_price']) ?? 0n,
    maxFeePerGas: amount(sent['max_fee_per_gas']),
    maxPriorityFeePerGas: amount(sent['max_priority_fee_per_gas']),
  };
  return Object.assign(new library.TransactionResponse(fields, provider), { transactionId: sent.id });
}

function responseOf5(
  { BigNumber }: Foreign,
  link: RelayerLink,
  provider: Foreign,
  sent: TransactionResponse,
  chainId: bigint,
): Foreign {
  const amount = (value: Foreign) => (value == null ? undefined : BigNumber.from(BigInt(String(value)).toString()));
  const { id, hash } = sent;
  const response = {
    ...{ transactionId: id, hash, to: sent['to'], from: sent['from'], nonce: sent['nonce'], confirmations: 0 },
    ...{ data: sent['data'] ?? '0x', chainId: Number(chainId) },
    value: amount(sent['value'] ?? 0),
    gasLimit: amount(sent['gas_limit']),
    gasPrice: amount(sent['gas_price']),
    maxFeePerGas: amount(sent['max_fee_per_gas']),
    maxPriorityFeePerGas: amount(sent['max_priority_fee_per_gas']),
    async wait(confirmations = 1) {
      const mined = await link.minedHash(String(hash));
      const receipt = await provider.waitForTransaction(mined, confirmations);
      if (receipt?.status !== 0) return receipt;
      const details = { code: 'CALL_EXCEPTION', transactionHash: mined, transaction: response, receipt };
      throw Object.assign(new Error(`transaction failed: ${mined}`), details);
    },
  };
  return response;
}
