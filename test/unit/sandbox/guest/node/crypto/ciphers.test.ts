import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const KEY = Buffer.alloc(32, 7);

t.test('ciphers do as Node’s', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    'in pieces': (c) => {
      const cipher = c.createCipheriv('aes-256-gcm', KEY, KEY.subarray(0, 12));
      cipher.setAAD(Buffer.from('beside'));
      const sealed = Buffer.concat([cipher.update('a'), cipher.update(Buffer.alloc(100_000)), cipher.final()]);
      const decipher = c.createDecipheriv('aes-256-gcm', KEY, KEY.subarray(0, 12));
      decipher.setAAD(Buffer.from('beside')).setAuthTag(cipher.getAuthTag());
      return [
        cipher.getAuthTag(),
        sealed.subarray(-20),
        Buffer.concat([decipher.update(sealed), decipher.final()]).length,
      ];
    },
    texts: (c) => {
      const cipher = c.createCipheriv('aes-256-cbc', KEY, KEY.subarray(0, 16)).setAutoPadding(true);
      return cipher.update('some text', 'utf8', 'base64') + cipher.final('base64');
    },
    'no vector': (c) => c.createCipheriv('aes-256-ecb', KEY, null).update('x'.repeat(16)),
    'after the end': (c) => {
      const cipher = c.createCipheriv('aes-256-cbc', KEY, KEY.subarray(0, 16));
      cipher.final();
      return cipher.update('x');
    },
    'an end twice': (c) => {
      const cipher = c.createCipheriv('aes-256-cbc', KEY, KEY.subarray(0, 16));
      cipher.final();
      return cipher.final();
    },
    'no tag yet': (c) => c.createCipheriv('aes-256-gcm', KEY, KEY).getAuthTag(),
    'what a cipher is': (c) => [
      c.getCipherInfo('aes-128-cbc'),
      c.getCipherInfo('aes-128-cbc', { ivLength: 3 }),
      c.getCipherInfo(901),
    ],
    'no name': (c) => c.getCipherInfo({} as never),
  });
});
