/**
 * The exports of `'@gelatonetwork/web3-functions-sdk'`: a Web3 Function runs as a plugin, and what it answers is sent
 * through the relayer that its entry names. Only the documented names and types were used to write it.
 */
import type { PluginContext } from '../plugin-api.ts';
import type { PluginKVStore } from '../sdk/capabilities.ts';
import { frozen } from '../sdk/frozen.ts';
import type { TransactionResponse } from '../sdk/network-models.ts';
import {
  callPluginBy,
  type Foreign,
  kvKey,
  ofKvKey,
  RelayerLink,
  relayerIn,
  relayerProvider,
  requestOf,
} from './foreign-host.ts';
import * as library from './own-ethers.ts';
import { pluginError } from './relayer-sdk.ts';

export interface Web3FunctionUserArgs {
  [key: string]: string | number | boolean | string[] | number[] | boolean[];
}

export interface Web3FunctionResultCallData {
  to: string;
  data: string;
  value?: string;
}

export type Web3FunctionResult =
  | { canExec: true; callData: Web3FunctionResultCallData[] | string }
  | { canExec: false; message: string };

export interface Web3FunctionContext {
  gelatoArgs: { chainId: number; gasPrice: Foreign; taskId?: string };
  multiChainProvider: {
    default(): Foreign;
    chainId(chainId: number): Foreign;
    nbRpcCallsRemaining(): Promise<Foreign>;
  };
  /** Of the first version of the library. */
  provider: Foreign;
  userArgs: Web3FunctionUserArgs;
  secrets: { get(key: string): Promise<string | undefined> };
  storage: {
    get(key: string): Promise<string | undefined>;
    set(key: string, value: string): Promise<void>;
    delete(key: string): Promise<void>;
    getKeys(): Promise<string[]>;
    getSize(): Promise<number>;
  };
}

export interface Web3FunctionEventContext extends Web3FunctionContext {
  log: Foreign;
}

export interface Web3FunctionSuccessContext extends Web3FunctionContext {
  transactionHash?: string;
}

export interface Web3FunctionFailContext extends Web3FunctionContext {
  reason: 'InsufficientFunds' | 'SimulationFailed' | 'ExecutionReverted';
  callData?: Web3FunctionResultCallData[];
  transactionHash?: string;
}

type EventRunHandler = (context: Web3FunctionEventContext) => Promise<Web3FunctionResult>;

interface Handlers {
  run?: EventRunHandler;
  success?: (context: Web3FunctionSuccessContext) => Promise<void>;
  fail?: (context: Web3FunctionFailContext) => Promise<void>;
}

const handlers: Handlers = {};

interface EntryPoints {
  onRun(run: (context: Web3FunctionContext) => Promise<Web3FunctionResult>): void;
  onRun(run: EventRunHandler): void;
  onSuccess(success: NonNullable<Handlers['success']>): void;
  onFail(fail: NonNullable<Handlers['fail']>): void;
  setDebug(debug: boolean): void;
}

/** The entry points of a Web3 Function. */
export const Web3Function: EntryPoints = /* @__PURE__ */ frozen({
  onRun(run: EventRunHandler): void {
    handlers.run = run;
    callPluginBy({ handler: runFunction });
  },
  onSuccess(success: NonNullable<Handlers['success']>): void {
    handlers.success = success;
  },
  onFail(fail: NonNullable<Handlers['fail']>): void {
    handlers.fail = fail;
  },
  setDebug(): void {},
});

const PREFIX = 'gelato:';

/** The storage of a function. As in Gelato, what it sets is stored when it has returned, and not when it throws. */
function openStorage(kv: PluginKVStore) {
  const changed = new Map<string, string | undefined>();
  const storage: Web3FunctionContext['storage'] = {
    async get(key) {
      if (changed.has(key)) return changed.get(key);
      return (await kv.get<string>(kvKey(PREFIX, key))) ?? undefined;
    },
    async set(key, value) {
      changed.set(key, String(value));
    },
    async delete(key) {
      changed.set(key, undefined);
    },
    async getKeys() {
      const stored = (await kv.listKeys(`${PREFIX}*`)).map((key) => ofKvKey(PREFIX, key));
      const all = new Set([...stored, ...changed.keys()]);
      return [...all].filter((key) => !changed.has(key) || changed.get(key) !== undefined);
    },
    async getSize() {
      const pairs = (await storage.getKeys()).map(async (key) => [key, await storage.get(key)] as const);
      return new TextEncoder().encode(JSON.stringify(Object.fromEntries(await Promise.all(pairs)))).length;
    },
  };
  const save = async () => {
    for (const [key, value] of changed) {
      if (value === undefined) await kv.del(kvKey(PREFIX, key));
      else await kv.set(kvKey(PREFIX, key), value);
    }
  };
  return { storage, save };
}

async function runFunction(context: PluginContext): Promise<unknown> {
  const { run } = handlers;
  const { config = {} } = context;
  const link = new RelayerLink(relayerIn(context), () => context);
  const { storage, save } = openStorage(context.kv);
  const given = await contextOf(context, link, storage);
  const result = await run?.(given as Web3FunctionEventContext);
  await save();
  if (result?.canExec === false) return { canExec: false, message: String(result.message) };
  const calls = callsOf(result, config['execAddress']);
  const sent: TransactionResponse[] = [];
  for (const call of calls) {
    const last = await execute(link, call, config['speed']);
    if (!('refusal' in last)) sent.push(last);
    if ('status' in last && (last.status === 'mined' || last.status === 'confirmed')) continue;
    const why = 'refusal' in last ? last.refusal : `${last.status}: ${last.status_reason ?? 'no reason is known'}`;
    const transactionHash = ('hash' in last && last.hash) || undefined;
    const reason = 'refusal' in last ? 'SimulationFailed' : 'ExecutionReverted';
    const failed = { reason, callData: calls, ...(transactionHash !== undefined && { transactionHash }) } as const;
    // `given` as it is: its provider is made when it is asked for, and there may be no ethers to make it of.
    await handlers.fail?.(Object.assign(given, failed));
    throw pluginError(`Call ${calls.indexOf(call) + 1} of ${calls.length}: ${why}`, {
      ...{ code: 'EXECUTION_FAILED', status: 422 },
      details: { reason, transactions: sent.map(({ id, hash, status }) => ({ id, hash, status })) },
    });
  }
  const transactionHash = sent.at(-1)?.hash ?? undefined;
  await handlers.success?.(Object.assign(given, transactionHash !== undefined && { transactionHash }));
  return { canExec: true, transactions: sent.map(({ id, hash, status }) => ({ id, hash, status })) };
}

/**
 * Simulates a call, as Gelato does, and sends it. Waits until it is in a block: a function that runs again before reads a
 * chain without it, and sends it a second time.
 */
async function execute(
  link: RelayerLink,
  call: Web3FunctionResultCallData,
  speed: unknown,
): Promise<TransactionResponse | { refusal: string }> {
  const request = requestOf(call, typeof speed === 'string' ? speed : undefined);
  const { to, data } = request;
  const value = `0x${BigInt(String(request['value'])).toString(16)}`;
  try {
    await link.rpc('eth_call', [{ from: await link.address(), to, data, value }, 'latest']);
  } catch (error) {
    return { refusal: `the simulation failed: ${error instanceof Error ? error.message : String(error)}` };
  }
  const { id } = await link.relayer.sendTransaction(request);
  return await link.settled(id);
}

function callsOf(result: Web3FunctionResult | undefined, target: unknown): Web3FunctionResultCallData[] {
  const { callData } = (result ?? {}) as { callData?: unknown };
  const isText = typeof callData === 'string';
  if (isText && typeof target !== 'string') {
    throw pluginError('"config" of the entry has to name the called contract: { "execAddress": "0x…" }', {
      code: 'NOT_CONFIGURED',
    });
  }
  const calls = isText ? [{ to: target as string, data: callData }] : callData;
  const isCall = (one: Partial<Web3FunctionResultCallData> | null) =>
    typeof one?.to === 'string' && typeof one.data === 'string';
  if (result?.canExec === true && Array.isArray(calls) && calls.every(isCall)) return calls;
  throw pluginError(
    'The function has to return { canExec: true, callData: [{ to, data }] } or { canExec: false, message }',
    {
      code: 'INVALID_RESULT',
    },
  );
}

async function contextOf(
  context: PluginContext,
  link: RelayerLink,
  storage: Web3FunctionContext['storage'],
): Promise<Web3FunctionContext> {
  const { config = {}, params } = context;
  const [chain, price] = await Promise.all([link.rpc('eth_chainId', []), link.rpc('eth_gasPrice', [])]);
  const ownChain = Number(chain);
  const byChain = (config['relayers'] ?? {}) as Record<string, string>;
  const providers = new Map<number, Foreign>();
  const providerOf = (chainId: number) => {
    const other = chainId === ownChain ? link.id : byChain[chainId];
    if (other === undefined) {
      const message = `No relayer is named for chain ${chainId}: "config" of the entry needs { "relayers": { "${chainId}": "…" } }`;
      throw pluginError(message, { code: 'NOT_CONFIGURED' });
    }
    const known = providers.get(chainId);
    if (known !== undefined) return known;
    const to = other === link.id ? link : new RelayerLink(other, () => context);
    const provider = relayerProvider(library, to, chainId);
    providers.set(chainId, provider);
    return provider;
  };
  const log: unknown = context.trigger?.event?.body?.log ?? params?.log;
  return {
    gelatoArgs: {
      chainId: ownChain,
      gasPrice: (library as Foreign).BigNumber?.from(price) ?? BigInt(price),
      ...(typeof config['taskId'] === 'string' && { taskId: config['taskId'] }),
    },
    multiChainProvider: {
      default: () => providerOf(ownChain),
      chainId: (chainId) => providerOf(Number(chainId)),
      nbRpcCallsRemaining: async () => ({ callsRemaining: Number.MAX_SAFE_INTEGER }),
    },
    get provider() {
      return providerOf(ownChain);
    },
    userArgs: (config['userArgs'] ?? {}) as Web3FunctionUserArgs,
    secrets: { get: async (key) => process.env[key] },
    storage,
    ...(log !== undefined && { log }),
  };
}
