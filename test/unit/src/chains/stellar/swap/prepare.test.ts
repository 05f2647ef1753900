import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  addressValue,
  amountValue,
  callOperation,
  listValue,
} from '../../../../../../src/chains/stellar/message/contract.ts';
import { prepareSwap, swapConsentFault, swapEvent } from '../../../../../../src/chains/stellar/swap/prepare.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { CLIENT } from '../../../../../support/stellar-envelopes.ts';
import { fieldsOf, RELAYER, relayerAccount, storedStellar } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  exchangesWith,
  NATIVE,
  nodeWith,
  ROUTER,
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

function invocation(call: Parameters<typeof callOperation>, subInvocations: xdr.SorobanAuthorizedInvocation[]) {
  const { body } = callOperation(...call);
  const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('it is a call');
  const authorized = xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(asked.invokeContract);
  return new xdr.SorobanAuthorizedInvocation({ function: authorized, subInvocations });
}

t.test('consents', async (t) => {
  const [relayer, somebody] = [RELAYER.publicKey(), CLIENT.publicKey()];
  const given = { relayer, token: TOKEN, amount: 1_000n };

  function invocation(
    contract: string,
    name: string,
    args: xdr.ScVal[],
    below: xdr.SorobanAuthorizedInvocation[] = [],
  ) {
    const { body } = callOperation(contract, name, args);
    const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
    if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('it is a call');
    return new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(asked.invokeContract),
      subInvocations: below,
    });
  }

  const transfer = ({
    token = TOKEN,
    from = relayer,
    amount = 1_000n,
    below = [] as xdr.SorobanAuthorizedInvocation[],
  }) => invocation(token, 'transfer', [addressValue(from), addressValue(ROUTER), amountValue(amount)], below);

  const own: xdr.SorobanCredentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  const consent = (below: xdr.SorobanAuthorizedInvocation[], credentials: xdr.SorobanCredentials = own) =>
    new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation: invocation(ROUTER, 'swap', [], below) }).toXdr(
      'base64',
    );

  t.test('one transfer of the token, of what is given, is consented to', async (t) => {
    t.equal(swapConsentFault([consent([transfer({})])], given), undefined);
  });

  t.test('and nothing else', async (t) => {
    const other = xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: xdr.ScAddress.scAddressTypeAccount(CLIENT.xdrAccountId()),
        nonce: 1n,
        signatureExpirationLedger: 5,
        signature: xdr.ScVal.scvVoid(),
      }),
    );
    const approve = invocation(TOKEN, 'approve', [addressValue(relayer), addressValue(ROUTER), amountValue(1_000n)]);
    const good = consent([transfer({})]);
    for (const [what, consents, fault] of [
      ['none', [], /needs 0 authorizations/],
      ['two', [good, good], /needs 2 authorizations/],
      ['of somebody else', [consent([transfer({})], other)], /another account’s authorization/],
      ['no transfer', [consent([])], /transfers none/],
      ['two transfers', [consent([transfer({}), transfer({ token: NATIVE })])], /more than one transfer/],
      ['one below', [consent([transfer({ below: [transfer({ token: NATIVE })] })])], /more than one transfer/],
      ['an allowance', [consent([approve])], /calls approve/],
      ['another token', [consent([transfer({ token: NATIVE })])], /not the token’s transfer/],
      ['somebody’s', [consent([transfer({ from: somebody })])], /from somebody else/],
      ['more', [consent([transfer({ amount: 1_001n })])], /another amount than 1000/],
    ] as const) {
      t.match(swapConsentFault(consents, given), fault, what);
    }
  });
});

t.test('result', async (t) => {
  const request = { swap: { asset: 'A' } };
  const swap = { operation: 'AA', given: '9223372036854775807', promised: 7, least: 6 };
  const told = (over: Parameters<typeof storedStellar>[0]) =>
    swapEvent(storedStellar({ request, fields: fieldsOf({ swap }), hash: 'h', ...over }));
  const eventOf = (event: string, result: object) => ({
    event,
    payload: { payload_type: 'stellar_dex', swap_results: [{ mint: 'A', ...result }] },
  });

  t.test('a swap is told when it is signed, and when it has ended', async (t) => {
    const given = { source_amount: 2n ** 63n - 1n, transaction_signature: 'h' };
    const well = { ...given, destination_amount: 7n, error: null };
    t.match(told({ status: 'sent' }), eventOf('stellar_dex_queued', well));
    t.match(told({ status: 'confirmed' }), eventOf('stellar_dex', well));
    for (const status of ['pending', 'submitted', 'mined'] as const) t.equal(told({ status }), undefined);
    const vain = { ...given, destination_amount: 0n, error: 'why' };
    t.match(told({ status: 'failed', statusReason: 'why' }), eventOf('stellar_dex', vain));
    const never = { source_amount: 0n, destination_amount: 0n, transaction_signature: '', error: 'expired' };
    t.match(told({ status: 'expired', fields: {}, hash: null }), eventOf('stellar_dex', never));
  });

  t.test('a transaction that is no swap tells nothing of one', async (t) => {
    t.equal(swapEvent(storedStellar({ status: 'confirmed' })), undefined);
  });
});
