import t from 'tap';
import { serviceOf } from '../../../../../src/cli/plugin/service.ts';
import { commandBefore, given } from '../../../../support/cli-answers.ts';

t.test('it speaks to the service of the folder, with its key', async (t) => {
  const { context, seen } = commandBefore(
    t.testdir({ data: { 'api-key': 'made-by-the-service\n' } }),
    () => ({ body: { a: 1 } }),
    {},
  );
  const ask = await serviceOf(context, given([]));
  t.strictSame(await ask('/x'), { status: 200, requestId: 'req-1', body: { a: 1 } });
  t.match(seen[0], { method: 'GET', path: '/api/v1/x', authorization: 'Bearer made-by-the-service' });
  const other = await serviceOf(context, given([], { url: 'http://127.0.0.1:1', key: 'own' }));
  await other('/y', { method: 'POST', body: '{"b":2}' });
  t.match(seen[1], { method: 'POST', path: '/api/v1/y', authorization: 'Bearer own', body: { b: 2 } });
});

t.test('what is no JSON is text, and silence names the remedy', async (t) => {
  const plain = commandBefore(t.testdir({}), () => ({ body: 'busy', status: 503 }));
  t.match(await (await serviceOf(plain.context, given([])))('/x'), { status: 503, body: 'busy' });
  const refused = new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  const silent = commandBefore(t.testdir({}), () => refused);
  await t.rejects((await serviceOf(silent.context, given([])))('/x'), /No server answers at .*ECONNREFUSED.*npm start/);
});
