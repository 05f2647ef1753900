import { invalidRequest } from '../../domain/errors.ts';
import type { Network } from '../../domain/network.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Chain } from '../chain.ts';
import type { ChainClient } from '../client.ts';
import { passThrough } from '../pass-through.ts';
import { withProvider } from '../provider-failure.ts';
import { balanceOfAll } from '../quorum.ts';
import { servedChain } from '../served-chain.ts';
import { unavailableParts, unavailableSending } from '../unavailable.ts';
import { addressOf } from './address.ts';
import { dialect } from './dialect.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { minimumBalance, policySchema, policyView } from './policy.ts';
import { accountAt, latestLedger, onlyOn, PASSPHRASE } from './provider.ts';
import { isRead, takesSignedBytes } from './rpc.ts';
import { declaredPassphrase, networkSchema } from './schema.ts';
import { nextSequence } from './sequence.ts';

/** Stellar: its relayers stand, and tell how they stand. */
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
    description: { name: 'Stellar', policies: {}, signing: {} },
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    minimumBalance,
    dialect,
    pace: { lifetimeMs: 0, anchors: {} },
    ...unavailableParts('stellar'),
    signMessage: () => refuseSigning('data'),
    signTypedData: () => refuseSigning('typed data'),
    takesSignedBytes,
    connect: createStellarClient,
  };
}

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
  const { noopRequest, ...sending } = unavailableSending('stellar');

  return {
    ...sending,
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
      noopRequest,
    },
    rpc: (body) => passThrough(rpc, body, isRead),
  };
}
