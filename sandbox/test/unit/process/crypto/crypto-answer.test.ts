/**
 * Threat: a guest that feeds the process's own cryptography with what it was not made for: other names, other types,
 * lengths that no cipher takes, keys of one kind for another, keys whose arithmetic has no bound, ciphers that are begun
 * and never ended, parameters that would keep a thread for hours or take all memory, errors that tell of this process.
 */
import { createCipheriv, createHash, createHmac, createPublicKey, pbkdf2Sync, scryptSync } from 'node:crypto';
import t from 'tap';
import { OpenCiphers } from '../../../../process/crypto/ciphers.ts';
import {
  answerCryptoQuestion,
  cryptoAnswerText,
  cryptoFailureText,
  readSlowCryptoWork,
} from '../../../../process/crypto/crypto-answer.ts';
import {
  CryptoQuestionFields,
  clearOpenSslErrors,
  cryptoFailureOf,
} from '../../../../process/crypto/question-fields.ts';
import { createSlowCryptoWork } from '../../../../process/crypto/slow-work.ts';
import { asked, base64, derOf } from '../../../support/guest-crypto.ts';

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
  t.match(asked({ op: 'names', of: 'constants' }), /RSA_PKCS1_PSS_PADDING/);
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
  t.throws(() => readSlowCryptoWork(JSON.stringify({ ...PBKDF2, iterations: 2 ** 31 - 1 }), 1000), /limits\.cpu_ms/);
  t.ok(readSlowCryptoWork(JSON.stringify({ ...PBKDF2, iterations: 1_000_000 }), 1000).ms > 500);
  t.end();
});

t.test('what this side says of itself stays here', (t) => {
  t.equal(
    cryptoAnswerText(() => 'x'),
    ':x',
  );
  t.equal(
    cryptoAnswerText(() => Buffer.from('x')),
    '=eA==',
  );
  t.equal(cryptoFailureText(new Error('open /root/secret')), '');
  t.equal(cryptoFailureText('text'), '');
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

t.test('each field is looked at', (t) => {
  const question = new CryptoQuestionFields({
    text: 'a',
    number: 5,
    half: 1.5,
    bytes: 'YWI=',
    list: ['x'],
    long: 'a'.repeat(40),
  });
  t.equal(question.text('text'), 'a');
  t.equal(question.optional('absent'), undefined);
  t.equal(question.whole('number', 5), 5);
  t.equal(question.optionalWhole('absent', 5), undefined);
  t.equal(question.bytes('bytes').toString(), 'ab');
  t.equal(question.optionalBytes('absent'), undefined);
  t.equal(question.one('text', ['a', 'b']), 'a');
  for (const wrong of [
    () => question.text('absent'),
    () => question.text('number'),
    () => question.text('toString'),
    () => question.bytes('list'),
    () => question.bytes('long', 3),
    () => question.whole('half', 9),
    () => question.whole('number', 4),
    () => question.whole('absent', 4),
    () => question.one('text', ['b']),
    () => new CryptoQuestionFields('text'),
  ]) {
    t.throws(wrong, { code: 'ERR_CRYPTO_OPERATION_FAILED' });
  }
  t.end();
});

t.test('of an error the guest is told what is about its data', (t) => {
  const error = Object.assign(new RangeError('too long'), { code: 'ERR_X', reason: 'long', library: 5, secret: 'x' });
  t.strictSame(cryptoFailureOf(error), { kind: 'RangeError', message: 'too long', code: 'ERR_X', reason: 'long' });
  t.strictSame(cryptoFailureOf(new SyntaxError('x')), { kind: 'Error', message: 'x' });
  for (const text of ['a\n    at file', 'see /etc/passwd', 'file:///x', 'node:internal/x', 'x'.repeat(500)]) {
    t.equal(cryptoFailureOf(new Error(text)), undefined);
  }
  t.equal(cryptoFailureOf({ message: 'x' }), undefined);
  t.doesNotThrow(clearOpenSslErrors);
  t.end();
});

const ec = derOf('ec', { namedCurve: 'prime256v1' });
const rsa = derOf('rsa', { modulusLength: 1024 });
const pem = base64(ec.privateKey.export({ format: 'pem', type: 'pkcs8' }));
const read = (fields: object) => asked({ op: 'read-key', as: 'private', format: 'pem', ...fields });

/** A public key of classic Diffie-Hellman, SPKI. */
const DH =
  'MIIBoDCB1QYJKoZIhvcNAQMBMIHHAoHBAP//////////yQ/aoiFowjTExmKLgNwc0SkCTgiKZ8x0Agu+pjsTmyJRSgh5jjQE3e+V' +
  'GbPNOkMbMCsKbfJfFDdP4TVtbVHCReSFtXZiXn7G9ExC6aY37WsL/1y29Aa37e44a/taiZ+lrp8kEXxLH+ZJKGZR7ORbPcIAfLih' +
  'Y78FmNpINhxV05ppFj+o/STPX4NlXSPco62WHGLzViCFUrue1SkHcJaWbWcMNU5KvJgE8XRsCMojcyf//////////wIBAgOBxQAC' +
  'gcEAx8CwyNDDWQceOw/WRGtRlALGF7ZWhJQAksBH99IBwM2W7kH8a7yuIypK/jHd/OLagRR/4/WcNx2a4G70zxnEeDqc5anUuMN6' +
  '1bpuv8ZmhDySjEymKhQdMNZqBE5M7WChavvyITIiZOfxkDAuJO/TKATEH68kM3cZgSCG+NXgDr/MFSIG7wieF37YWOwrM0UL+izj' +
  '2PRyPZP2J1FZs8W6Ka9ClhGM56Ld47QZItOdnQINGPFDo+iVZKQIlpHdboAt';

t.test('keys of every form come out in one', (t) => {
  const whole = { key: ec.key, kind: 'ec', details: { namedCurve: 'prime256v1' } };
  t.strictSame(JSON.parse(read({ data: pem }) as string), whole);
  t.strictSame(
    JSON.parse(
      read({ data: base64(JSON.stringify(ec.privateKey.export({ format: 'jwk' }))), format: 'jwk' }) as string,
    ),
    whole,
  );
  const point = ec.publicKey.export({ format: 'jwk' });
  const bytes = Buffer.concat([
    Buffer.from([4]),
    ...[point.x, point.y].map((one) => Buffer.from(one ?? '', 'base64url')),
  ]);
  const open = asked({ op: 'read-key', as: 'public', format: 'point', curve: 'P-256', data: base64(bytes) });
  t.equal((JSON.parse(open as string) as { key: string }).key, ec.peer);
  t.match(asked({ op: 'read-key', as: 'public', format: 'point', curve: 'P-999', data: base64(bytes) }), /not a curve/);
  t.equal(
    asked({ op: 'write-key', as: 'public', key: ec.peer, format: 'pem', type: 'spki' }).toString(),
    ec.publicKey.export({ format: 'pem', type: 'spki' }),
  );
  t.match(asked({ op: 'write-key', as: 'private', key: ec.key, format: 'jwk' }), /"crv":"P-256"/);
  t.end();
});

t.test('keys whose arithmetic has no bound are refused', (t) => {
  const many = { kty: 'RSA', n: Buffer.alloc(1200, 255).toString('base64url'), e: 'AQAB' };
  const long = createPublicKey({ key: many, format: 'jwk' }).export({ format: 'der', type: 'spki' });
  const open = { op: 'read-key', as: 'public', format: 'der', type: 'spki' };
  t.match(asked({ ...open, data: base64(long) }), /more than 8192 bits/);
  const group = Buffer.from(DH, 'base64');
  t.match(asked({ ...open, data: base64(group) }), /Keys of dh/);
  t.match(read({ data: base64('x'.repeat(40_000)) }), /longer/);
  t.match(read({ data: base64('7'), format: 'jwk' }), /not a JSON Web Key/);
  t.match(asked({ op: 'sign', key: base64(Buffer.alloc(5000)), data }), /longer/);
  t.end();
});

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

t.test('RSA-OAEP and secrets of two sides', (t) => {
  const use = { op: 'oaep', use: 'publicEncrypt', key: rsa.peer, hash: 'sha256', label: data, data };
  const sealed = base64(asked(use));
  t.equal(asked({ ...use, use: 'privateDecrypt', key: rsa.key, data: sealed }).toString(), 'data');
  t.match(asked({ ...use, use: 'privateEncrypt' }), /none of/);
  const [a, b] = [derOf('x25519'), derOf('x25519')];
  t.same(asked({ op: 'agree', key: a.key, peer: b.peer }), asked({ op: 'agree', key: b.key, peer: a.peer }));
  t.match(asked({ op: 'agree', key: a.key, peer: ec.peer }), /^threw/);
  t.end();
});

const aesKey = base64(Buffer.alloc(16, 1));
const iv = base64(Buffer.alloc(12, 2));
const BEGIN = { op: 'cipher', cipher: 'aes-128-gcm', decrypt: 0, key: aesKey, iv };

t.test('a cipher in steps, and at one go', (t) => {
  const ciphers = new OpenCiphers();
  const step = (id: unknown, name: string, data: string | Uint8Array = '') =>
    asked({ op: 'step', id, step: name, data: base64(data) }, { ciphers });
  const id = Number(asked(BEGIN, { ciphers }));
  step(id, 'aad', 'beside');
  const sealed = Buffer.concat([step(id, 'update', 'text') as Buffer, step(id, 'final') as Buffer]);
  t.equal(sealed.length, 4 + 16);
  t.equal(ciphers.size, 0);
  t.match(step(id, 'final'), /no longer exists/);
  const seal = {
    op: 'encrypt',
    cipher: 'aes-128-gcm',
    key: aesKey,
    iv,
    aad: base64('beside'),
    tag: 16,
    data: base64('text'),
  };
  t.same(asked(seal), sealed);
  t.equal(asked({ ...seal, op: 'decrypt', data: base64(sealed) }).toString(), 'text');
  t.match(asked({ ...seal, op: 'decrypt', data: base64('short') }), /shorter than its tag/);
  const plain = {
    op: 'encrypt',
    cipher: 'aes-128-cbc',
    key: aesKey,
    iv: base64(Buffer.alloc(16)),
    aad: '',
    tag: 0,
    data: base64('x'),
  };
  const cbc = createCipheriv('aes-128-cbc', Buffer.alloc(16, 1), Buffer.alloc(16));
  t.same(asked(plain), Buffer.concat([cbc.update('x'), cbc.final()]));
  t.equal(asked({ ...plain, op: 'decrypt', data: base64(asked(plain) as Buffer) }).toString(), 'x');
  const open = Number(asked({ ...BEGIN, decrypt: 1, tag: 16 }, { ciphers }));
  t.same(step(open, 'tag', Buffer.alloc(16)), Buffer.alloc(0));
  t.same(step(open, 'padding', 'x'), Buffer.alloc(0));
  t.match(step(open, 'final'), /unable to authenticate/);
  t.end();
});

t.test('so many at once, and so much in one step', (t) => {
  const ciphers = new OpenCiphers();
  for (let made = 0; made < 128; made++) asked(BEGIN, { ciphers });
  t.match(asked(BEGIN, { ciphers }), /More than 128/);
  const step = { op: 'step', id: 1, step: 'update', data: base64(Buffer.alloc(2_000_000)) };
  t.match(asked(step, { ciphers }), /longer than/);
  t.match(asked({ ...step, data: '' }, { ciphers: new OpenCiphers() }), /no longer exists/, 'not those of another');
  ciphers.clear();
  t.equal(ciphers.size, 0);
  const slow = {
    op: 'encrypt',
    cipher: 'des-ede3-cfb1',
    key: base64(Buffer.alloc(24)),
    iv: base64(Buffer.alloc(8)),
    aad: '',
    tag: 0,
    data: base64(Buffer.alloc(200_000)),
  };
  t.match(asked(slow), /longer than/);
  t.end();
});

const [password, salt] = [base64('p'), base64('s')];
const work = (fields: object) => createSlowCryptoWork(new CryptoQuestionFields(fields));
const PBKDF2_10 = { op: 'pbkdf2', password, salt, iterations: 10, length: 20, hash: 'sha256' };
const SCRYPT = { op: 'scrypt', password, salt, length: 20, cost: 1024, block: 8, parallel: 1, memory: 32 * 1_048_576 };

/** Does it beside this thread. */
const later = (fields: object) =>
  new Promise((resolve, reject) => {
    work(fields).start((error, result) => (error instanceof Error ? reject(error) : resolve(result)));
  });

t.test('slow work comes to the same now and later', async (t) => {
  for (const [fields, expected] of [
    [PBKDF2_10, pbkdf2Sync('p', 's', 10, 20, 'sha256')],
    [SCRYPT, scryptSync('p', 's', 20, { N: 1024 })],
  ] as const) {
    t.same(work(fields).run(), expected);
    t.same(await later(fields), expected);
  }
  const hkdf = { op: 'hkdf', hash: 'sha256', key: password, salt, info: '', length: 9 };
  t.same(work(hkdf).run(), await later(hkdf));
  t.match(await later({ op: 'key-pair', kind: 'rsa', bits: 1024, exponent: 3 }), /"kind":"rsa"/);
  await t.rejects(later({ op: 'key-pair', kind: 'rsa', bits: 512, exponent: 4 }));
});

t.test('how long slow work takes is known before it begins', (t) => {
  t.ok(work({ ...PBKDF2_10, iterations: 2 ** 31 - 1 }).ms > 1e6);
  t.ok(work({ ...PBKDF2_10, iterations: 1000, length: 65_536 }).ms > 1000, 'each block is as long');
  t.ok(work({ ...PBKDF2_10, iterations: 1e6, hash: 'sha3-512' }).ms > work({ ...PBKDF2_10, iterations: 1e6 }).ms);
  t.ok(work({ ...PBKDF2_10, iterations: 1e6, hash: 'nope' }).ms > 1000);
  t.ok(work({ ...SCRYPT, cost: 2 ** 20, memory: 0 }).ms > 1000);
  t.equal(work(SCRYPT).memoryBytes, 128 * (1024 * 8 + 8));
  t.ok(work({ op: 'key-pair', kind: 'rsa', bits: 4096 }).ms > work({ op: 'key-pair', kind: 'rsa', bits: 2048 }).ms);
  t.equal(work({ op: 'key-pair', kind: 'ed25519' }).ms, 20);
  t.throws(() => work({ ...SCRYPT, cost: 2 ** 20, memory: 2 ** 40 }), /bytes of memory/);
  t.throws(() => work({ ...PBKDF2_10, length: 1e9 }), /whole number/);
  t.throws(() => work({ op: 'key-pair', kind: 'rsa', bits: 16_384 }), /512 to 4096/);
  t.throws(() => work({ op: 'key-pair', kind: 'rsa-pss' }), /none of/);
  t.throws(() => work({ op: 'digest' }), /none of/);
  t.end();
});
