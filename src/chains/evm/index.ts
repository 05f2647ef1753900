import type { Clock } from '../../domain/clock.ts';
import { chainOfLane } from '../../domain/lane.ts';
import type { Network } from '../../domain/network.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc-client.ts';
import type { Chain, ChainClient, Observation, ObservedEntry } from '../chain.ts';
import { cachedFor, freshShared } from '../single-flight.ts';
import { addressOf } from './address.ts';
import { broadcast } from './broadcast.ts';
import { observe } from './confirm.ts';
import { withProvider } from './errors.ts';
import { readMarket } from './fees.ts';
import { balanceOn, readChainId } from './identity.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { signMessage, signTypedData } from './message.ts';
import { minimumBalance, policySchema, policyView } from './policy.ts';
import { costOf, type PrepareParts, prepare } from './prepare.ts';
import { balance, onlyOn } from './provider.ts';
import { parseRequest, requestSchema } from './request.ts';
import { passThrough } from './rpc.ts';
import { networkSchema, readSettings } from './schema.ts';
import { nextNonce } from './sequence.ts';
import { signTransaction } from './signing.ts';
import { signUnsent } from './unsent.ts';
import { transactionView } from './view.ts';

/** Ethereum and the networks that speak its JSON-RPC. */
export function createEvmChain(clock: Clock): Chain {
  return {
    type: 'evm',
    curve: 'secp256k1',
    unit: 'wei',
    counter: { statusKey: 'nonce', failure: 'NonceSyncFailed' },
    policySchema,
    requestSchema,
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    minimumBalance,
    parseRequest,
    transactionView,
    costOf,
    signMessage,
    signTypedData,
    connect: (network, rpc) => createEvmClient(network, rpc, clock),
  };
}

/** How long a price may be old, at most; a quarter of a block is always fresh enough. */
const OLDEST_MARKET_MS = 2_000;

/** What is asked about one chain, of nodes that serve it. */
interface ChainSide {
  rpc: RpcClient;
  parts: PrepareParts;
}

function createEvmClient(network: Network, rpc: RpcClient, clock: Clock): ChainClient {
  const settings = readSettings(network);
  const read: ReadOne = (method, params, parse) => rpc.read(method, params, parse);
  const marketTtl = Math.min(settings.averageBlocktimeMs / 4, OLDEST_MARKET_MS);
  const sides = new Map<string, ChainSide>();

  /** The chain of an accepted transaction is that of its lane, whatever the endpoints serve by now. */
  function sideOf(identity: string): ChainSide {
    const known = sides.get(identity);
    if (known !== undefined) return known;
    const chainId = BigInt(identity);
    const own = onlyOn(chainId, rpc);
    const market = cachedFor(marketTtl, clock, () => own.onOne((one) => readMarket(one, settings.hasEip1559)));
    const freshBalance = freshShared((address: string) => own.onOne((one) => balance(one, address)));
    const side = { rpc: own, parts: { read, settings, chainId, market, balance: freshBalance } };
    sides.set(identity, side);
    return side;
  }
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));
  /** All entries are of one lane, so of one chain. */
  async function observeAll(entries: readonly ObservedEntry[]): Promise<Observation[]> {
    const [first] = entries;
    if (first === undefined) return [];
    const side = sideFor(first.transaction);
    return observe(side.rpc, entries, settings.confirmationsOn(side.parts.chainId));
  }

  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProvider(network.name, use);
  /** The chain that is meant: of an account's figures the one that was found before, else what the network declares. */
  const chainOf = (found: string | undefined): bigint | null =>
    found === undefined ? settings.declaredChainId : BigInt(found);

  return {
    // Asked anew each time: an endpoint can be moved to another chain.
    identity: (expected, onServed = () => {}) =>
      guarded(async () => String(await readChainId(network, rpc, { expected: settings.declaredChainId ?? chainOf(expected), onServed }))),
    balance: (address, { identity, least } = {}) =>
      guarded(() => balanceOn(rpc, { chain: chainOf(identity), address, least })),
    nextSequence: (address, identity) => {
      const chain = chainOf(identity);
      return guarded(() => nextNonce(chain === null ? rpc : sideOf(chain.toString()).rpc, address));
    },
    prepare: (transaction, account, lane) =>
      guarded(() => prepare(sideFor(transaction).parts, transaction, account, lane)),
    sign: signTransaction,
    broadcast: (attempt) => broadcast(rpc, attempt),
    observe: (entries) => guarded(() => observeAll(entries)),
    signTransaction: (body, account, signer) => signUnsent(body, account, signer, settings.declaredChainId),
    rpc: (body) => passThrough(rpc, body),
  };
}
