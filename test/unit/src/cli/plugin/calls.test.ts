import t from 'tap';
import { benchPlugin, callPlugin } from '../../../../../src/cli/plugin/calls.ts';
import { commandBefore, given } from '../../../../support/cli-answers.ts';

t.test('a call shows its answer', async (t) => {
  const { context, seen, said } = commandBefore(t.testdir({}), () => ({ body: { success: true, data: 5 } }));
  t.equal(await callPlugin(context, given(['p', '{"a":1}'], { route: 'x/y' })), 0);
  t.match(seen[0], { method: 'POST', path: '/api/v1/plugins/p/call/x/y', body: { params: { a: 1 } } });
  t.match(said(), /^200\n\{\n {2}"success": true/);
  await callPlugin(context, given(['p'], {}, ['get']));
  t.match(seen[1], { method: 'GET', path: '/api/v1/plugins/p/call', body: null });
  await t.rejects(callPlugin(context, given(['p', '{a'])), /no JSON/);
});

t.test('a call that fails shows what it wrote', async (t) => {
  const logged = {
    request_id: 'req-1',
    at: 'now',
    outcome: 'threw',
    duration_ms: 1,
    logs: [{ level: 'error', message: 'Uncaught Error: no\\n    at handler (plugins/p.ts:3:9)' }],
  };
  const { context, complained } = commandBefore(t.testdir({}), ({ path }) =>
    path.endsWith('/logs') ? { body: { data: [logged] } } : { status: 500, body: { success: false } },
  );
  t.equal(await callPlugin(context, given(['p'])), 1);
  t.match(complained(), 'at handler (plugins/p.ts:3:9)');
});

t.test('many calls come to figures', async (t) => {
  let made = 0;
  const { context, said } = commandBefore(t.testdir({}), () => ({ status: ++made === 7 ? 500 : 200, body: {} }));
  t.equal(await benchPlugin(context, given(['p'], { calls: '10', parallel: '3' })), 1);
  t.equal(made, 10);
  t.match(said(), /^10 calls, 3 at once: \d+ a second, 1 failed\np50 \d+\.\d ms/);
  await t.rejects(benchPlugin(context, given(['p'], { calls: '0' })), /--calls is a whole number/);
});
