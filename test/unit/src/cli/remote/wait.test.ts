import t from 'tap';
import { untilEnded } from '../../../../../src/cli/remote/wait.ts';
import { ApiClient } from '../../../../../src/client/client.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

const PATH = { id: 'r1', transactionId: 'tx-1' };

t.test('it tells of each status once, over a server that is away, until the end', async (t) => {
  const { url, services } = await startHttp(t);
  const statuses = ['pending', 'pending', 'away', 'mined', 'confirmed'];
  services.transactions.get = async () => ({ id: 'tx-1', status: statuses.shift() ?? '' });
  const client = new ApiClient({
    url,
    key: API_KEY,
    fetch: (...request) => {
      if (statuses[0] !== 'away') return fetch(...request);
      statuses.shift();
      return Promise.reject(new Error('away'));
    },
  });
  const told: string[] = [];
  await untilEnded(client, PATH, (line) => told.push(line), 1);
  t.strictSame(told, ['tx-1 is pending', 'tx-1 is mined', 'tx-1 is confirmed']);
});

t.test('a refusal is the end, and so is a server that stays away', async (t) => {
  const { url } = await startHttp(t);
  const stranger = new ApiClient({ url, key: 'wrong' });
  await t.rejects(
    untilEnded(stranger, PATH, () => {}, 1),
    { code: 'UNAUTHORIZED' },
  );
  const alone = new ApiClient({ url, key: API_KEY, fetch: () => Promise.reject(new Error('away')) });
  await t.rejects(
    untilEnded(alone, PATH, () => {}, 1),
    /away/,
  );
});
