/** Threat: keys with numbers of their own that take long to work with, keys taken for others, files that lie. */
import { createPublicKey } from 'node:crypto';
import t from 'tap';
import { describe, privateKey, publicKey } from '../../../../../sandbox/process/crypto/key-material.ts';
import { Question } from '../../../../../sandbox/process/crypto/question.ts';
import { asked, base64, derOf } from '../../../../support/guest-crypto.ts';

const ec = derOf('ec', { namedCurve: 'prime256v1' });
const pem = (passphrase?: string) =>
  base64(
    ec.privateKey.export({
      format: 'pem',
      type: 'pkcs8',
      ...(passphrase === undefined ? {} : { cipher: 'aes-128-cbc', passphrase }),
    }),
  );
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
  t.strictSame(JSON.parse(read({ data: pem() }) as string), whole);
  t.strictSame(JSON.parse(read({ data: pem('x'), passphrase: base64('x') }) as string), whole);
  t.strictSame(JSON.parse(read({ data: pem(), passphrase: base64('x') }) as string), whole, 'a password too many');
  t.strictSame(
    JSON.parse(
      read({ data: base64(JSON.stringify(ec.privateKey.export({ format: 'jwk' }))), format: 'jwk' }) as string,
    ),
    whole,
  );
  t.strictSame(JSON.parse(describe(ec.privateKey)), whole);
  const point = ec.publicKey.export({ format: 'jwk' });
  const bytes = Buffer.concat([
    Buffer.from([4]),
    ...[point.x, point.y].map((one) => Buffer.from(one ?? '', 'base64url')),
  ]);
  const open = asked({ op: 'read-key', as: 'public', format: 'point', curve: 'P-256', data: base64(bytes) });
  t.equal((JSON.parse(open as string) as { key: string }).key, ec.peer);
  t.match(asked({ op: 'read-key', as: 'public', format: 'point', curve: 'P-999', data: base64(bytes) }), /no curve/);
  t.equal(
    asked({ op: 'write-key', as: 'public', key: ec.peer, format: 'pem', type: 'spki' }).toString(),
    ec.publicKey.export({ format: 'pem', type: 'spki' }),
  );
  t.match(asked({ op: 'write-key', as: 'private', key: ec.key, format: 'jwk' }), /"crv":"P-256"/);
  t.end();
});

t.test('a key is taken for what the operation wants, and for nothing else', (t) => {
  const question = (key: string) => new Question({ key });
  t.equal(privateKey(question(ec.key)).type, 'private');
  t.equal(publicKey(question(ec.peer)).type, 'public');
  t.throws(() => privateKey(question(ec.peer)));
  t.throws(() => publicKey(question(ec.key)));
  t.throws(() => publicKey(question(base64(Buffer.alloc(5000)))), /longer/);
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
  t.match(read({ data: base64('7'), format: 'jwk' }), /no JSON Web Key/);
  t.end();
});

t.test('a locked file says itself how long it takes, and is asked first', (t) => {
  const locked = ec.privateKey.export({
    format: 'der',
    type: 'pkcs8',
    cipher: 'aes-128-cbc',
    passphrase: 'x',
  }) as unknown as Buffer;
  const slow = Buffer.from(locked.toString('hex').replace('02020800', '02027fff'), 'hex');
  t.match(read({ data: base64(locked), format: 'der', type: 'pkcs8', passphrase: base64('x') }), /prime256v1/);
  t.match(
    read({ data: base64(slow), format: 'der', type: 'pkcs8', passphrase: base64('x') }),
    /^threw (?!.*rounds)/,
    'some more rounds are done, and the password is wrong then',
  );
  const old = ec.privateKey.export({ format: 'pem', type: 'sec1', cipher: 'aes-128-cbc', passphrase: 'x' });
  t.match(read({ data: base64(old), passphrase: base64('x') }), /prime256v1/);
  t.match(read({ data: base64('nothing'), passphrase: base64('x') }), /unsupported/);
  t.end();
});
