/**
 * Threat: a guest that feeds the process's own cryptography with what it was not made for: other names, other types,
 * lengths that no cipher takes, more than a slice can carry.
 */
import { createHash, createHmac } from 'node:crypto';
import t from 'tap';
import { answerCryptoQuestion } from '../../../../sandbox/process/crypto-answer.ts';

const ask = (question: unknown) => answerCryptoQuestion(JSON.stringify(question));
const data = Buffer.from('data').toString('base64');
const key = Buffer.alloc(32, 1).toString('base64');
const iv = Buffer.alloc(12, 2).toString('base64');

t.test('digests, codes and sealed data', (t) => {
  t.equal(ask({ op: 'digest', hash: 'SHA-256', data }), `=${createHash('sha256').update('data').digest('base64')}`);
  const code = createHmac('sha512', Buffer.alloc(32, 1)).update('data').digest('base64');
  t.equal(ask({ op: 'hmac', hash: 'SHA-512', key, data }), `=${code}`);
  const sealed = ask({ op: 'encrypt', key, iv, aad: '', tag: 128, data });
  t.equal(ask({ op: 'decrypt', key, iv, aad: '', tag: 128, data: sealed.slice(1) }), `=${data}`);
  t.end();
});

t.test('anything else is refused, and never throws', (t) => {
  for (const question of [
    null,
    7,
    {},
    { op: 'toString' },
    { op: 'digest', hash: 'md4', data },
    { op: 'digest', hash: '__proto__', data },
    { op: 'digest', hash: 'SHA-256', data: { length: 1e9 } },
    { op: 'digest', hash: 'SHA-256', data: 1e9 },
    { op: 'hmac', hash: ['SHA-256'], key, data },
    { op: 'encrypt', key: 'AA==', iv, aad: '', tag: 128, data },
    { op: 'encrypt', key, iv: '', aad: '', tag: 128, data },
    { op: 'encrypt', key, iv, aad: '', tag: 9, data },
    { op: 'encrypt', key, iv, aad: '', tag: -8, data },
    { op: 'decrypt', key, iv, aad: '', tag: 128, data },
    { op: 'decrypt', key, iv, aad: '', tag: 1e9, data },
  ]) {
    t.equal(ask(question), '', JSON.stringify(question));
  }
  t.equal(answerCryptoQuestion('not JSON'), '');
  t.equal(answerCryptoQuestion(' '.repeat(24 * 1_048_576 + 1)), '');
  t.end();
});
