import { Address, Asset, scValToNative, xdr } from '@stellar/stellar-sdk/base';
import { readPolicy } from '../../src/chains/stellar/configuration/policy.ts';
import { readEnvelope } from '../../src/chains/stellar/message/transaction-envelope.ts';
import type { SwapExchanges } from '../../src/chains/stellar/swap/exchanges.ts';
import type { SwapContext } from '../../src/chains/stellar/swap/trade.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import type { MarketClient } from '../../src/egress/market-client.ts';
import type { ReadFromEndpoint, RpcClient } from '../../src/egress/rpc/rpc-client.ts';
import { OTHER } from './stellar-envelopes.ts';
import { type Known, knowing } from './stellar-ledger.ts';
import { PASSPHRASE, RELAYER } from './stellar-relayer.ts';

const contractAt = (seed: number) => Address.contract(Buffer.alloc(32, seed)).toString();

export const TOKEN = contractAt(41);
export const OTHER_TOKEN = contractAt(42);
export const ROUTER = contractAt(43);
export const NATIVE = Asset.native().contractId(PASSPHRASE);
export const USD_ASSET = new Asset('USD', OTHER.publicKey());
export const USD = `USD:${OTHER.publicKey()}`;

/** The fields of a simulation's answer, without the function's result. */
const RAN: JsonObject = {
  transactionData: new xdr.SorobanTransactionData({
    ext: xdr.SorobanTransactionDataExt.v0(),
    resources: new xdr.SorobanResources({
      footprint: new xdr.LedgerFootprint({ readOnly: [], readWrite: [] }),
      instructions: 5,
      diskReadBytes: 0,
      writeBytes: 0,
    }),
    resourceFee: 4_000n,
  }).toXdr('base64'),
  minResourceFee: '4000',
};

/** The results of functions, by name. A text is a failure. */
export type Functions = Readonly<
  Record<string, (args: unknown[], contract: string) => { value: xdr.ScVal; auth?: string[] } | string>
>;

/** A node with these contracts; each has all functions. */
export function nodeWith(functions: Functions, known: Known = {}): ReadFromEndpoint {
  const ledger = knowing(known);
  return async (method, params, parse, options) => {
    if (method !== 'simulateTransaction') return ledger(method, params, parse, options);
    const { transaction } = params as { transaction: string };
    const body = readEnvelope(transaction).transaction.operations[0]?.body;
    const asked = body?.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
    if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new TypeError('only calls are simulated');
    const { functionName, args, contractAddress } = asked.invokeContract;
    const run = functions[functionName.toString()];
    const contract = Address.fromScAddress(contractAddress).toString();
    const told =
      run?.(
        args.map((arg) => scValToNative(arg) as unknown),
        contract,
      ) ?? 'HostError: Error(WasmVm, MissingValue)';
    if (typeof told === 'string')
      return parse({ error: told.startsWith('HostError') ? told : `HostError: Error(Contract, #1) ${told}` });
    return parse({ ...RAN, results: [{ auth: told.auth ?? [], xdr: told.value.toXdr('base64') }] });
  };
}

/** Endpoints, one for each node. */
export function endpointsOf(...nodes: readonly [ReadFromEndpoint, ...ReadFromEndpoint[]]): RpcClient {
  const parts: Pick<RpcClient, 'endpointCount' | 'onOne' | 'onAll' | 'onOthers'> = {
    endpointCount: nodes.length,
    onOne: (use) => use(nodes[0]),
    onAll: (use) => nodes.map((node) => use(node)),
    onOthers: (_read, use) => nodes.slice(1).map((node) => use(node)),
  };
  return parts as RpcClient;
}

export const exchangesWith = (horizon: MarketClient | null, routes: MarketClient | null = null): SwapExchanges => ({
  books: { network: 'testnet', horizon },
  soroswap: { router: ROUTER, network: 'testnet', routes },
});

export const SWAP_POLICIES: JsonObject = {
  fee_payment_strategy: 'user',
  allowed_tokens: [{ asset: USD }, { asset: TOKEN }],
  swap_config: { strategies: ['order-book', 'soroswap'], cron_schedule: '0 * * * * *' },
};

/** A swap of a thousand units of an asset. Prices may move by one percent. */
export function swappingOf(asset: string, over: Partial<SwapContext> = {}): SwapContext {
  const policy = readPolicy(SWAP_POLICIES);
  const token = policy.allowedTokens.find((one) => one.asset === asset);
  if (token === undefined) throw new Error('the policies name the asset');
  return {
    rpc: endpointsOf(nodeWith({})),
    exchanges: exchangesWith(null),
    policy,
    stock: { token, swapped: 1_000n },
    relayer: RELAYER.publicKey(),
    passphrase: PASSPHRASE,
    deadline: 1_000n,
    ...over,
  };
}
