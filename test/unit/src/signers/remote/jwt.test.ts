import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { signedJwt } from '../../../../../src/signers/remote/jwt.ts';
import { readJwt } from '../../../../support/signers/jwt.ts';

t.test('tokens that another reader takes for signed, in each algorithm', (t) => {
  const now = Math.floor(Date.now() / 1_000);
  for (const [algorithm, pair] of [
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ] as const) {
    const token = signedJwt(algorithm, pair.privateKey, { kid: 'k' }, { iat: now, exp: now + 60, text: 'ü' });
    t.match(readJwt(token, algorithm, pair.publicKey, 60), {
      header: { alg: algorithm, typ: 'JWT', kid: 'k' },
      claims: { text: 'ü' },
    });
    t.notMatch(token, /[+/=]/);
  }
  t.end();
});
