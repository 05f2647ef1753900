import type { Clock } from '../../domain/clock.ts';
import { chainOfLane } from '../../domain/lane.ts';
import type { Network } from '../../domain/network.ts';
import type { RpcClient } from '../../egress/rpc-client.ts';
import type { Chain, ChainClient, Observation, ObservedEntry } from '../chain.ts';
import { addressOf } from './address.ts';
import { createBodySearch } from './body-search.ts';
import { broadcast } from './broadcast.ts';
import { type Lookout, observe } from './confirm.ts';
import { voidRequest } from './empty-version.ts';
import { withProvider } from './errors.ts';
import { createHeadFloor } from './head-floor.ts';
import { balanceOn, readChainId } from './identity.ts';
import { signMessage, signTypedData } from './message.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { minimumBalance, policyFault, policySchema, policyView } from './policy.ts';
import { costOf, openPrepareParts, type PrepareParts, prepare } from './prepare.ts';
import { head, onlyOn } from './provider.ts';
import { checkReplacement, patienceMs, prepareVersion, vary } from './replace.ts';
import { parseRequest, requestSchema } from './request.ts';
import { passThrough } from './rpc.ts';
import { networkSchema, readSettings } from './schema.ts';
import { hasLost, isNoFurther, nextNonce, nextNonceOn } from './sequence.ts';
import { signTransaction } from './signing.ts';
import { recipientOf, selectorOf, spendOf, spentBy } from './spending.ts';
import { typedDataSchema } from './typed-data.ts';
import { signUnsent, unsentRequestSchema } from './unsent.ts';
import { attemptView, failedInBlock, inclusionView, placeOf, transactionView } from './view.ts';

/** Ethereum and the networks that speak its JSON-RPC. */
export function createEvmChain(clock: Clock): Chain {
  return {
    type: 'evm',
    curve: 'secp256k1',
    unit: 'wei',
    counter: { statusKey: 'nonce', failure: 'NonceSyncFailed' },
    policySchema,
    requestSchema,
    signingSchemas: { typedData: typedDataSchema, transaction: unsentRequestSchema },
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    policyFault,
    minimumBalance,
    lifetimeMs: LIFETIME_MS,
    parseRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf,
    failedInBlock,
    costOf,
    spending: { spendOf, spentBy, recipient: recipientOf, selector: selectorOf },
    vary,
    voidRequest,
    signMessage,
    signTypedData,
    connect: (network, rpc) => createEvmClient(network, rpc, clock),
  };
}

/** That of the reference: a price, a signature's purpose or a client's patience seldom lasts longer. */
const LIFETIME_MS = 8 * 3_600_000;

/** What is asked about one chain, of nodes that serve it. */
interface ChainSide {
  rpc: RpcClient;
  parts: PrepareParts;
  lookout: Lookout;
}

function createEvmClient(network: Network, rpc: RpcClient, clock: Clock): ChainClient {
  const settings = readSettings(network);
  const sides = new Map<string, ChainSide>();

  /** The chain of an accepted transaction is that of its lane, whatever the endpoints serve by now. */
  function sideOf(identity: string): ChainSide {
    const known = sides.get(identity);
    if (known !== undefined) return known;
    const chainId = BigInt(identity);
    const parts = openPrepareParts(rpc, settings, chainId, clock);
    const side = {
      rpc: onlyOn(chainId, rpc),
      parts,
      lookout: { floor: createHeadFloor(clock), search: createBodySearch() },
    };
    sides.set(identity, side);
    return side;
  }
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));
  /** All entries are of one lane, so of one chain. */
  async function observeAll(entries: readonly ObservedEntry[]): Promise<Observation[]> {
    const [first] = entries;
    if (first === undefined) return [];
    const side = sideFor(first.transaction);
    return observe(side.rpc, entries, settings.confirmationsOn(side.parts.chainId), side.lookout);
  }

  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProvider(network.name, use);
  /** The chain that is meant: of an account's figures the one that was found before, else what the network declares. */
  const chainOf = (found: string | undefined): bigint | null =>
    found === undefined ? settings.declaredChainId : BigInt(found);

  return {
    // Asked anew each time: an endpoint can be moved to another chain.
    identity: (expected, onServed = () => {}) =>
      guarded(async () =>
        String(await readChainId(network, rpc, { expected: settings.declaredChainId ?? chainOf(expected), onServed })),
      ),
    balance: (address, { identity, least } = {}) =>
      guarded(() => balanceOn(rpc, { chain: chainOf(identity), address, least })),
    nextSequence: (address, identity, least) => {
      const chain = chainOf(identity);
      return guarded(() => (chain === null ? nextNonce(rpc, address) : nextNonceOn(rpc, { chain, address, least })));
    },
    hasLost: (address, identity, settled) => guarded(() => hasLost(rpc, BigInt(identity), address, settled)),
    isNoFurther: (address, identity, told) => guarded(() => isNoFurther(rpc, BigInt(identity), address, told)),
    moment: (identity) =>
      guarded(async () => {
        const { number: height, madeAt: at } = await sideOf(identity).rpc.onOne(head);
        return { height, at };
      }),
    prepare: (transaction, account, lane) =>
      guarded(() => prepare(sideFor(transaction).parts, transaction, account, lane)),
    prepareVersion: (entry, version, lane) =>
      guarded(() => prepareVersion(sideFor(entry.transaction).parts, entry, version, entry.account, lane)),
    checkReplacement: (request, attempts, account) => checkReplacement(attempts, request, account, settings),
    patienceMs: ({ transaction, attempts }) => patienceMs(settings, transaction, attempts.length),
    sign: signTransaction,
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : broadcast(sideFor(first).rpc, attempts);
    },
    observe: (entries) => guarded(() => observeAll(entries)),
    signTransaction: (body, account, signer) => signUnsent(body, account, signer, settings.declaredChainId),
    rpc: (body) => passThrough(rpc, body),
  };
}
