/** Threat: ciphers that are begun and never ended, steps of others, data that one step cannot carry. */
import { createCipheriv } from 'node:crypto';
import t from 'tap';
import { OpenCiphers } from '../../../../../sandbox/process/crypto/ciphers.ts';
import { asked, base64 } from '../../../../support/guest-crypto.ts';

const key = base64(Buffer.alloc(16, 1));
const iv = base64(Buffer.alloc(12, 2));
const BEGIN = { op: 'cipher', cipher: 'aes-128-gcm', decrypt: 0, key, iv };

t.test('a cipher in steps, and at one go', (t) => {
  const ciphers = new OpenCiphers();
  const step = (id: unknown, name: string, data: string | Uint8Array = '') =>
    asked({ op: 'step', id, step: name, data: base64(data) }, { ciphers });
  const id = Number(asked(BEGIN, { ciphers }));
  step(id, 'aad', 'beside');
  const sealed = Buffer.concat([step(id, 'update', 'text') as Buffer, step(id, 'final') as Buffer]);
  t.equal(sealed.length, 4 + 16);
  t.equal(ciphers.size, 0);
  t.match(step(id, 'final'), /not there any more/);
  const seal = { op: 'encrypt', cipher: 'aes-128-gcm', key, iv, aad: base64('beside'), tag: 16, data: base64('text') };
  t.same(asked(seal), sealed);
  t.equal(asked({ ...seal, op: 'decrypt', data: base64(sealed) }).toString(), 'text');
  t.match(asked({ ...seal, op: 'decrypt', data: base64('short') }), /shorter than its tag/);
  const plain = {
    op: 'encrypt',
    cipher: 'aes-128-cbc',
    key,
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
  t.match(asked({ ...step, data: '' }, { ciphers: new OpenCiphers() }), /not there/, 'not those of another');
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
