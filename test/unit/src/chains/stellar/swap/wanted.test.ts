import t from 'tap';
import { amountValue } from '../../../../../../src/chains/stellar/message/contract-call.ts';
import { swapsOf } from '../../../../../../src/chains/stellar/swap/wanted.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  nodeWith,
  SWAP_POLICIES,
  TOKEN,
  USD,
  USD_ASSET,
} from '../../../../../support/stellar-swap-scene.ts';

const node = nodeWith({ balance: () => ({ value: amountValue(3n) }) }, { lines: [[RELAYER, USD_ASSET, 50n]] });
const wanted = (over: object = {}) => swapsOf(endpointsOf(node), relayerAccount({ ...SWAP_POLICIES, ...over }));

t.test('each asset of which there is something is swapped for itself', async (t) => {
  const common = { validUntil: null, anchorKind: 'sequence', onDeath: 'renew' } as const;
  t.strictSame(await wanted(), [
    { request: { swap: { asset: USD } }, contentKey: `swap:${USD}`, ...common },
    { request: { swap: { asset: TOKEN } }, contentKey: `swap:${TOKEN}`, ...common },
  ]);
});

t.test('what no strategy handles, or is lumens already, is not', async (t) => {
  t.match(await wanted({ swap_config: { strategies: ['soroswap'] } }), [{ contentKey: `swap:${TOKEN}` }]);
  t.strictSame(await wanted({ allowed_tokens: [{ asset: 'native' }, { asset: 'XLM' }] }), []);
  t.strictSame(await wanted({ swap_config: null }), []);
});
