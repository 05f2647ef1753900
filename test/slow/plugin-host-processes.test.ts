/**
 * Threat: a plugin crashes, fills or occupies its process, and harms the calls of others. Its own call ends with its
 * code. Calls that only shared the process run again. Nobody else notices, and nothing is left behind.
 */
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startPluginHost } from '../support/plugin-host.ts';
import { descendantsOf, survivors } from '../support/processes.ts';

const handler = (body: string) => `export async function handler({ params, api, kv }) {\n${body}\n}\n`;

/** V8 aborts the whole process on this, whatever the heap's limit is. */
const FATAL = `let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length;`;

t.test('three processes', async (t) => {
  const { call, close, services, metrics } = await startPluginHost({
    files: {
      'mixed.ts': handler(`
        if (params.kind === 'fatal') { ${FATAL} }
        if (params.kind === 'sends') await api.useRelayer('known').sendTransaction({});
        if (params.kind !== 'quick') await new Promise((resolve) => setTimeout(resolve, 1500));
        return params.kind;`),
      'busy.ts': handler(`const end = Date.now() + 100; while (Date.now() < end); return 1;`),
      'calm.ts': handler(`return 'calm';`),
    },
    maxProcesses: 3,
  });
  t.teardown(close);

  await t.test('calls that shared a process with its killer run again unless they had an effect', async (t) => {
    t.match(await call('mixed', { kind: 'quick' }), { status: 200 });
    const sends = call('mixed', { kind: 'sends' });
    let isInnocentOver = false;
    const innocent = call('mixed', { kind: 'innocent' }).finally(() => {
      isInnocentOver = true;
    });
    await eventually(
      () => services.sent.length,
      (sent) => sent === 1,
    );
    t.match((await call('mixed', { kind: 'fatal' })).body.data.code, /^(MEMORY|CPU)_LIMIT$/);
    t.match(await call('mixed', { kind: 'quick' }), { status: 200 }, 'the plugin serves again');
    t.notOk(isInnocentOver, 'as soon as it has a process, in which the other call is still at work');
    t.match(await sends, { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
    t.match(await innocent, { status: 200, body: { data: 'innocent' } });
    t.equal(services.sent.length, 1, 'nothing was sent twice');
    t.equal(
      metrics.of('plugin_process_ends').filter((line) => line.startsWith('mixed ')).length,
      1,
      'and no other process died',
    );
  });

  await t.test('one busy plugin holds up no other', async (t) => {
    await call('calm');
    let over = 0;
    const busy = Array.from({ length: 15 }, () =>
      call('busy').finally(() => {
        over += 1;
      }),
    );
    await Promise.race(busy);
    for (let time = 0; time < 5; time++) t.match(await call('calm'), { status: 200 });
    t.ok(over < 15, `${over} of 15 busy calls were over before five others`);
    for (const { status } of await Promise.all(busy)) t.equal(status, 200);
  });
});

t.test('more plugins than processes take turns', async (t) => {
  const ids = ['a', 'b', 'c', 'd'];
  const { call, close, host } = await startPluginHost({
    files: Object.fromEntries(ids.map((id) => [`${id}.ts`, handler(`return '${id}';`)])),
    maxProcesses: 2,
  });
  t.teardown(close);
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(ids.map((id) => call(id)));
    t.same(
      answers.map(({ body }) => body.data),
      ids,
    );
    t.ok(host.status().processes <= 2);
  }
});

t.test('when every process is busy the caller is told to come back', async (t) => {
  const { call, close, services } = await startPluginHost({
    files: {
      'keeps.ts': handler(`await api.useRelayer('known').sendTransaction({}); return 1;`),
      'waits.ts': handler(`return 1;`),
    },
    entries: [{ id: 'waits', timeout: 1 }],
    maxProcesses: 1,
  });
  t.teardown(close);
  const held = Promise.withResolvers<void>();
  services.beforeSend = () => held.promise;
  const keeping = call('keeps');
  t.match(await call('waits'), { status: 503, retryAfter: 2, body: { data: { code: 'SERVICE_UNAVAILABLE' } } });
  held.resolve();
  t.match(await keeping, { status: 200 });
  t.match(await call('waits'), { status: 200 }, 'the idle process gives way');
});

t.test('an end', async (t) => {
  const { call, close, host } = await startPluginHost({
    files: {
      'a.ts': handler(`return 1;`),
      'slow.ts': handler(`await new Promise((resolve) => setTimeout(resolve, 300)); return 'done';`),
      'stuck.ts': handler(`for (;;) await new Promise((resolve) => setTimeout(resolve, 1));`),
    },
    idleMs: 200,
  });
  t.teardown(close);

  await t.test('an idle process ends, and the plugin comes back', async (t) => {
    await call('a');
    t.equal(
      await eventually(
        () => host.status().processes,
        (processes) => processes === 1,
      ),
      1,
      'the spare is left',
    );
    t.match(await call('a'), { status: 200 });
  });

  await t.test('calls run to their end while the host closes, and no child survives', async (t) => {
    t.match(await call('slow'), { status: 200 });
    const slow = call('slow');
    const stuck = call('stuck');
    await eventually(
      () => host.status().running,
      (count) => count === 2,
    );
    const children = (await descendantsOf(process.pid)).filter(({ command }) => command.includes('isolayer-sandbox'));
    t.ok(children.length > 0, 'the children are known');
    await host.close(600);
    t.match(await slow, { status: 200, body: { data: 'done' } });
    t.match(await stuck, { status: 503 });
    t.same(await survivors(children, 3000), []);
  });
});
