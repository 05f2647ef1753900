import t from 'tap';
import { loggedCalls, logLines, showLogs } from '../../../../../src/cli/plugin/last-logs.ts';
import { commandBefore, given } from '../../../../support/cli-answers.ts';

const call = (id: string) => ({
  request_id: id,
  key_id: 'k',
  at: '2026-01-01T00:00:00.000Z',
  outcome: 'threw',
  duration_ms: 5,
  logs: [{ level: 'error', message: 'Uncaught Error: no\n    at handler (plugins/p.ts:3:9)' }],
});

t.test('the latest call comes last, stacks line by line', async (t) => {
  const { context, said } = commandBefore(t.testdir({}), () => ({ body: { data: [call('late'), call('early')] } }));
  t.equal(await showLogs(context, given(['p'])), 0);
  t.match(said(), /early[^]*at handler \(plugins\/p\.ts:3:9\)[^]*late/);
  t.equal(logLines(call('x'))[0]?.split('\n').length, 2);
});

t.test('a plugin that wrote nothing, and one that there is not', async (t) => {
  const quiet = commandBefore(t.testdir({}), () => ({ body: { data: [] } }));
  await showLogs(quiet.context, given(['p']));
  t.match(quiet.said(), 'No call of p has written anything');
  await t.rejects(
    loggedCalls(async () => ({ status: 404, requestId: '', body: { error: 'no plugin p' } }), 'p'),
    /404.*no plugin p/,
  );
});
