import type { Clock } from '../../domain/clock.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { Network } from '../../features/networks/record.ts';
import type { Anchor } from '../../features/transactions/records/anchor.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { Chain } from '../chain.ts';
import type { ChainClient, ObservedTransaction, TransactionObservation } from '../chain-client.ts';
import { passThrough } from '../pass-through.ts';
import { oncePerChain, withProviderErrors } from '../served-chain.ts';
import { readAccountHistory, requestContentOf } from './account-history.ts';
import { addressOfPublicKey } from './address.ts';
import { type BroadcastRoutes, broadcast } from './broadcast.ts';
import { balanceOnChain, chainIdentityOf, chainIdOf, readChainId, restartableChainId } from './chain-identity.ts';
import { evm } from './configuration/family.ts';
import { readNetworkSettings } from './configuration/network.ts';
import { evmPolicies, networkPolicyFault, readPolicy } from './configuration/policy.ts';
import { createObservationMemory, observeTransactions } from './confirm.ts';
import { apiDescription } from './description.ts';
import { signOnlyTransaction } from './form/sign-only.ts';
import { openPrepareParts, preparedCostOf, prepareTransaction, transactionGasFault } from './prepare.ts';
import { checkReplacement, noopRequest, prepareReplacement, replacementDelayMs, withDistinctBytes } from './replace.ts';
import { parseSendRequest } from './request.ts';
import { getHead, onlyOnChain } from './rpc-calls.ts';
import { rpcDialect } from './rpc-error-dialect.ts';
import { isReadMethod, takesSignedBytes } from './rpc-methods.ts';
import { readStoredRequest } from './schema.ts';
import { nextNonce, nextNonceOnChain } from './sequence.ts';
import { signMessage, signTransaction, signTypedData } from './signing.ts';
import { chainSpending } from './spending.ts';
import { attemptView, hasFailedInBlock, inclusionText, inclusionView, transactionView } from './view.ts';

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
    description: apiDescription,
    addressOf: addressOfPublicKey,
    policyView: evmPolicies.view,
    policyFault: networkPolicyFault,
    minimumBalance: (policies) => readPolicy(policies).minBalance,
    restartable: restartableChainId,
    dialect: rpcDialect,
    pace: { lifetimeMs: LIFETIME_MS, anchors: { sequence: MAX_IN_FLIGHT } },
    parseRequest: parseSendRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf: inclusionText,
    failedInBlock: hasFailedInBlock,
    costOf: preparedCostOf,
    spending: chainSpending,
    withDistinctBytes,
    signMessage,
    signTypedData,
    takesSignedBytes,
    connect: (network, rpc, _market, _deployments, relays = new Map()) =>
      createEvmClient(network, { rpc, relays }, clock),
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

function createEvmClient(network: Network, { rpc, relays }: BroadcastRoutes, clock: Clock): ChainClient {
  const settings = readNetworkSettings(network);
  /** The parts that belong to one chain. Its `rpc` asks only nodes that serve that chain. */
  const sideOf = oncePerChain((identity) => {
    const chainId = chainIdOf(identity);
    return {
      rpc: onlyOnChain(chainId, rpc),
      parts: openPrepareParts(rpc, settings, chainId, clock),
      lookout: createObservationMemory(clock),
    };
  });
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));
  /** All entries are of one lane, so of one chain. */
  async function observeAll(entries: readonly ObservedTransaction[]): Promise<TransactionObservation[]> {
    const [first] = entries;
    if (first === undefined) return [];
    const side = sideFor(first.transaction);
    return observeTransactions(side.rpc, entries, settings.confirmationsOn(side.parts.chainId), side.lookout);
  }

  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProviderErrors(network.name, use);
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
          const identity = await chainIdentityOf(rpc, chainId);
          name = (chain) => (chain === chainId ? identity : chain.toString());
          return identity;
        } finally {
          // Reports the served chains also when the right one is not among them.
          for (const [host, chain] of served) onServed(host, name(chain));
        }
      }),
    balance: (address, { identity, least } = {}) =>
      guarded(() => balanceOnChain(rpc, { chain: chainOf(identity), address, least })),
    sequences: {
      next: (address, identity, least) => {
        const chain = chainOf(identity);
        return guarded(() =>
          chain === null ? nextNonce(rpc, address) : nextNonceOnChain(rpc, { chain, address, least }),
        );
      },
      noopRequest,
    },
    moment: (identity) =>
      guarded(async () => {
        const { number: height, madeAt: at } = await sideOf(identity).rpc.onOne(getHead);
        return { height, at };
      }),
    screen: async ({ request }) => {
      const { gasLimit } = readStoredRequest(request);
      const fault = gasLimit === null ? undefined : transactionGasFault(gasLimit, settings);
      if (fault !== undefined) throw invalidRequest(fault);
    },
    prepare: (transaction, account, lane) =>
      guarded(() => prepareTransaction(sideFor(transaction).parts, transaction, account, lane)),
    replacement: {
      can: () => true,
      prepare: (entry, wanted, lane) =>
        guarded(() => prepareReplacement(sideFor(entry.transaction).parts, entry, wanted, entry.account, lane)),
      check: (request, attempts, account) => checkReplacement(attempts, request, account, settings),
      patienceMs: ({ transaction, attempts }) => replacementDelayMs(settings, transaction, attempts.length),
    },
    sign: (transaction, fields, anchor, signer) => signTransaction(transaction, fields, nonceOf(anchor), signer),
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : broadcast({ rpc: sideFor(first).rpc, relays }, attempts);
    },
    observe: (entries) => guarded(() => observeAll(entries)),
    accountHistory: {
      contentOf: requestContentOf,
      look: (question) => guarded(() => readAccountHistory(sideOf(question.identity).rpc, question)),
    },
    signTransaction: (body, account, signer) => signOnlyTransaction(body, account, signer, settings.declaredChainId),
    rpc: (body) => passThrough(rpc, body, isReadMethod),
  };
}
