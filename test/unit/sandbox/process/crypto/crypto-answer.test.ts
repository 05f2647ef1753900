/**
 * Threat: a guest that feeds the process's own cryptography with what it was not made for: other names, other types,
 * lengths that no cipher takes, more than a slice can carry.
 */
import { createHash, createHmac } from 'node:crypto';
import t from 'tap';
import { OpenCiphers } from '../../../../../sandbox/process/crypto/ciphers.ts';
import {
  answerCryptoQuestion,
  answered,
  answeredFailure,
  slowWorkOf,
} from '../../../../../sandbox/process/crypto/crypto-answer.ts';
import { asked, base64 } from '../../../../support/guest-crypto.ts';

const data = base64('data');
const key = base64(Buffer.alloc(32, 1));
const PBKDF2 = { op: 'pbkdf2', password: data, salt: data, length: 32, hash: 'sha256' };

t.test('digests, codes and lists', (t) => {
  t.same(asked({ op: 'digest', hash: 'SHA-256', data }), createHash('sha256').update('data').digest());
  t.same(
    asked({ op: 'digest', hash: 'shake128', data, length: 7 }),
    createHash('shake128', { outputLength: 7 }).update('data').digest(),
  );
  t.same(
    asked({ op: 'hmac', hash: 'SHA-512', key, data }),
    createHmac('sha512', Buffer.alloc(32, 1)).update('data').digest(),
  );
  t.match(asked({ op: 'names', of: 'curves' }), /secp256k1/);
  t.match(asked({ op: 'names', of: 'constants' }), /RSA_PKCS1_PSS_PADDING/);
  t.match(asked({ op: 'cipher-info', cipher: 'aes-128-gcm' }), /"ivLength":12/);
  t.match(asked({ op: 'cipher-info', nid: 901, keyLength: 1 }), 'null');
  t.end();
});

t.test('anything else is refused, and never throws', (t) => {
  const seal = { op: 'encrypt', cipher: 'aes-256-gcm', key, iv: base64('twelve bytes'), aad: '', tag: 16, data };
  for (const question of [
    null,
    7,
    {},
    { op: 'toString' },
    { op: '__proto__' },
    { op: 'digest', hash: 'nope', data },
    { op: 'digest', hash: '__proto__', data },
    { op: 'digest', hash: 'SHA-256', data: { length: 1e9 } },
    { op: 'digest', hash: 'SHA-256', data: 1e9 },
    { op: 'digest', hash: 'shake128', data, length: 1e9 },
    { op: 'hmac', hash: ['SHA-256'], key, data },
    { ...seal, key: 'AA==' },
    { ...seal, iv: '' },
    { ...seal, tag: 3.5 },
    { ...seal, tag: -8 },
    { ...seal, tag: 1e9 },
    { ...seal, cipher: 'constructor' },
    { ...seal, op: 'decrypt' },
    { op: 'names', of: 'toString' },
    { op: 'cipher-info' },
  ]) {
    t.match(asked(question), /^threw /, JSON.stringify(question));
  }
  const room = { ciphers: new OpenCiphers(), leftMs: () => 500 };
  t.match(answerCryptoQuestion('not JSON', room), /^!.*is none/);
  t.match(answerCryptoQuestion(' '.repeat(24 * 1_048_576 + 1), room), /^!.*too large/);
  t.end();
});

t.test('what would take longer than there is left is not begun', (t) => {
  t.type(asked({ ...PBKDF2, iterations: 1000 }), Buffer);
  t.match(asked({ ...PBKDF2, iterations: 2 ** 31 - 1 }), /limits\.slice_ms\): use the form with a callback/);
  t.match(asked({ ...PBKDF2, iterations: 100_000 }, { leftMs: () => 3 }), /3 ms are left/);
  t.throws(() => slowWorkOf(JSON.stringify({ ...PBKDF2, iterations: 2 ** 31 - 1 }), 1000), /limits\.cpu_ms/);
  t.ok(slowWorkOf(JSON.stringify({ ...PBKDF2, iterations: 1_000_000 }), 1000).ms > 500);
  t.end();
});

t.test('what this side says of itself stays here', (t) => {
  t.equal(
    answered(() => 'x'),
    ':x',
  );
  t.equal(
    answered(() => Buffer.from('x')),
    '=eA==',
  );
  t.equal(answeredFailure(new Error('open /root/secret')), '');
  t.equal(answeredFailure('text'), '');
  t.end();
});

t.test('an error of one question is not the next one’s', (t) => {
  const scrypt = {
    op: 'scrypt',
    password: data,
    salt: data,
    length: 8,
    cost: 2 ** 17,
    block: 8,
    parallel: 1,
    memory: 1e6,
  };
  t.match(asked(scrypt), /memory limit exceeded/);
  const pair = asked({ op: 'key-pair', kind: 'ed25519' }) as string;
  const [, mine] = JSON.parse(pair) as [unknown, { key: string }];
  asked(scrypt);
  t.equal((asked({ op: 'sign', key: mine.key, data }) as Buffer).length, 64);
  t.end();
});
