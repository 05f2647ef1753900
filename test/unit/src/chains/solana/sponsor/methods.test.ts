import t from 'tap';
import { OWN_METHODS } from '../../../../../../src/chains/solana/rpc.ts';
import { sponsorMethods, sponsorshipOf } from '../../../../../../src/chains/solana/sponsor/methods.ts';
import { AppError, invalidRequest } from '../../../../../../src/domain/errors.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { built, memo, RELAYER, relayerAccount, signerOf } from '../../../../../support/solana-relayer.ts';
import { MINT, openSponsor, payTo, relayerAddress, USER, userAddress } from '../../../../../support/sponsor-scene.ts';

const account = relayerAccount({ fee_payment_strategy: 'user' });
const ASKED = { transaction: built([memo('a', USER)], { payer: USER.publicKey }), fee_token: MINT };
const PAID = { transaction: built([payTo(relayerAddress, 20_000n)], { signers: [USER] }) };

t.test('each method is of the kind that its name says everywhere', async (t) => {
  const { sponsor, rpc } = await openSponsor(t);
  const methods = sponsorMethods(sponsor, () => rpc);
  t.strictSame(new Map([...methods].map(([name, { kind }]) => [name, kind])), new Map(OWN_METHODS));
});

t.test('each method answers, and refuses other parameters', async (t) => {
  const { sponsor, rpc } = await openSponsor(t);
  const methods = sponsorMethods(sponsor, () => rpc);
  const run = async (name: string, params: Json) => {
    const method = methods.get(name);
    if (method === undefined || method.kind === 'send') throw new Error(`${name} is run`);
    return method.run(params, account, signerOf(RELAYER));
  };
  const transfer = { amount: 5, token: MINT, source: userAddress, destination: relayerAddress };
  const answers: [string, Json, object][] = [
    ['feeEstimate', ASKED, { estimated_fee: '0.02' }],
    ['prepareTransaction', ASKED, { fee_in_spl: '20000' }],
    ['transferTransaction', transfer, { fee_in_spl: '20000' }],
    ['signTransaction', PAID, { signature: String }],
    ['getSupportedTokens', {}, { tokens: [] }],
    ['getFeaturesEnabled', {}, { features: ['gasless'] }],
    ['getSupportedFeatures', {}, { features: ['gasless'] }],
  ];
  for (const [name, params, expected] of answers) {
    t.match(await run(name, params), expected, name);
    await t.rejects(
      run(name, { other: 1 }),
      { code: 'INVALID_REQUEST', message: /^Invalid Solana RPC request: / },
      name,
    );
  }
});

t.test('what is sent is checked before, and answered by its view', async (t) => {
  const { sponsor, rpc } = await openSponsor(t);
  const method = sponsorMethods(sponsor, () => rpc).get('signAndSendTransaction');
  if (method?.kind !== 'send') throw new Error('it sends');
  t.strictSame(method.body(PAID), PAID);
  await t.resolves(method.check(PAID, account));
  await t.rejects(method.check({ transaction: 'x' }, account), { code: -32_601 });
  const view = { id: 'i', status: 'sent', transaction: 'AQ', signature: 's', created_at: '' };
  t.strictSame(method.answer(view), { transaction: 'AQ', signature: 's', id: 'i' });
  t.throws(
    () => method.answer({ id: 'i', status: 'failed', status_reason: 'why' }),
    /prepare the transfer transaction: why$/,
  );
  t.throws(() => method.answer({ id: 'i', status: 'failed' }), /ended before it was signed/);
  t.match(method.refusal(new AppError('UNAVAILABLE', { reason: 'withdrawn' })), { tag: 'SEND_ERROR' });
  t.match(method.refusal(invalidRequest('Policy violation: x')), { code: -32_013 });
  t.equal(method.refusal(new AppError('RELAYER_PAUSED', {})), undefined);
});

t.test('the endpoints without JSON-RPC say the same', async (t) => {
  const { sponsor } = await openSponsor(t);
  const { quote, build } = sponsorshipOf(sponsor, (use) => use());
  t.match(await quote(ASKED, account), { estimated_fee: '0.02' });
  t.match(await build(ASKED, account, signerOf(RELAYER)), { fee_in_spl: '20000', transaction: String });
  await t.rejects(quote({}, account), { code: 'INVALID_REQUEST' });
  await t.rejects(build({ ...ASKED, fee_token: 'x' }, account, signerOf(RELAYER)), { code: 'INVALID_REQUEST' });
});
