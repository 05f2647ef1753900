import type { MarketClient } from '../../egress/market-client.ts';
import { EndpointUnfit, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Network } from '../../features/networks/record.ts';
import { chainOfLane } from '../../features/transactions/records/lane.ts';
import type { Chain } from '../chain.ts';
import type { ChainClient, RelayerAccount } from '../chain-client.ts';
import { passThrough } from '../pass-through.ts';
import { balanceOfEndpoints } from '../quorum.ts';
import { parseRequestForm } from '../request-form.ts';
import { findServedChain, oncePerChain, withProviderErrors } from '../served-chain.ts';
import { LANDS_WITHIN_BLOCKS, readAccountHistory, requestContentOf } from './account-history.ts';
import { addressOfPublicKey } from './address.ts';
import { solana } from './configuration/family.ts';
import { networkPolicyFault, readPolicy, solanaPolicies, swapSchedule } from './configuration/policy.ts';
import { observeTransactions } from './confirm.ts';
import { apiDescription } from './description.ts';
import { policyFaults } from './guard/policy-faults.ts';
import { prepareTransaction } from './prepare.ts';
import { parseSendRequest, signOnlyRequestSchema } from './request.ts';
import { blockTime, chainTip, GENESIS, getBalance, onlyOnChain } from './rpc-calls.ts';
import { rpcDialect } from './rpc-error-dialect.ts';
import { isReadMethod, takesSignedBytes } from './rpc-methods.ts';
import { readStoredRequest } from './schema.ts';
import { preparedCostOf, renewedFields, signMessage, signTransaction, withDistinctBytes } from './signing.ts';
import { chainSpending } from './spending.ts';
import { withApiErrors } from './sponsor/errors.ts';
import { createSponsorship, sponsorMethods } from './sponsor/methods.ts';
import { Sponsor } from './sponsor/sponsor.ts';
import { offerToNodesOrMarket, UltraExecutions } from './swap/execute.ts';
import { prepareSwap } from './swap/prepare.ts';
import { swapRequestsOf } from './swap/swap-balance.ts';
import { attemptView, hasFailedInBlock, inclusionText, inclusionView, swapEvent, transactionView } from './view.ts';

/** Solana, and the networks that run its validator software. */
export function createSolanaChain(): Chain {
  return {
    ...solana,
    unit: 'lamport',
    description: apiDescription,
    addressOf: addressOfPublicKey,
    policyView: solanaPolicies.view,
    policyFault: networkPolicyFault,
    minimumBalance: (policies) => readPolicy(policies).minBalance,
    dialect: rpcDialect,
    pace: {
      lifetimeMs: LIFETIME_MS,
      anchors: { none: MAX_IN_FLIGHT, text: MAX_UNDER_NONCES },
      reofferMs: REOFFER_MS,
      lookMs: LOOK_MS,
    },
    parseRequest: parseSendRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf: inclusionText,
    failedInBlock: hasFailedInBlock,
    costOf: ({ fields }) => preparedCostOf(fields),
    spending: chainSpending,
    swapSchedule,
    swapEvent,
    withDistinctBytes,
    renewedFields,
    signMessage,
    takesSignedBytes,
    connect: createSolanaClient,
  };
}

/** The reference's value. */
const LIFETIME_MS = 30 * 60_000;

/** One look can ask for the statuses of this many transactions in a few calls. */
const MAX_IN_FLIGHT = 512;

/** A transaction under a durable nonce stays valid until the nonce moves on. */
const MAX_UNDER_NONCES = 1_000;

/** The leader changes every 4 slots. The next leader may take a transaction that the last one dropped. */
const REOFFER_MS = 2_000;
const LOOK_MS = 500;

function createSolanaClient(network: Network, rpc: RpcClient, market: MarketClient): ChainClient {
  /** The endpoints as far as they serve one chain. */
  const sideOf = oncePerChain((identity) => onlyOnChain(identity, rpc));
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));
  const sideOfAccount = ({ identity }: RelayerAccount) => (identity === undefined ? rpc : sideOf(identity));
  const sponsor = new Sponsor({
    sideOf: sideOfAccount,
    genesisOf: async ({ identity }) => identity ?? rpc.read(GENESIS.method, [], GENESIS.served),
    market,
  });
  const executions = new UltraExecutions(market);
  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProviderErrors(network.name, use);

  return {
    // Not cached: an endpoint can be moved to another chain.
    identity: (expected, onServed = () => {}) =>
      guarded(() =>
        findServedChain(network, rpc, { ...GENESIS, what: 'genesis hash', expected: expected ?? null, onServed }),
      ),
    moment: (identity) =>
      guarded(() =>
        sideOf(identity).onOne(async (read) => {
          const { slot, height } = await chainTip(read, 'finalized');
          const at = await blockTime(read, slot);
          if (at === null) throw new EndpointUnfit('it does not tell when its blocks were made', { pauseMs: 0 });
          return { height, at };
        }),
      ),
    balance: (address, { identity, least } = {}) => {
      const source = identity === undefined ? rpc : sideOf(identity);
      return guarded(() => balanceOfEndpoints(source, (read) => getBalance(read, address), least));
    },
    prepare: (transaction, account, lane) =>
      guarded(() => {
        const { swap } = readStoredRequest(transaction.request);
        const side = sideFor(transaction);
        return swap === undefined
          ? prepareTransaction(side, transaction, account, lane)
          : prepareSwap(side, market, swap.mint, account, lane);
      }),
    sign: (_transaction, fields, _anchor, signer) => signTransaction(fields, signer),
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : offerToNodesOrMarket(sideFor(first), executions, attempts);
    },
    observe: async (entries) => {
      const [first] = entries;
      return first === undefined ? [] : guarded(() => observeTransactions(sideFor(first.transaction), entries));
    },
    accountHistory: {
      contentOf: requestContentOf,
      look: (question) => guarded(() => readAccountHistory(sideOf(question.identity), question)),
      landsWithinBlocks: LANDS_WITHIN_BLOCKS,
    },
    policyFaults: (account, onRisk) => guarded(() => policyFaults(sideOfAccount(account), account, onRisk)),
    screen: ({ request }, account) =>
      guarded(() =>
        withApiErrors(async () => {
          await sponsor.assertLoadable(readStoredRequest(request), account);
          await sponsor.assertPaid(readStoredRequest(request), account);
        }),
      ),
    signTransaction: async (body, account, signer) => {
      const { transaction } = parseRequestForm(signOnlyRequestSchema, body);
      return guarded(() => withApiErrors(async () => ({ ...(await sponsor.sign(transaction, account, signer)) })));
    },
    methods: sponsorMethods(sponsor, sideOfAccount),
    sponsorship: createSponsorship(sponsor, guarded),
    swaps: (account) => guarded(() => swapRequestsOf(sideOfAccount(account), account)),
    rpc: (body) => passThrough(rpc, body, isReadMethod),
  };
}
