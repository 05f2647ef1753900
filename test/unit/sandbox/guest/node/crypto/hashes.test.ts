import * as node from 'node:crypto';
import t from 'tap';
import { createArithmetic } from '../../../../../../sandbox/guest/node/crypto/arithmetic.ts';
import { bytesOf, createHashing, given, HASHES } from '../../../../../../sandbox/guest/node/crypto/hashes.ts';
import { partWorld } from '../../../../../support/guest-web.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

type Module = Pick<typeof node, 'createHash' | 'createHmac' | 'hash'>;
const ours = createHashing(createArithmetic(partWorld()), String) as unknown as Module;

t.test('hashes and HMACs are Node’s', async (t) => {
  await sameAsNode<Module>(t, ours, node, {
    ...Object.fromEntries(
      HASHES.map((name) => [
        name,
        (module: Module) => [
          module.createHash(name).update('a').update(Buffer.from('b')).digest('hex'),
          module.createHmac(name, 'key').update('data').digest('base64'),
          module.hash(name, 'text'),
        ],
      ]),
    ),
    'a copy': (module) => {
      const hash = module.createHash('sha256').update('a');
      return [hash.copy().update('b').digest('hex'), hash.digest('hex')];
    },
    over: (module) => {
      const hash = module.createHash('md5');
      hash.digest();
      return hash.copy();
    },
    'an HMAC twice': (module) => {
      const hmac = module.createHmac('md5', Buffer.from('k'));
      return [hmac.digest('hex'), hmac.digest('hex')];
    },
    'no data': (module) => module.createHash('md5').update(5 as never),
  });
  t.throws(() => ours.createHash('nope'), /Digest method not supported/);
  t.throws(() => ours.hash('nope', ''), /Digest method not supported/);
  t.throws(() => ours.createHmac('nope', ''), { code: 'ERR_CRYPTO_INVALID_DIGEST' });
});

t.test('data is bytes or text, and what the process refuses is said', (t) => {
  t.same(bytesOf('ff', 'hex', 'data'), Buffer.from([255]));
  t.same(bytesOf(new Uint8Array([1]).buffer, undefined, 'data'), new Uint8Array([1]));
  t.equal(given(new Uint8Array([97]), 'utf8'), 'a');
  t.same(given(new Uint8Array([97]), 'buffer'), Buffer.from('a'));
  const refused = createHashing(createArithmetic({ ...partWorld(), compute: () => '' }), String);
  t.throws(() => refused.createHash('md5').digest(), { code: 'ERR_CRYPTO_OPERATION_FAILED' });
  t.end();
});
