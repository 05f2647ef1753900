import t from 'tap';
import { KEYED_NAMES } from '../../../../../../sandbox/guest/node/crypto/keyed-names.ts';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';

t.test('each name that the part stands for is there', (t) => {
  const made = guestCrypto() as unknown as Record<string, unknown>;
  for (const name of KEYED_NAMES) t.type(made[name], 'function', name);
  t.end();
});
