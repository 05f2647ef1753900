import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Network } from '../../domain/network.ts';
import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Chain } from '../chain.ts';
import type { ChainClient } from '../client.ts';
import { passThrough } from '../pass-through.ts';
import { withProvider } from '../provider-failure.ts';
import { balanceOfAll } from '../quorum.ts';
import { servedChain } from '../served-chain.ts';
import { addressOf } from './address.ts';
import { broadcast } from './broadcast.ts';
import { observe } from './confirm.ts';
import { description } from './description.ts';
import { dialect } from './dialect.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { minimumBalance, policySchema, policyView } from './policy.ts';
import { costOf, prepare } from './prepare.ts';
import { accountAt, latestLedger, onlyOn, PASSPHRASE } from './provider.ts';
import { parseRequest } from './request.ts';
import { isRead, takesSignedBytes } from './rpc.ts';
import { declaredPassphrase, networkSchema } from './schema.ts';
import { nextSequence } from './sequence.ts';
import { signTransaction } from './signing.ts';
import { attemptView, failedInBlock, inclusionView, placeOf, transactionView } from './view.ts';

/** Stellar, by Soroban RPC. */
export function createStellarChain(): Chain {
  return {
    type: 'stellar',
    curve: 'ed25519',
    unit: 'stroop',
    counter: {
      name: 'sequence',
      statusKey: 'sequence_number',
      showsLast: true,
      description: 'Stellar; the last that is used, null while nobody tells it',
      failure: { type: 'SequenceSyncFailed', text: 'Sequence synchronization failed' },
      isLookedUp: false,
    },
    policySchema,
    description,
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    minimumBalance,
    dialect,
    pace: { lifetimeMs: LIFETIME_MS, anchors: { sequence: 1 }, reofferMs: REOFFER_MS, lookMs: LOOK_MS },
    parseRequest,
    transactionView,
    attemptView,
    inclusionView,
    placeOf,
    failedInBlock,
    costOf,
    // No two have the same sequence, so none has the bytes of another.
    vary: (fields) => fields,
    signMessage: () => refuseSigning('data'),
    signTypedData: () => refuseSigning('typed data'),
    takesSignedBytes,
    connect: createStellarClient,
  };
}

/** That of the reference. */
const LIFETIME_MS = 15 * 60_000;

/** A ledger takes one of an account, and nodes drop what is in none of the next few. */
const REOFFER_MS = 10_000;
const LOOK_MS = 1_000;

/** In the reference's words. */
async function refuseSigning(what: string): Promise<never> {
  throw invalidRequest(`Signing ${what} not supported for Stellar`);
}

function createStellarClient(network: Network, rpc: RpcClient): ChainClient {
  const declared = declaredPassphrase(network);
  const sides = new Map<string, RpcClient>();

  /** The chain of an accepted transaction is that of its lane, whatever the endpoints serve by now. */
  function sideOf(identity: string): RpcClient {
    const side = sides.get(identity) ?? onlyOn(identity, rpc);
    sides.set(identity, side);
    return side;
  }
  const sideAt = (identity: string | undefined): RpcClient => {
    const chain = identity ?? declared;
    return chain === null ? rpc : sideOf(chain);
  };
  const guarded = <T>(use: () => Promise<T>): Promise<T> => withProvider(network.name, use);
  const sideFor = ({ lane }: { lane: string }) => sideOf(chainOfLane(lane));

  return {
    // Asked anew each time: an endpoint can be moved to another network.
    identity: (expected, onServed = () => {}) =>
      guarded(() =>
        servedChain(network, rpc, {
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
    // An account that is not there has nothing.
    balance: (address, { identity, least } = {}) =>
      guarded(() =>
        balanceOfAll(sideAt(identity), async (read) => (await accountAt(read, address)).account?.balance ?? 0n, least),
      ),
    sequences: {
      next: (address, identity, least) => guarded(() => nextSequence(sideAt(identity), address, least)),
      noopRequest: (): JsonObject => ({ operations: [{ type: 'bump_sequence', bump_to: 0 }] }),
    },
    prepare: (transaction, account, lane) => guarded(() => prepare(sideFor(transaction), transaction, account, lane)),
    sign: signTransaction,
    broadcast: async (attempts) => {
      const [first] = attempts;
      return first === undefined ? [] : broadcast(sideFor(first), attempts);
    },
    observe: async (entries) => {
      const [first] = entries;
      return first === undefined ? [] : guarded(() => observe(sideFor(first.transaction), entries));
    },
    signTransaction: async () => {
      throw new AppError('NOT_AVAILABLE_YET', { what: 'Signing transactions', networkType: 'stellar' });
    },
    rpc: (body) => passThrough(rpc, body, isRead),
  };
}
