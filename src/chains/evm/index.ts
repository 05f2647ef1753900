import type { Clock } from '../../domain/clock.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { Network } from '../../domain/network.ts';
import type { Anchor } from '../../domain/transaction/anchor.ts';
import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Chain } from '../chain.ts';
import type { ChainClient, Observation, ObservedEntry } from '../chain-client.ts';
import { passThrough } from '../pass-through.ts';
import { withProvider } from '../served-chain.ts';
import { contentOf, lookThrough } from './account-history.ts';
import { addressOf } from './address.ts';
import { type BroadcastRoutes, broadcast } from './broadcast.ts';
import { evm } from './configuration/family.ts';
import { readSettings } from './configuration/network.ts';
import { minimumBalance, policyFault, policyView } from './configuration/policy.ts';
import { createLookout, type Lookout, observe } from './confirm.ts';
import { description } from './description.ts';
import { dialect } from './dialect.ts';
import { signUnsent } from './form/sign-only.ts';
import { balanceOn, chainIdOf, identityOf, readChainId, restartable } from './identity.ts';
import { beyondTransaction, costOf, openPrepareParts, type PrepareParts, prepare } from './prepare.ts';
import { head, onlyOn } from './provider.ts';
import { checkReplacement, noopRequest, patienceMs, prepareReplacement, withDistinctBytes } from './replace.ts';
import { parseRequest } from './request.ts';
import { isRead, takesSignedBytes } from './rpc.ts';
import { readRequest } from './schema.ts';
import { nextNonce, nextNonceOn } from './sequence.ts';
import { signMessage, signTransaction, signTypedData } from './signing.ts';
import { spending } from './spending.ts';
import { attemptView, failedInBlock, inclusionView, placeOf, transactionView } from './view.ts';

/** Ethereum and the networks that speak its JSON-RPC. */
export function createEvmChain(clock: Clock): Chain {
  return {
    ...evm,
    unit: 'wei',
    sequence: {
      name: 'nonce',
      statusKey: 'nonce',
      description: 'EVM only: the next nonce; null while no endpoint answers',
      failure: { type: 'NonceSyncFailed', text: 'Nonce synchronization failed' },
      isLookedUp: true,
    },
    description,
    addressOf,
    policyView,
    policyFault,
    minimumBalance,
    restartable,
    dialect,
    pace: { lifetimeMs: LIFETIME_MS, anchors: { sequence: MAX_IN_FLIGHT } },
    parseRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf,
    failedInBlock,
    costOf,
    spending,
    withDistinctBytes,
    signMessage,
    signTypedData,
    takesSignedBytes,
    connect: (network, rpc, _market, _deployments, relays = new Map()) =>
      createEvmClient(network, { rpc, relays }, clock),
    relays: (network) => readSettings(network).privateEndpoints,
  };
}

/** The most transactions of one account that may wait for a block. Nodes drop what exceeds their own bounds. */
const MAX_IN_FLIGHT = 512;

/** The reference's lifetime. A price, a signature's purpose or a client's patience seldom lasts longer. */
const LIFETIME_MS = 8 * 3_600_000;

/** @throws TypeError for an anchor that is no nonce; no lane hands one to this family */
function nonceOf(anchor: Anchor): bigint {
  if (anchor.kind !== 'sequence')
    throw new TypeError(`an EVM transaction has a nonce, not an anchor of kind ${anchor.kind}`);
  return anchor.sequence;
}

/** The parts that belong to one chain. Its `rpc` asks only nodes that serve that chain. */
interface ChainSide {
  rpc: RpcClient;
  parts: PrepareParts;
  lookout: Lookout;
}

function createEvmClient(network: Network, { rpc, relays }: BroadcastRoutes, clock: Clock): ChainClient {
  const settings = readSettings(network);
  const sides = new Map<string, ChainSide>();

  /** An accepted transaction belongs to the chain of its lane, whatever the endpoints serve by now. */
  function sideOf(identity: string): ChainSide {
    const known = sides.get(identity);
    if (known !== undefined) return known;
    const chainId = chainIdOf(identity);
    const parts = openPrepareParts(rpc, settings, chainId, clock);
    const side = {
      rpc: onlyOn(chainId, rpc),
      parts,
      lookout: createLookout(clock),
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
  /** The chain to ask about: the one that was found before for the account, else the one that the network declares. */
  const chainOf = (found: string | undefined): bigint | null =>
    found === undefined ? settings.declaredChainId : chainIdOf(found);

  return {
    // Asked anew each time: an endpoint can be moved to another chain.
    identity: (expected, onServed = () => {}) =>
      guarded(async () => {
        const served: [host: string, chain: bigint][] = [];
        let name = (chain: bigint) => chain.toString();
        const asked = { expected: settings.declaredChainId ?? chainOf(expected) };
        try {
          const chainId = await readChainId(network, rpc, { ...asked, onServed: (...one) => served.push(one) });
          const identity = await identityOf(rpc, chainId);
          name = (chain) => (chain === chainId ? identity : chain.toString());
          return identity;
        } finally {
          // Reports the served chains also when the right one is not among them.
          for (const [host, chain] of served) onServed(host, name(chain));
        }
      }),
    balance: (address, { identity, least } = {}) =>
      guarded(() => balanceOn(rpc, { chain: chainOf(identity), address, least })),
    sequences: {
      next: (address, identity, least) => {
        const chain = chainOf(identity);
        return guarded(() => (chain === null ? nextNonce(rpc, address) : nextNonceOn(rpc, { chain, address, least })));
      },
      noopRequest,
    },
    moment: (identity) =>
      guarded(async () => {
        const { number: height, madeAt: at } = await sideOf(identity).rpc.onOne(head);
        return { height, at };
      }),
    screen: async ({ request }) => {
      const { gasLimit } = readRequest(request);
      const fault = gasLimit === null ? undefined : beyondTransaction(gasLimit, settings);
      if (fault !== undefined) throw invalidRequest(fault);
    },
    prepare: (transaction, account, lane) =>
      guarded(() => prepare(sideFor(transaction).parts, transaction, account, lane)),
    replacement: {
      can: () => true,
      prepare: (entry, wanted, lane) =>
        guarded(() => prepareReplacement(sideFor(entry.transaction).parts, entry, wanted, entry.account, lane)),
      check: (request, attempts, account) => checkReplacement(attempts, request, account, settings),
      patienceMs: ({ transaction, attempts }) => patienceMs(settings, transaction, attempts.length),
    },
    sign: (transaction, fields, anchor, signer) => signTransaction(transaction, fields, nonceOf(anchor), signer),
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : broadcast({ rpc: sideFor(first).rpc, relays }, attempts);
    },
    observe: (entries) => guarded(() => observeAll(entries)),
    accountHistory: {
      contentOf,
      look: (question) => guarded(() => lookThrough(sideOf(question.identity).rpc, question)),
    },
    signTransaction: (body, account, signer) => signUnsent(body, account, signer, settings.declaredChainId),
    rpc: (body) => passThrough(rpc, body, isRead),
  };
}
