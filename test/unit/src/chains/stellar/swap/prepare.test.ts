import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  addressValue,
  amountValue,
  callOf,
  listValue,
} from '../../../../../../src/chains/stellar/message/contract-call.ts';
import { prepareSwap } from '../../../../../../src/chains/stellar/swap/prepare.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { RELAYER, relayerAccount, storedStellar } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  exchangesWith,
  NATIVE,
  nodeWith,
  SWAP_POLICIES,
  TOKEN,
  USD,
  USD_ASSET,
} from '../../../../../support/stellar-swap-scene.ts';

const known = { accounts: [[RELAYER, 100_000_000n]], lines: [[RELAYER, USD_ASSET, 1_005n]] } as const;

function prepared(
  asset: string,
  { price = '0.0002', node = nodeWith({}, known), policies = SWAP_POLICIES, committed = 0n } = {},
) {
  const records = [{ destination_asset_type: 'native', destination_amount: price, path: [] }];
  const get = async () => ({ _embedded: { records } }) as unknown as Json;
  const transaction = storedStellar({ status: 'pending', request: { swap: { asset } } });
  const exchanges = exchangesWith({ ...NO_MARKET, get });
  return prepareSwap(endpointsOf(node), exchanges, { transaction, asset }, relayerAccount(policies), { committed });
}

t.test('what is signed has the price of the moment, and an end', async (t) => {
  t.match(await prepared(USD), {
    kind: 'ready',
    cost: 100n,
    fields: { max_time: 1_020, swap: { given: 1_000, promised: 2_000, least: 1_980 } },
  });
});

t.test('one that costs what it brings waits, and so does one that nobody offers', async (t) => {
  t.match(await prepared(USD, { price: '0.00001' }), {
    kind: 'parked',
    cause: 'price',
    reason: 'The swap brings 99 stroops and costs 100',
  });
  t.match(await prepared(USD, { price: '0' }), { kind: 'parked', reason: 'No swap: No path found for conversion' });
  t.match(await prepared(USD, { committed: 99_999_950n }), { kind: 'parked', cause: 'balance' });
  t.match(await prepared(USD, { node: nodeWith({}, { ...known, lines: [] }) }), {
    kind: 'refused',
    reason: /nothing to swap/,
  });
});

t.test('the policies of the moment hold', async (t) => {
  const { swap_config: _, ...none } = SWAP_POLICIES;
  const gone = { kind: 'refused', reason: /The policies have no swap of USD:\w+ any more/ };
  t.match(await prepared(USD, { policies: none }), gone);
  t.match(await prepared(USD, { policies: { ...SWAP_POLICIES, allowed_tokens: [{ asset: TOKEN }] } }), gone);
  t.match(await prepared(USD, { policies: { ...SWAP_POLICIES, max_fee: 99 } }), { kind: 'parked', reason: /Max fee/ });
});

t.test('a call is prepared with the consent that it needs, and with no other', async (t) => {
  const consenting = (amount: bigint) =>
    nodeWith(
      {
        balance: () => ({ value: amountValue(1_000n) }),
        router_get_amounts_out: () => ({ value: listValue([amountValue(1_000n), amountValue(9_000_000n)]) }),
        swap_exact_tokens_for_tokens: (args, router) => ({
          value: listValue([]),
          auth: [consentTo(router, args, amount)],
        }),
      },
      known,
    );
  t.match(await prepared(TOKEN, { node: consenting(1_000n) }), {
    kind: 'ready',
    fields: { contract: { consents: [/./] }, swap: { least: 8_910_000 } },
  });
  const refused = { kind: 'refused', reason: 'The swap is not signed: it transfers another amount than 1000' };
  t.match(await prepared(TOKEN, { node: consenting(1_001n) }), refused);
});

function consentTo(router: string, [given, least, , to, deadline]: unknown[], amount: bigint): string {
  const way = listValue([TOKEN, NATIVE].map(addressValue));
  const args = [amountValue(given as bigint), amountValue(least as bigint), way, addressValue(to as string)];
  const transfer = [addressValue(to as string), addressValue(router), amountValue(amount)];
  const rootInvocation = invocation(
    [router, 'swap_exact_tokens_for_tokens', [...args, xdr.ScVal.scvU64(deadline as bigint)]],
    [invocation([TOKEN, 'transfer', transfer], [])],
  );
  const credentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation }).toXdr('base64');
}

function invocation(call: Parameters<typeof callOf>, subInvocations: xdr.SorobanAuthorizedInvocation[]) {
  const { body } = callOf(...call);
  const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('it is a call');
  const authorized = xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(asked.invokeContract);
  return new xdr.SorobanAuthorizedInvocation({ function: authorized, subInvocations });
}
