/**
 * The promise: what one instance cannot reach, another does. What could break it: an instance that starts without its
 * node and disables the relayer for all, or an instance that keeps an account's lane after it lost its node.
 */
import t from 'tap';
import { answersOf } from '../support/health-stage.ts';
import { assertPaidOnce, instancesFor, send, TRANSACTIONS, TRANSFER, untilMined } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import { type DoubleHandler, startRpcDouble } from '../support/rpc-double.ts';
import type { StartedService } from '../support/service.ts';

const GONE: DoubleHandler = () => 'hang-up';
const RELAYER = '/api/v1/relayers/local-1';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** Waits for a condition, with a long time limit for slow machines. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within 90 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const isDisabled = async (service: StartedService) =>
  (await service.request('GET', RELAYER)).body.data.system_disabled === true;
const readiness = async (service: StartedService) => service.request('GET', '/api/v1/ready');

const instances = await instancesFor(t, postgres);
const [nodeOfOne, nodeOfTwo] = [await startRpcDouble(answersOf(instances.anvil)), await startRpcDouble(GONE)];
for (const node of [nodeOfOne, nodeOfTwo]) t.teardown(() => node.stop());
const env = { RPC_TIMEOUT_MS: '2000' };
/** The shortest interval of health checks that works on a busy machine. */
const PACE = { healthMs: 2_000, confirmMs: 500, recheckMs: [500, 1_000] };
const one = await instances.compose(env, nodeOfOne.url, PACE);
const two = await instances.compose(env, nodeOfTwo.url, PACE);

t.test('an instance without its node disables nobody while another reaches it, and is not ready', async (t) => {
  await until('it says that it is not ready', async () => (await readiness(two)).status === 503);
  t.match((await readiness(two)).body, {
    reason: /reaches no network/,
    components: { networks: { status: 'unhealthy', unreached: [{ network: 'local', served_by_others: true }] } },
  });
  t.equal(await isDisabled(two), false);
  // The other instance sends what this one accepts.
  await send([one, two], 20);
  await assertPaidOnce(t, instances, await untilMined(one, 20));
  t.equal(await isDisabled(one), false);
  t.equal((await readiness(one)).status, 200);
});

t.test('when none reaches it the relayer is disabled, and enabled when one does', async (t) => {
  nodeOfOne.answer(GONE);
  await until('it is disabled', () => isDisabled(one));
  t.equal((await one.request('POST', TRANSACTIONS, TRANSFER)).status, 403);
  const { status, body } = await readiness(one);
  t.equal(status, 200, 'to send the requests elsewhere would help nobody');
  t.match(body, {
    status: 'degraded',
    components: { networks: { status: 'degraded', unreached: [{ network: 'local', served_by_others: false }] } },
  });
  nodeOfTwo.answer(answersOf(instances.anvil));
  await until('it is enabled', async () => !(await isDisabled(one)));
  await until('who reaches it is ready', async () => (await readiness(two)).status === 200);
  await send([one, two], 5);
  await assertPaidOnce(t, instances, await untilMined(one, 25));
});

t.test('an instance that drives an account and loses its node leaves the account to another', async (t) => {
  nodeOfOne.answer(answersOf(instances.anvil));
  await until('both are ready', async () => {
    return (await readiness(one)).body.status === 'healthy' && (await readiness(two)).body.status === 'healthy';
  });
  nodeOfTwo.answer(() => 'silence');
  await send([one, two], 20);
  await assertPaidOnce(t, instances, await untilMined(one, 45));
  t.match(two.output(), /lane given away/);
  t.equal(await isDisabled(one), false);
});
