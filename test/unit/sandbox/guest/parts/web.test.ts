import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/web.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, which know each other', async (t) => {
  const made = part(partWorld());
  t.strictSame(Object.keys(made).sort(), [...PART_GLOBALS.web, 'copyBlob'].sort());
  const { Response, Blob } = made as unknown as typeof globalThis;
  t.ok((await new Response(new Blob(['x'])).blob()) instanceof Blob);
});
