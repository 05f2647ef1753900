import t from 'tap';
import { checkAlg, checkJwk, jwkOf } from '../../../../../../sandbox/guest/globals/subtle/keys.ts';
import { subtleTools } from '../../../../../support/guest-crypto.ts';

const { fail } = subtleTools();
const check = (jwk: object, usages: string[] = ['sign'], extractable = true) =>
  checkJwk(fail, { kty: 'oct', ...jwk }, { extractable, usages }, { kty: 'oct', use: 'sig' });

t.test('what a key says of itself agrees with what is request', (t) => {
  t.doesNotThrow(() => check({ use: 'sig', key_ops: ['sign', 'verify'], ext: true }));
  t.doesNotThrow(() => check({ use: 'enc' }, []));
  t.doesNotThrow(() => check({ ext: false }, ['sign'], false));
  for (const wrong of [
    { kty: 'EC' },
    { use: 'enc' },
    { key_ops: 'sign' },
    { key_ops: ['verify'] },
    { key_ops: ['sign', 'sign'] },
    { ext: false },
  ]) {
    t.throws(() => check(wrong), { name: 'DataError' }, JSON.stringify(wrong));
  }
  t.throws(() => checkAlg(fail, { alg: 'HS1' }, 'HS256'), { name: 'DataError' });
  t.doesNotThrow(() => checkAlg(fail, {}, 'HS256'));
  const key = { type: 'secret', extractable: true, algorithm: { name: 'x' }, usages: ['sign'], material: '' } as const;
  t.strictSame(jwkOf(key, { kty: 'oct' }), { kty: 'oct', key_ops: ['sign'], ext: true });
  t.equal(jwkOf(key, {}, 'HS1')['alg'], 'HS1');
  t.end();
});
