/** Threat: uses and curves that are not on the list, and keys of one kind where another is wanted. */
import t from 'tap';
import { asked, base64, derOf } from '../../../../support/guest-crypto.ts';

const ec = derOf('ec', { namedCurve: 'prime256v1' });
const rsa = derOf('rsa', { modulusLength: 1024 });
const data = base64('data');

t.test('signatures', (t) => {
  const sign = { op: 'sign', hash: 'sha256', key: ec.key, data };
  const signature = base64(asked({ ...sign, encoding: 'ieee-p1363' }));
  const verify = { ...sign, op: 'verify', key: ec.peer, signature, encoding: 'ieee-p1363' };
  t.same(asked(verify), Buffer.from([1]));
  t.same(asked({ ...verify, data: base64('other') }), Buffer.from([0]));
  t.match(asked({ ...sign, key: ec.peer }), /^threw/);
  t.match(asked({ ...verify, key: ec.key }), /^threw/);
  t.match(asked({ ...sign, encoding: 'x' }), /none of/);
  t.match(asked({ ...sign, padding: 99 }), /whole number/);
  t.equal((asked({ ...sign, key: rsa.key, padding: 6, salt: -1 }) as Buffer).length, 128);
  const ed = derOf('ed25519');
  t.equal((asked({ op: 'sign', key: ed.key, data }) as Buffer).length, 64);
  t.end();
});

t.test('RSA, secrets of two sides and points', (t) => {
  const use = { op: 'rsa', use: 'publicEncrypt', key: rsa.peer, padding: 4, hash: 'sha256', label: data, data };
  const sealed = base64(asked(use));
  t.equal(asked({ ...use, use: 'privateDecrypt', key: rsa.key, data: sealed }).toString(), 'data');
  t.match(asked({ ...use, use: 'toString' }), /none of/);
  const [a, b] = [derOf('x25519'), derOf('x25519')];
  t.same(asked({ op: 'agree', key: a.key, peer: b.peer }), asked({ op: 'agree', key: b.key, peer: a.peer }));
  t.match(asked({ op: 'agree', key: a.key, peer: ec.peer }), /^threw/);
  const [key = '', point = ''] = (asked({ op: 'point', curve: 'secp256k1' }) as string).split(' ');
  t.equal(asked({ op: 'point', curve: 'secp256k1', key }), `${key} ${point}`);
  t.equal((asked({ op: 'point', curve: 'secp256k1', key, peer: point }) as Buffer).length, 32);
  t.equal((asked({ op: 'point', curve: 'secp256k1', peer: point, form: 'compressed' }) as Buffer).length, 33);
  t.match(asked({ op: 'point', curve: 'toString' }), /Invalid EC curve/);
  t.end();
});
