import t from 'tap';
import { follow } from '../../../../../src/cli/remote/logs.ts';
import { ApiClient } from '../../../../../src/client/client.ts';
import { runTyped } from '../../../../support/command.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

const call = (requestId: string, message = 'x') => ({
  pluginId: 'echo',
  requestId,
  keyId: 'k',
  at: 0,
  outcome: 'returned',
  durationMs: 1,
  lines: [{ level: 'info' as const, message }],
});

t.test('calls are told as they end, until the server is gone for good', async (t) => {
  const { url, pluginHost, server } = await startHttp(t);
  const told: string[] = [];
  const first = Promise.withResolvers<void>();
  const following = follow(
    new ApiClient({ url, key: API_KEY }),
    'echo',
    (one) => {
      told.push(one.request_id);
      first.resolve();
    },
    1,
  );
  const calling = setInterval(() => pluginHost.ended.add(call(`q${told.length}`)), 20);
  await first.promise;
  clearInterval(calling);
  await server.close(0);
  await t.rejects(following);
  t.equal(told[0], 'q0');
});

t.test('what a key may not see is refused at once', async (t) => {
  const { url } = await startHttp(t);
  await t.rejects(
    follow(new ApiClient({ url, key: 'none' }), 'echo', () => {}, 1),
    { message: 'Unauthorized' },
  );
  const env = { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY };
  t.match(await runTyped('.', ['logs', 'echo', '--json'], env), { code: 0, said: '{"request_id":"request-1"}' });
  t.match(await runTyped('.', ['logs', 'other'], env), { code: 1, complained: 'Plugin with id other not found' });
});
