import t from 'tap';
import { clientOf } from '../../../../../src/cli/remote/client.ts';
import { pipeWith, runTyped } from '../../../../support/command.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

t.test('the server is the named one, else that of the folder', async (t) => {
  const { url } = await startHttp(t);
  const env = { ISOLAYER_URL: `${url}/`, ISOLAYER_KEY: API_KEY };
  const cwd = t.testdir({ data: { 'api-key': `${API_KEY}\n` } });
  t.match(await runTyped(cwd, ['relayers', '--json'], env), { code: 0, said: /"id":"r1"/ });
  t.match(await runTyped(cwd, ['relayers', '--json', '--url', url], {}), { code: 0 }, 'with the key of the folder');
  const wrong = await runTyped(cwd, ['relayers', '--url', url, '--key', 'x'], env);
  t.match(wrong, { code: 1, said: '', complained: 'Unauthorized' });
  const own = { APP_PORT: new URL(url).port, API_KEY };
  t.match(await runTyped(cwd, ['relayers', '--json'], own), { code: 0 });
});

t.test('who does not answer is named', async (t) => {
  const refuse = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('refused') }));
  const context = {
    env: {},
    cwd: '.',
    say: () => {},
    complain: () => {},
    now: () => new Date(0),
    keyboard: pipeWith(''),
    request: refuse as unknown as typeof fetch,
  };
  const options = new Map([
    ['url', 'http://127.0.0.1:1'],
    ['key', 'k'],
  ]);
  const client = await clientOf(context, { values: [], flags: new Set(), options });
  await t.rejects(client.call('listRelayers', {}), { message: 'No server answers at http://127.0.0.1:1 (refused)' });
});
