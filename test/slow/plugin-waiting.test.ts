/** Threat: so many calls of a plugin wait for something that later calls find no place. */
import t from 'tap';
import { startService } from '../support/service.ts';
import { WAITING_PLUGIN, WaitingCalls, waitingEntry } from '../support/waiting-calls.ts';
import { createWorkspace } from '../support/workspace.ts';

/** The benchmark uses a thousand. */
const CALLS = 300;
/**
 * A waiting isolate takes 1.7 MiB at first, and 2.3 MiB after some polls. On a slow machine, the first ones poll often.
 */
const PROCESS_MB = 2048;

t.test('hundreds of calls of one plugin wait at once, and each gets its own answer', async (t) => {
  t.setTimeout(300_000);
  const workspace = await createWorkspace({
    pluginFiles: { 'waiting.ts': WAITING_PLUGIN },
    plugins: [waitingEntry(CALLS, PROCESS_MB)],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '10000', RATE_LIMIT_BURST_SIZE: '10000' },
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.stop());
  t.match(await service.call('waiting'), { status: 200 });

  const waiting = new WaitingCalls(service, CALLS);
  t.teardown(() => waiting.close());
  await waiting.allRun(120_000);
  t.match(await service.request('GET', '/api/v1/plugins'), { status: 200 }, 'the API answers meanwhile');
  t.same(
    await waiting.answers(),
    Array.from({ length: CALLS }, (_, index) => index),
  );
  t.match(await service.call('waiting'), { status: 200, body: { data: null } }, 'and the plugin serves on');
});
