/**
 * Threat: the service is killed anywhere in an accepted call, and a payment is made twice, or never, or the call is
 * answered otherwise than it would have been.
 */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { eventually } from '../support/eventually.ts';
import { seededRandom } from '../support/seeded.ts';
import { type AnswerBody, type RunningService, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const CALLS = Number(process.env['CALLS'] ?? 6);
const KILLS = Number(process.env['KILLS'] ?? 8);

const PLUGIN = `
const RECEIVER = '0x00000000000000000000000000000000000abcde';
export async function handler({ api, kv, params: { name } }) {
  const relayer = api.useRelayer('local-1');
  const send = async (what) => {
    const data = '0x' + Array.from(new TextEncoder().encode(name + '/' + what), (byte) => byte.toString(16).padStart(2, '0')).join('');
    return await relayer.sendTransaction({ to: RECEIVER, value: '7', data, gas_limit: 60000, speed: 'fast' });
  };
  const one = await send('1/' + Date.now() + '/' + Math.random());
  const before = await kv.get('count-' + name);
  await kv.set('count-' + name, (before ?? 0) + 1);
  const two = await send('2/' + crypto.randomUUID() + '/' + before);
  const winner = await Promise.race([relayer.getRelayerStatus().then(() => 'status'), api.sleep(20).then(() => 'sleep')]);
  const three = await send('3/' + winner);
  const [four] = await Promise.all([send('4'), kv.set('done-' + name, Date.now()), new Promise((done) => setTimeout(done, 50))]);
  const { status } = await three.wait({ until: 'confirmed', timeout: 300000 });
  return { ids: [one.id, two.id, three.id, four.id], winner, before, status };
}`;

t.test('calls whose service is killed again and again', { timeout: 240_000 }, async (t) => {
  const random = seededRandom(Number(process.env['SEED'] ?? 1), 'kills');
  const anvil = await startAnvil({ blockTime: 0.2 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { 'pays.ts': PLUGIN },
    plugins: [{ id: 'pays', path: 'pays.ts', durable: true, timeout: 60, limits: { slice_ms: 2000, cpu_ms: 20_000 } }],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
  });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  let service: RunningService = await startService(workspace.env);
  t.teardown(() => service.kill());
  const ask = async (method: string, path: string, body?: object, headers = {}) => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  };
  const names = Array.from({ length: CALLS }, (_, n) => `call${n}`);
  const begin = (name: string) =>
    ask('POST', '/plugins/pays/call', { params: { name } }, { 'idempotency-key': name, prefer: 'respond-async' });
  const begun = await Promise.all(names.map(begin));
  t.ok(begun.every(({ status }) => status === 202 || status === 200));
  const ids = begun.map(({ body }) => body.data.id as string);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await delay(20 + random() * 900);
    await service.kill();
    service = await startService(workspace.env);
  }
  for (const [index, id] of ids.entries()) {
    const view = async () => (await ask('GET', `/plugins/pays/calls/${id}`)).body.data;
    const ended = await eventually(view, ({ state }) => !['running', 'waiting'].includes(state), 90_000);
    t.match(ended, { state: 'returned', answer: { status: 'confirmed', before: null } }, JSON.stringify(ended));
    const { data } = (await ask('GET', '/relayers/local-1/transactions?per_page=100')).body;
    const own = data.filter((one: { data: string }) =>
      Buffer.from(one.data.slice(2), 'hex').toString().startsWith(`${names[index]}/`),
    );
    t.strictSame(
      own.map((one: { id: string }) => one.id).toSorted(),
      ended.answer?.ids.toSorted(),
      'each payment once',
    );
    t.comment(`${names[index]}: ${ended.tries} runs`);
  }
});
