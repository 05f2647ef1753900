import { randomBytes } from 'node:crypto';
import { TypedDataEncoder, verifyMessage, verifyTypedData } from 'ethers';
import t from 'tap';
import { addressOf } from '../../../../../../src/chains/evm/address.ts';
import { signMessage, signTypedData } from '../../../../../../src/chains/evm/form/message.ts';
import { createKeySigner } from '../../../../../../src/signers/held-key.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

const signer = createKeySigner('test', randomBytes(32));
const address = addressOf(await signer.publicKey('secp256k1'));
const account = { address, policies: {} };
const EMPTY_HASH = `0x${'00'.repeat(32)}`;

t.test('a text is signed as its UTF-8 bytes, whatever it looks like', async (t) => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '0x1234', 'ä€😀', '\u0000\n'));
  const property = fc.asyncProperty(text, async (message) => {
    const { r, s, v, sig } = await signMessage({ message }, account, signer);
    const isForm = /^[0-9a-f]{130}$/.test(String(sig)) && (v === 27 || v === 28);
    const isWhole = sig === `${r}${s}${Number(v).toString(16)}`;
    return isForm && isWhole && verifyMessage(message, `0x${sig}`).toLowerCase() === address;
  });
  await fc.assert(property, { numRuns: runsOf(200) });
  t.same(Object.keys(await signMessage({ message: 'x' }, account, signer)), ['r', 's', 'v', 'sig']);
});

t.test('what is no text', async (t) => {
  for (const [body, said] of [
    [{}, 'missing field `message`'],
    [{ message: 5 }, 'invalid `message`: expected a string, not a number'],
    [{ message: '\ud800' }, 'invalid `message`: expected a text that UTF-8 can hold'],
    [{ message: 'x', massage: 'y' }, 'unknown field `massage`, did you mean `message`?'],
    [[], 'expected an object, not a list'],
    [null, 'expected an object, not null'],
  ] as const) {
    await t.rejects(signMessage(body, account, signer), { code: 'INVALID_REQUEST', status: 400, message: said });
  }
});

t.test('typed data lead back to the account, given either way', async (t) => {
  const domain = { name: 'Test', version: '1', chainId: 1, verifyingContract: address };
  const types = { Vote: [{ name: 'choice', type: 'uint256' }] };
  const message = { choice: '115792089237316195423570985008687907853269984665640564039457584007913129639935' };
  const whole = await signTypedData({ domain, types, primaryType: 'Vote', message }, account, signer);
  t.equal(verifyTypedData(domain, types, message, `0x${whole['sig']}`).toLowerCase(), address);
  const digests = {
    domain_separator: TypedDataEncoder.hashDomain(domain),
    hash_struct_message: TypedDataEncoder.hashStruct('Vote', types, message).slice(2),
  };
  t.same(await signTypedData(digests, account, signer), whole);
});

t.test('another account’s signer signs neither', async (t) => {
  const other = { address: `0x${'1'.repeat(40)}`, policies: {} };
  const digests = { domain_separator: EMPTY_HASH, hash_struct_message: EMPTY_HASH };
  await t.rejects(signMessage({ message: 'x' }, other, signer), { code: 'SIGNER_FAILED' });
  await t.rejects(signTypedData(digests, other, signer), { code: 'SIGNER_FAILED' });
});
