import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/subtle.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, and the object itself', async (t) => {
  const made = part(partWorld());
  t.strictSame(Object.keys(made).sort(), [...PART_GLOBALS.subtle, 'copyKey', 'subtle', 'webKeys'].sort());
  const digest = await (made['subtle'] as SubtleCrypto).digest('SHA-256', Buffer.from('abc'));
  t.match(Buffer.from(digest).toString('hex'), /^ba7816bf/);
});
