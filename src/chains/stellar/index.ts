import type { MarketClient } from '../../egress/market-client.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Network } from '../../features/networks/record.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { Chain, ContractDeployments } from '../chain.ts';
import type { ChainClient, RelayerAccount } from '../chain-client.ts';
import { passThrough } from '../pass-through.ts';
import { balanceOfEndpoints } from '../quorum.ts';
import { findServedChain, oncePerChain, withProviderErrors } from '../served-chain.ts';
import { readAccountHistory, requestContentOf } from './account-history.ts';
import { addressOfPublicKey } from './address.ts';
import { broadcast } from './broadcast.ts';
import { stellar } from './configuration/family.ts';
import { blockTimeMs, declaredPassphrase, feeForwarder, horizonUrl } from './configuration/network.ts';
import { readPolicy, stellarPolicies, swapSchedule } from './configuration/policy.ts';
import { observeTransactions } from './confirm.ts';
import { apiDescription } from './description.ts';
import { policyFaults, trustLineFault } from './guard/tokens.ts';
import { checkOnNetwork } from './network-checks.ts';
import { preparedCostOf, prepareTransaction } from './prepare.ts';
import { canReplace, NOOP_REQUEST, prepareReplacement, replacementDelayMs } from './replace.ts';
import { parseSendRequest } from './request.ts';
import { getAccount, latestLedger, onlyOnChain, PASSPHRASE } from './rpc-calls.ts';
import { rpcDialect } from './rpc-error-dialect.ts';
import { isReadMethod, takesSignedBytes } from './rpc-methods.ts';
import { readStoredRequest } from './schema.ts';
import { nextSequence } from './sequence.ts';
import { signTransaction } from './signing.ts';
import { chainSpending } from './spending.ts';
import { type ForwardMarket, limitToPayment } from './sponsor/forward-price.ts';
import { signOnlyTransaction } from './sponsor/sign-only.ts';
import { createSponsorship } from './sponsor/sponsor.ts';
import { swapExchangesOf } from './swap/exchanges.ts';
import { prepareSwap, swapEvent } from './swap/prepare.ts';
import { swapRequestsOf } from './swap/swap-balance.ts';
import { attemptView, hasFailedInBlock, inclusionText, inclusionView, transactionView } from './view.ts';

/** The chain family of Stellar, reached by Soroban RPC. */
export function createStellarChain(): Chain {
  return {
    ...stellar,
    unit: 'stroop',
    sequence: {
      name: 'sequence',
      statusKey: 'sequence_number',
      showsLast: true,
      description: 'Stellar only: the last used sequence number; null while no endpoint answers',
      failure: { type: 'SequenceSyncFailed', text: 'Sequence synchronization failed' },
      isLookedUp: false,
      // Test networks are reset and keep their passphrase, so the sequences of an account can begin anew.
      beginsAnew: true,
    },
    description: apiDescription,
    addressOf: addressOfPublicKey,
    policyView: stellarPolicies.view,
    minimumBalance: (policies) => readPolicy(policies).minBalance,
    dialect: rpcDialect,
    pace: {
      lifetimeMs: LIFETIME_MS,
      anchors: { sequence: 1, text: MAX_FEE_BUMPS },
      reofferMs: REOFFER_MS,
      lookMs: LOOK_MS,
    },
    parseRequest: parseSendRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf: inclusionText,
    failedInBlock: hasFailedInBlock,
    costOf: preparedCostOf,
    spending: chainSpending,
    swapSchedule,
    swapEvent,
    // No two transactions of an account have the same sequence, so no two have the same bytes.
    withDistinctBytes: (fields) => fields,
    takesSignedBytes,
    connect: createStellarClient,
  };
}

/** The reference's value. */
const LIFETIME_MS = 15 * 60_000;

/** So many can wait at once because each fee bump uses the sequence of another account. */
const MAX_FEE_BUMPS = 512;

/** Nodes drop a transaction that is in none of the next few ledgers. */
const REOFFER_MS = 10_000;
/** For a network whose ledgers take as long as those of the public networks, or longer. */
const LOOK_MS = 1_000;
/**
 * How many looks there are from one ledger to the next. A ledger takes one transaction of an account, so the account's
 * next transaction has to follow in time.
 */
const LOOKS_PER_LEDGER = 5;
/** The shortest pause between two looks, however short the ledgers are. */
const MIN_LOOK_MS = 100;

function lookMsOf(network: Network): number {
  return Math.min(LOOK_MS, Math.max(MIN_LOOK_MS, Math.floor(blockTimeMs(network) / LOOKS_PER_LEDGER)));
}

function createStellarClient(
  network: Network,
  rpc: RpcClient,
  market: MarketClient,
  deployments?: ContractDeployments,
): ChainClient {
  const declared = declaredPassphrase(network);
  /** The endpoints as far as they serve one chain. */
  const sideOf = oncePerChain((identity) => onlyOnChain(identity, rpc));
  const sideAt = (identity: string | undefined): RpcClient => {
    const chain = identity ?? declared;
    return chain === null ? rpc : sideOf(chain);
  };
  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProviderErrors(network.name, use);
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));

  /** The passphrase of the account's chain: the known one, or else the one that an endpoint tells. */
  const passphraseFor = async ({ identity }: RelayerAccount): Promise<string> =>
    identity ?? declared ?? rpc.read(PASSPHRASE.method, null, PASSPHRASE.served);

  const exchanges = swapExchangesOf(network, horizonUrl(network) === null ? null : market, deployments);
  const { books } = exchanges;
  const forwarder = feeForwarder(network);
  const forwardsOn = (passphrase: string): ForwardMarket => ({ books, forwarder, passphrase });

  return {
    lookMs: lookMsOf(network),
    // Not cached: an endpoint can be moved to another network.
    identity: (expected, onServed = () => {}) =>
      guarded(() =>
        findServedChain(network, rpc, {
          ...PASSPHRASE,
          what: 'passphrase',
          expected: declared ?? expected ?? null,
          onServed,
        }),
      ),
    moment: (identity) =>
      guarded(async () => {
        const { sequence: height, closedAt: at } = await sideOf(identity).onOne(latestLedger);
        return { height, at };
      }),
    // An account that does not exist has a balance of zero.
    balance: (address, { identity, least } = {}) =>
      guarded(() =>
        balanceOfEndpoints(
          sideAt(identity),
          async (read) => (await getAccount(read, address)).account?.balance ?? 0n,
          least,
        ),
      ),
    sequences: {
      next: (address, identity, least) => guarded(() => nextSequence(sideAt(identity), address, least)),
      noopRequest: () => NOOP_REQUEST,
    },
    replacement: {
      can: canReplace,
      prepare: (entry, wanted, lane) =>
        guarded(() => prepareReplacement(sideFor(entry.transaction), entry, wanted, lane)),
      patienceMs: () => replacementDelayMs(blockTimeMs(network)),
    },
    prepare: (transaction, account, lane) =>
      guarded(async () => {
        const [side, parsed] = [sideFor(transaction), readStoredRequest(transaction.request)];
        if ('swap' in parsed) {
          return prepareSwap(side, exchanges, { transaction, asset: parsed.swap.asset }, account, lane);
        }
        // Checked again here: several requests can be accepted before the first one is in a ledger.
        const held =
          'transaction' in parsed ? await side.onOne((read) => trustLineFault(read, parsed, account)) : undefined;
        if (held !== undefined) return { kind: 'refused', reason: held };
        const prepared = await prepareTransaction(side, transaction, account, lane);
        if (!('forward' in parsed)) return prepared;
        const market = forwardsOn(chainOfLane(transaction.lane));
        return side.onOne((read) => limitToPayment(read, prepared, parsed, account.policies, market));
      }),
    sign: signTransaction,
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : broadcast(sideFor(first), attempts);
    },
    observe: async (entries) => {
      const [first] = entries;
      return first === undefined ? [] : guarded(() => observeTransactions(sideFor(first.transaction), entries));
    },
    accountHistory: {
      contentOf: requestContentOf,
      look: (question) => guarded(() => readAccountHistory(sideOf(question.identity), question, blockTimeMs(network))),
    },
    policyFaults: (account) => guarded(() => policyFaults(sideAt(account.identity), exchanges, account)),
    swaps: (account) => guarded(() => swapRequestsOf(sideAt(account.identity), account)),
    screen: ({ request }, account) =>
      guarded(() =>
        checkOnNetwork(readStoredRequest(request), account, {
          rpc: sideAt(account.identity),
          passphrase: () => passphraseFor(account),
          marketOn: forwardsOn,
        }),
      ),
    sponsorship: createSponsorship({
      sideOf: ({ identity }) => sideAt(identity),
      marketOf: async (account) => forwardsOn(await passphraseFor(account)),
      blockTimeMs: blockTimeMs(network),
      guarded,
    }),
    signTransaction: (body, account, signer) =>
      guarded(async () => {
        const passphrase = await passphraseFor(account);
        return signOnlyTransaction(body, { rpc: sideOf(passphrase), passphrase, account, signer });
      }),
    rpc: (body) => passThrough(rpc, body, isReadMethod),
  };
}
