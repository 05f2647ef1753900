import { inspect } from 'node:util';
import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/assert.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes what it stands for, with what another one shows', (t) => {
  const { assert } = part({ ...partWorld(), large: () => ({ inspect }) }) as { assert: (value: unknown) => void };
  t.throws(() => assert(0), { code: 'ERR_ASSERTION' });
  t.end();
});
