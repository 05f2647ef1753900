import t from 'tap';
import { runTyped } from '../../../../support/command.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

t.test('webhooks are listed, then what became of the events of one, and one is delivered anew', async (t) => {
  const { url, services } = await startHttp(t);
  const run = (...typed: string[]) =>
    runTyped('.', ['webhooks', ...typed], { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  services.notifications.known.set('shop', { id: 'shop', url: 'https://shop.example', has_signing_key: true });
  t.match((await run()).said, /^shop +yes +https:\/\/shop\.example$/m);
  const asked: unknown[] = [];
  const one = { id: 'e1', state: 'dead', event: 'transaction_update', created_at: '2026', tries: 3 };
  services.deliveries.list = async (...[id, part, filter]: unknown[]) => {
    asked.push([id, part, filter]);
    return { items: [{ ...one, outcome: 'HTTP 500', transaction_id: 't1' }], next: null };
  };
  t.match((await run('shop', '--state', 'dead')).said, /^e1 +dead +transaction_update +2026 +3 +HTTP 500 +t1$/m);
  t.match(asked, [['shop', { before: null, limit: 50 }, { state: 'dead' }]]);
  t.match(JSON.parse((await run('shop', '--json')).said), { id: 'e1', transaction_id: 't1' });
  t.match(await run('redeliver', 'shop', 'e9'), { code: 1, complained: /e9/ });
  services.deliveries.redeliver = async () => ({ ...one, state: 'waiting' });
  t.match(await run('redeliver', 'shop', 'e1'), { code: 0, said: 'e1 is waiting, to be delivered again' });
  for (const typed of [
    ['shop', 'e1'],
    ['redeliver', 'shop'],
    ['--state', 'dead'],
  ]) {
    t.match(await run(...typed), { code: 2, complained: /^It is: webhooks/ }, typed.join(' '));
  }
});
