import type { Clock } from '../../domain/clock.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { Network } from '../../domain/network.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc-client.ts';
import type { Chain, ChainClient } from '../chain.ts';
import { cachedFor, freshShared } from '../single-flight.ts';
import { addressOf } from './address.ts';
import { broadcast } from './broadcast.ts';
import { observe } from './confirm.ts';
import { providerFailed, withProvider } from './errors.ts';
import { readMarket } from './fees.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { minimumBalance, policySchema, policyView } from './policy.ts';
import { costOf, prepare } from './prepare.ts';
import { balance, quantity } from './provider.ts';
import { parseRequest } from './request.ts';
import { passThrough } from './rpc.ts';
import { networkSchema, readSettings } from './schema.ts';
import { nextNonce } from './sequence.ts';
import { signTransaction } from './signing.ts';
import { transactionView } from './view.ts';

/** Ethereum and the networks that speak its JSON-RPC. */
export function createEvmChain(clock: Clock): Chain {
  return {
    type: 'evm',
    curve: 'secp256k1',
    unit: 'wei',
    counter: { statusKey: 'nonce', failure: 'NonceSyncFailed' },
    policySchema,
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    minimumBalance,
    parseRequest,
    transactionView,
    costOf,
    connect: (network, rpc) => createEvmClient(network, rpc, clock),
  };
}

/** How long a price may be old, at most; a quarter of a block is always fresh enough. */
const OLDEST_MARKET_MS = 2_000;

function createEvmClient(network: Network, rpc: RpcClient, clock: Clock): ChainClient {
  const settings = readSettings(network);
  const read: ReadOne = (method, params, parse) => rpc.read(method, params, parse);
  const chainId = cachedFor(Number.POSITIVE_INFINITY, clock, () => readChainId(network, rpc, settings.declaredChainId));
  const marketTtl = Math.min(settings.averageBlocktimeMs / 4, OLDEST_MARKET_MS);
  const market = cachedFor(marketTtl, clock, () => rpc.onOne((one) => readMarket(one, settings.hasEip1559)));
  const freshBalance = freshShared((address: string) => balance(read, address));
  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProvider(network.name, use);

  return {
    // Asked anew each time: an endpoint can be moved to another chain.
    identity: () => guarded(async () => String(await readChainId(network, rpc, settings.declaredChainId))),
    balance: (address) => guarded(() => balance(read, address)),
    nextSequence: (address) => guarded(() => nextNonce(rpc, address)),
    prepare: (transaction, account, lane) =>
      guarded(() => prepare({ read, settings, chainId, market, balance: freshBalance }, transaction, account, lane)),
    sign: signTransaction,
    broadcast: (attempt) => broadcast(rpc, attempt),
    observe: (entries) => guarded(async () => observe(rpc, entries, settings.confirmationsOn(await chainId()))),
    signTransaction: async () => {
      throw invalidRequest('sign_transaction not supported for EVM');
    },
    rpc: (body) => passThrough(rpc, body),
  };
}

/**
 * Asks every endpoint for its chain; those that do not answer are left out of the count.
 * @throws AppError `PROVIDER_FAILED` when none answers, or one serves another chain than the rest or the declared one
 */
async function readChainId(network: Network, rpc: RpcClient, declared: bigint | null): Promise<bigint> {
  const hosts = network.rpcUrls.filter(({ weight }) => weight > 0).map(({ url }) => new URL(url).host);
  const answers = await rpc.each('eth_chainId', []);
  let expected = declared;
  let answered = false;
  let reason = 'no endpoint is switched on';
  for (const [index, answer] of answers.entries()) {
    const host = String(hosts[index]);
    const served = answer.status === 'fulfilled' ? chainIdIn(answer.value) : undefined;
    if (served === undefined) {
      reason = answer.status === 'rejected' ? messageOf(answer.reason) : `${host} has no chain id`;
      continue;
    }
    expected ??= served;
    if (served !== expected) {
      throw providerFailed(network.name, `${host} serves chain ${served}, not ${expected}`);
    }
    answered = true;
  }
  if (answered && expected !== null) return expected;
  throw providerFailed(network.name, reason);
}

function chainIdIn(answer: Json): bigint | undefined {
  try {
    return quantity(answer);
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
