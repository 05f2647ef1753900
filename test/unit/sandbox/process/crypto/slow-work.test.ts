/** Threat: parameters that would keep a thread for hours or take all memory. */
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import t from 'tap';
import { Question } from '../../../../../sandbox/process/crypto/question.ts';
import { slowWork } from '../../../../../sandbox/process/crypto/slow-work.ts';
import { base64 } from '../../../../support/guest-crypto.ts';

const [password, salt] = [base64('p'), base64('s')];
const work = (fields: object) => slowWork(new Question(fields));
const PBKDF2 = { op: 'pbkdf2', password, salt, iterations: 10, length: 20, hash: 'sha256' };
const SCRYPT = { op: 'scrypt', password, salt, length: 20, cost: 1024, block: 8, parallel: 1, memory: 32 * 1_048_576 };

/** Does it beside this thread. */
const later = (fields: object) =>
  new Promise((resolve, reject) => {
    work(fields).start((error, result) => (error instanceof Error ? reject(error) : resolve(result)));
  });

t.test('both ways come to the same', async (t) => {
  for (const [fields, expected] of [
    [PBKDF2, pbkdf2Sync('p', 's', 10, 20, 'sha256')],
    [SCRYPT, scryptSync('p', 's', 20, { N: 1024 })],
  ] as const) {
    t.same(work(fields).run(), expected);
    t.same(await later(fields), expected);
  }
  const hkdf = { op: 'hkdf', hash: 'sha256', key: password, salt, info: '', length: 9 };
  t.same(work(hkdf).run(), await later(hkdf));
  t.match(await later({ op: 'key-pair', kind: 'rsa', bits: 1024, exponent: 3 }), /"kind":"rsa"/);
  t.match(
    work({ op: 'key-pair', kind: 'rsa-pss', bits: 1024, hash: 'sha256', mgf1: 'sha1', salt: 9 }).run(),
    /"saltLength":9/,
  );
  await t.rejects(later({ op: 'key-pair', kind: 'rsa', bits: 512, exponent: 4 }));
});

t.test('what it will take is known before', (t) => {
  t.ok(work({ ...PBKDF2, iterations: 2 ** 31 - 1 }).ms > 1e6);
  t.ok(work({ ...PBKDF2, iterations: 1000, length: 65_536 }).ms > 1000, 'each block is as long');
  t.ok(work({ ...PBKDF2, iterations: 1e6, hash: 'sha3-512' }).ms > work({ ...PBKDF2, iterations: 1e6 }).ms);
  t.ok(work({ ...PBKDF2, iterations: 1e6, hash: 'nope' }).ms > 1000);
  t.ok(work({ ...SCRYPT, cost: 2 ** 20, memory: 0 }).ms > 1000);
  t.equal(work(SCRYPT).memoryBytes, 128 * (1024 * 8 + 8));
  t.ok(work({ op: 'key-pair', kind: 'rsa', bits: 4096 }).ms > work({ op: 'key-pair', kind: 'rsa', bits: 2048 }).ms);
  t.equal(work({ op: 'key-pair', kind: 'ed25519' }).ms, 20);
  t.throws(() => work({ ...SCRYPT, cost: 2 ** 20, memory: 2 ** 40 }), /bytes of memory/);
  t.throws(() => work({ ...PBKDF2, length: 1e9 }), /whole number/);
  t.throws(() => work({ op: 'key-pair', kind: 'rsa', bits: 16_384 }), /512 to 4096/);
  t.throws(() => work({ op: 'key-pair', kind: 'dh' }), /none of/);
  t.throws(() => work({ op: 'digest' }), /none of/);
  t.end();
});
