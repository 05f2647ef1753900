import t from 'tap';
import { decodeTransaction, isSignatureOf } from '../../../../../../src/chains/solana/message/transaction.ts';
import { keyOf } from '../../../../../support/solana-node.ts';
import { built, memo, RELAYER, relayerAccount, signerOf } from '../../../../../support/solana-relayer.ts';
import { MINT, openSponsor, payTo, relayerAddress, USER, userAddress } from '../../../../../support/sponsor-scene.ts';

const users = (policies = {}) => relayerAccount({ fee_payment_strategy: 'user', ...policies });
const signer = signerOf(RELAYER);
const ASKED = { transaction: built([memo('a', USER)], { payer: USER.publicKey }), fee_token: MINT };

const isSigned = (base64: unknown) => {
  const { signatures, messageBytes } = decodeTransaction(String(base64));
  return isSignatureOf(relayerAddress, signatures[0] ?? Buffer.alloc(0), messageBytes);
};

t.test('an estimate is in whole units of the token', async (t) => {
  const { sponsor } = await openSponsor(t);
  t.strictSame(await sponsor.estimate(ASKED, users()), { estimated_fee: '0.02', conversion_rate: '2000' });
});

t.test('what is prepared, and what is transferred, is signed by the relayer', async (t) => {
  const { sponsor } = await openSponsor(t);
  const prepared = await sponsor.prepare(ASKED, users(), signer);
  t.match(prepared, { fee_in_spl: '20000', fee_in_lamports: '10000', fee_token: MINT });
  t.ok(isSigned(prepared['transaction']));
  const asked = { amount: 7n, token: MINT, source: userAddress, destination: relayerAddress };
  t.ok(isSigned((await sponsor.transfer(asked, users(), signer))['transaction']));
  await t.rejects(sponsor.transfer({ ...asked, source: 'x' }, users(), signer), { code: -32_602 });
  await t.rejects(sponsor.transfer({ ...asked, source: relayerAddress }, users(), signer), { code: -32_602 });
});

t.test('a client’s own bytes are signed when they pay enough, and stay what they are', async (t) => {
  const { sponsor } = await openSponsor(t);
  const enough = built([payTo(relayerAddress, 20_000n)], { signers: [USER] });
  const { transaction } = await sponsor.sign(enough, users(), signer);
  t.ok(isSigned(transaction));
  t.ok(decodeTransaction(transaction).messageBytes.equals(decodeTransaction(enough).messageBytes));
  await t.rejects(sponsor.sign(built([payTo(relayerAddress, 1n)], { signers: [USER] }), users(), signer), {
    code: -32_602,
  });
  await t.resolves(sponsor.sign(built([memo('free')]), relayerAccount(), signer), 'where the relayer pays');
});

t.test('what a trial, a blockhash or the balance speak against is not signed', async (t) => {
  const paid = built([payTo(relayerAddress, 20_000n)], { signers: [USER] });
  const failing = await openSponsor(t, { simulation: { err: 'InvalidAccountIndex' } });
  await t.rejects(failing.sponsor.sign(paid, users(), signer), { code: -32_013, detail: /Simulation failed/ });
  const old = await openSponsor(t, { valid: [keyOf(9)], latest: keyOf(9) });
  await t.rejects(old.sponsor.sign(built([memo('a')]), relayerAccount(), signer), {
    code: -32_013,
    detail: `Blockhash ${keyOf(7)} is no longer valid`,
  });
  const poor = await openSponsor(t, { balance: 1 });
  await t.rejects(poor.sponsor.sign(paid, users(), signer), { code: -32_002, detail: /Insufficient relayer balance/ });
});

t.test('what is to be sent has the signatures of all others', async (t) => {
  const { sponsor } = await openSponsor(t);
  await t.resolves(sponsor.assertSendable(built([memo('a', USER)], { signers: [USER] }), relayerAccount()));
  await t.rejects(sponsor.assertSendable(built([memo('a', USER)]), relayerAccount()), {
    message: /signature of \S+ is missing/,
  });
  await t.resolves(sponsor.assertPaid({ instructions: [] }, users()));
});
