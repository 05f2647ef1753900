import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/node-crypto.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes what it stands for', (t) => {
  const { crypto } = part(partWorld()) as { crypto: { createHash: unknown } };
  t.type(crypto.createHash, 'function');
  t.end();
});
