import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import t from 'tap';

t.test('it hands both parts out, and ends', async (t) => {
  const file = join(import.meta.dirname, '../../../../../src/http/pages/console-bundle-thread.ts');
  const thread = new Worker(file, { execArgv: [] });
  const ended = once(thread, 'exit');
  const [{ script }] = (await once(thread, 'message')) as [{ script: Uint8Array }];
  t.match(gunzipSync(script).toString('utf8'), '/api/v1/events');
  t.strictSame(await ended, [0]);
});
