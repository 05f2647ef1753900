import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import t from 'tap';

t.test('it hands the script out in one piece, and ends', async (t) => {
  const file = join(import.meta.dirname, '../../../../../src/http/pages/reference-script-thread.ts');
  const thread = new Worker(file, { execArgv: [] });
  const ended = once(thread, 'exit');
  const [bytes] = (await once(thread, 'message')) as [Uint8Array];
  t.match(gunzipSync(bytes).toString('utf8'), 'createApiReference');
  t.strictSame(await ended, [0]);
});
