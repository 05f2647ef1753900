import t from 'tap';
import { runTyped } from '../../../../support/command.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

t.test('transactions are listed, shown and canceled', async (t) => {
  const { url, services } = await startHttp(t);
  const run = (...typed: string[]) => runTyped('.', ['tx', ...typed], { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  t.match(await run('list', 'r1', '--json'), { said: '{"id":"tx-1"}' });
  const one = { id: 'tx-1', status: 'failed', status_reason: 'reverted', created_at: '2026', hash: '0x1' };
  services.transactions.list = async () => ({ items: [one], total: 1 });
  t.match(await run('list', 'r1'), { code: 0, said: /^ID +STATUS .*\ntx-1 +failed +2026 +0x1 +reverted$/ });
  const asked: unknown[] = [];
  services.transactions.list = async (...given: unknown[]) => {
    asked.push(given.slice(0, 3));
    return { items: [], total: 0 };
  };
  t.match(await run('list', 'r1', '--status', 'failed', '--page', '3'), { code: 0 });
  t.match(JSON.stringify(asked), /"page":3.*"failed"|"failed".*"page":3/);
  t.match(await run('list', 'r1', '--status', 'lost'), { code: 1, complained: /status/ });
  t.match(await run('show', 'r1', 'tx-1', '--page', '3'), { code: 2 });
  t.match(await run('show', 'r1', 'tx-1'), { code: 0, said: /^tx-1 is mined/ });
  t.match(JSON.parse((await run('show', 'r1', 'tx-1', '--json')).said), { timeline: { events: [] } });
  t.match(await run('show', 'r1', 'other'), { code: 1, complained: /other not found/ });
  t.match(await run('cancel', 'r1', 'tx-1'), { code: 0, said: 'tx-1 is to be canceled; it is canceled now' });
  t.match(await run('show', 'tx-1'), { code: 0, said: /^tx-1 is mined/ }, 'whosever it is');
  services.transactions.get = async () => ({ id: 'tx-1', status: 'expired', status_reason: 'too late' });
  const waited = await run('show', 'tx-1', '--wait');
  t.match(waited, { code: 1, said: /^tx-1 is expired: too late/, complained: 'tx-1 is expired' });
  services.relayers.known.set('r2', { id: 'r2' });
  t.match(await run('show', '7'), { code: 1, complained: '7 is one of several relayers; name one of ' });
  t.match(services.lifecycle.intents, [{ kind: 'cancel', relayerId: 'r1', transactionId: 'tx-1' }]);
  for (const typed of [
    ['list', 'r1', 'x'],
    ['sell', 'r1', 'x'],
  ]) {
    t.match(await run(...typed), { code: 2, complained: /^It is: tx list/ }, typed.join(' '));
  }
});
