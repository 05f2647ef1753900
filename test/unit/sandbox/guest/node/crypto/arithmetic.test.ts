import t from 'tap';
import { createArithmetic } from '../../../../../../sandbox/guest/node/crypto/arithmetic.ts';

const answering = (answer: string) =>
  createArithmetic({ compute: () => answer, computeLater: () => Promise.resolve(answer) });
const QUESTION = { op: 'names', of: 'hashes' } as const;

t.test('answers are bytes or text, at once or later', async (t) => {
  t.same(answering('=AQI=').bytes(QUESTION), new Uint8Array([1, 2]));
  t.equal(answering(':[]').text(QUESTION), '[]');
  t.same(await answering('=AQI=').bytesLater(QUESTION), new Uint8Array([1, 2]));
  t.equal(await answering(':[]').textLater(QUESTION), '[]');
});

t.test('failures are thrown as Node throws them', async (t) => {
  t.throws(() => answering('').text(QUESTION), { code: 'ERR_CRYPTO_OPERATION_FAILED' });
  const ours = answering('!{"kind":"RangeError","message":"m","code":"ERR_CRYPTO_X"}');
  t.throws(() => ours.bytes(QUESTION), {
    name: 'RangeError',
    message: 'm',
    code: 'ERR_CRYPTO_X',
    stack: /\[ERR_CRYPTO_X\]/,
  });
  const theirs = answering('!{"kind":"Error","message":"m","code":"ERR_OSSL_X","reason":"r"}');
  await t.rejects(theirs.bytesLater(QUESTION), { code: 'ERR_OSSL_X', reason: 'r', stack: /^Error: m/ });
  t.throws(() => answering('!{"kind":"TypeError","message":"m"}').text(QUESTION), new TypeError('m'));
});
