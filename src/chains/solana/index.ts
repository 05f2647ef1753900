import type { Network } from '../../domain/network.ts';
import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { MarketClient } from '../../egress/market-client.ts';
import { EndpointUnfit, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Chain } from '../chain.ts';
import type { Account, ChainClient } from '../chain-client.ts';
import { passThrough } from '../pass-through.ts';
import { balanceOfAll } from '../quorum.ts';
import { readForm } from '../request-form.ts';
import { servedChain, withProvider } from '../served-chain.ts';
import { contentOf, LANDS_WITHIN_BLOCKS, lookThrough } from './account-history.ts';
import { addressOf } from './address.ts';
import { solana } from './configuration/family.ts';
import { minimumBalance, policyFault, policyView, swapSchedule } from './configuration/policy.ts';
import { observe } from './confirm.ts';
import { description } from './description.ts';
import { dialect } from './dialect.ts';
import { policyFaults } from './guard/known.ts';
import { prepare } from './prepare.ts';
import { balance, blockTime, chainTip, GENESIS, onlyOn } from './provider.ts';
import { parseRequest, unsentRequestSchema } from './request.ts';
import { isRead, takesSignedBytes } from './rpc.ts';
import { readRequest } from './schema.ts';
import { costOf, renewedFields, signMessage, signTransaction, withDistinctBytes } from './signing.ts';
import { spending } from './spending.ts';
import { inPlainWords } from './sponsor/errors.ts';
import { sponsorMethods, sponsorshipOf } from './sponsor/methods.ts';
import { Sponsor } from './sponsor/sponsor.ts';
import { Executions, offerEach } from './swap/execute.ts';
import { prepareSwap } from './swap/prepare.ts';
import { swapsOf } from './swap/stock.ts';
import { attemptView, failedInBlock, inclusionView, placeOf, swapEvent, transactionView } from './view.ts';

/** Solana, and the networks that run its validator software. */
export function createSolanaChain(): Chain {
  return {
    ...solana,
    unit: 'lamport',
    description,
    addressOf,
    policyView,
    policyFault,
    minimumBalance,
    dialect,
    pace: {
      lifetimeMs: LIFETIME_MS,
      anchors: { none: MAX_IN_FLIGHT, text: MAX_UNDER_NONCES },
      reofferMs: REOFFER_MS,
      lookMs: LOOK_MS,
    },
    parseRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf,
    failedInBlock,
    costOf: ({ fields }) => costOf(fields),
    spending,
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
  const sides = new Map<string, RpcClient>();

  /**
   * The endpoints as far as they serve one chain. An accepted transaction stays on its lane's chain, whatever they
   * serve now.
   */
  function sideOf(identity: string): RpcClient {
    const side = sides.get(identity) ?? onlyOn(identity, rpc);
    sides.set(identity, side);
    return side;
  }
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));
  const sideOfAccount = ({ identity }: Account) => (identity === undefined ? rpc : sideOf(identity));
  const sponsor = new Sponsor({
    sideOf: sideOfAccount,
    genesisOf: async ({ identity }) => identity ?? rpc.read(GENESIS.method, [], GENESIS.served),
    market,
  });
  const executions = new Executions(market);
  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProvider(network.name, use);

  return {
    // Not cached: an endpoint can be moved to another chain.
    identity: (expected, onServed = () => {}) =>
      guarded(() =>
        servedChain(network, rpc, { ...GENESIS, what: 'genesis hash', expected: expected ?? null, onServed }),
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
      return guarded(() => balanceOfAll(source, (read) => balance(read, address), least));
    },
    prepare: (transaction, account, lane) =>
      guarded(() => {
        const { swap } = readRequest(transaction.request);
        const side = sideFor(transaction);
        return swap === undefined
          ? prepare(side, transaction, account, lane)
          : prepareSwap(side, market, swap.mint, account, lane);
      }),
    sign: (_transaction, fields, _anchor, signer) => signTransaction(fields, signer),
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : offerEach(sideFor(first), executions, attempts);
    },
    observe: async (entries) => {
      const [first] = entries;
      return first === undefined ? [] : guarded(() => observe(sideFor(first.transaction), entries));
    },
    accountHistory: {
      contentOf,
      look: (question) => guarded(() => lookThrough(sideOf(question.identity), question)),
      landsWithinBlocks: LANDS_WITHIN_BLOCKS,
    },
    policyFaults: (account, onRisk) => guarded(() => policyFaults(sideOfAccount(account), account, onRisk)),
    screen: ({ request }, account) =>
      guarded(() =>
        inPlainWords(async () => {
          await sponsor.assertLoadable(readRequest(request), account);
          await sponsor.assertPaid(readRequest(request), account);
        }),
      ),
    signTransaction: async (body, account, signer) => {
      const { transaction } = readForm(unsentRequestSchema, body);
      return guarded(() => inPlainWords(async () => ({ ...(await sponsor.sign(transaction, account, signer)) })));
    },
    methods: sponsorMethods(sponsor, sideOfAccount),
    sponsorship: sponsorshipOf(sponsor, guarded),
    swaps: (account) => guarded(() => swapsOf(sideOfAccount(account), account)),
    rpc: (body) => passThrough(rpc, body, isRead),
  };
}
