import { Asset, LiquidityPoolAsset, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import {
  assertTrustLines,
  policyFaults,
  trustLineAssets,
  trustLineFault,
} from '../../../../../../src/chains/stellar/guard/tokens.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { type EnvelopeHow, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  exchangesWith,
  nodeWith,
  SWAP_POLICIES,
  TOKEN,
  USD,
} from '../../../../../support/stellar-swap-scene.ts';

t.test('known', async (t) => {
  const whole = nodeWith({ decimals: () => ({ value: xdr.ScVal.scvU32(7) }) }, { accounts: [[OTHER, 1n]] });
  const empty = nodeWith({});
  const there = exchangesWith(NO_MARKET);
  const account = relayerAccount({
    ...SWAP_POLICIES,
    allowed_tokens: [{ asset: 'native' }, { asset: USD }, { asset: TOKEN }],
  });

  t.test('what the network has is known, also where one endpoint does not have it', async (t) => {
    t.strictSame(await policyFaults(endpointsOf(whole), there, account), []);
    t.strictSame(await policyFaults(endpointsOf(empty, whole), there, account), []);
    t.strictSame(await policyFaults(endpointsOf(empty), there, relayerAccount({})), []);
  });

  t.test('what it does not have is named, with what to do', async (t) => {
    for (const nodes of [endpointsOf(empty), endpointsOf(empty, empty)]) {
      t.strictSame(await policyFaults(nodes, there, account), [
        `allowed_tokens: the issuer of ${USD} is not on this network; correct it, or remove it`,
        `allowed_tokens: ${TOKEN} is not a token on this network; correct it, or remove it`,
      ]);
    }
  });

  t.test('and so are swaps that it has no place for', async (t) => {
    const nowhere = { books: { network: 'n', horizon: null }, soroswap: null };
    t.match(await policyFaults(endpointsOf(whole), nowhere, account), [/order-book needs/, /soroswap has no router/]);
    const { swap_config: _, ...none } = account.policies;
    t.strictSame(await policyFaults(endpointsOf(whole), nowhere, { ...account, policies: none }), []);
  });
});

// Threat: a relayer whose users pay trusts a token in which nobody pays, limits or ends a trustline that it needs, or
// pays too much for the change.
t.test('trust', async (t) => {
  const [USD, LONGER, EUR] = ['USD', 'DOLLARS', 'EUR'].map((code) => new Asset(code, OTHER.publicKey())) as [
    Asset,
    Asset,
    Asset,
  ];
  const allowed = [USD, LONGER].map(({ code, issuer }) => ({ asset: `${code}:${issuer}` }));
  const policy = readPolicy({ fee_payment_strategy: 'user', allowed_tokens: [...allowed, { asset: 'native' }] });
  const trusted = (operations: xdr.Operation[], how: EnvelopeHow = {}) =>
    trustLineAssets(readEnvelope(envelopeText(RELAYER, operations, how)).transaction, policy);
  const trust = (asset: Asset | LiquidityPoolAsset, limit?: string) =>
    Operation.changeTrust({ asset, ...(limit === undefined ? {} : { limit }) });

  t.test('only what users pay in, without a limit, and nothing else', (t) => {
    t.strictSame(trusted([trust(USD), trust(LONGER)])?.map(String), [String(USD), String(LONGER)]);
    t.equal(trusted([trust(USD), trust(EUR)]), undefined);
    t.equal(trusted([trust(USD), payOp('1')]), undefined);
    t.equal(trusted([trust(USD, '0')]), undefined, 'that would end it');
    t.equal(trusted([trust(USD, '5')]), undefined);
    t.equal(trusted([trust(new LiquidityPoolAsset(Asset.native(), USD, 30))]), undefined);
    t.equal(trusted([trust(USD)], { fee: '101' }), undefined, 'for the least fee');
    const foreign = Operation.changeTrust({ asset: USD, source: OTHER.publicKey() });
    t.equal(trusted([foreign]), undefined, 'of its own account');
    const any = readPolicy({ fee_payment_strategy: 'user' });
    t.equal(
      trustLineAssets(readEnvelope(envelopeText(RELAYER, [trust(USD)])).transaction, any),
      undefined,
      'by name only',
    );
    t.end();
  });
});

t.test('holding', async (t) => {
  const USD = new Asset('USD', OTHER.publicKey());
  const account = relayerAccount({
    fee_payment_strategy: 'user',
    allowed_tokens: [{ asset: `USD:${OTHER.publicKey()}` }],
  });
  const transaction = (count: number) =>
    envelopeText(
      RELAYER,
      Array.from({ length: count }, () => Operation.changeTrust({ asset: USD })),
    );
  const asked = (count: number, held: bigint | null) => {
    const read = knowing(held === null ? {} : { lines: [[RELAYER, USD, held]] });
    return assertTrustLines(read, { transaction: transaction(count) }, account);
  };

  t.test('a trust line is asked for once', async (t) => {
    await asked(1, null);
    await t.rejects(asked(2, null), { code: 'INVALID_REQUEST', message: /asked for twice/ });
    await t.rejects(asked(1, 0n), { code: 'INVALID_REQUEST', message: /has a trust line for USD:G\w+ already/ });
  });

  t.test('a relayer that pays itself may ask for it again', async (t) => {
    const read = knowing({ lines: [[RELAYER, USD, 0n]] });
    t.equal(await trustLineFault(read, { transaction: transaction(2) }, relayerAccount()), undefined);
  });
});
