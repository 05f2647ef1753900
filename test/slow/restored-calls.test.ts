/**
 * Threat: a database is put back to an earlier moment while durable calls have not ended. They go on from what they had
 * heard by then, and send once more what they have sent since.
 */
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { RECEIVER } from '../support/instances.ts';
import { LIMIT_MS, RestoredScene } from '../support/restored-scene.ts';
import { startService } from '../support/service.ts';

/** Pays each of the rows, and waits for each. */
const PAYOUT = `
export async function handler({ api, params: { rows } }) {
  const relayer = api.useRelayer('local-1');
  const made = [];
  for (const { to, value } of rows) {
    const sent = await relayer.sendTransaction({ to, value, data: '0x', gas_limit: 21000, speed: 'fast' });
    made.push((await sent.wait({ until: 'confirmed' })).hash);
    await api.sleep(1000);
  }
  return made;
}`;
const PAYING = {
  pluginFiles: { 'payout.ts': PAYOUT },
  plugins: [{ id: 'payout', path: 'payout.ts', durable: true, timeout: 60 }],
};

t.test('what a durable call has sent after a copy was made is not sent again', async (t) => {
  const scene = await RestoredScene.open(t, PAYING);
  await scene.service.end();
  const killed = await startService(scene.workspace.env);
  scene.service = killed;
  const rows = [1, 2, 3, 4].map((value) => ({ to: RECEIVER, value: String(value) }));
  // Its caller waits for the answer, and is cut off.
  const call = scene.service
    .request('POST', '/api/v1/plugins/payout/call', { params: { rows } })
    .catch(() => undefined);
  const ended = () =>
    eventually(
      async () => (await scene.service.request('GET', '/api/v1/plugins/payout/calls')).body.data[0],
      ({ state }) => state === 'returned',
      LIMIT_MS,
    );
  await eventually(
    () => scene.received(),
    (received) => received === 1n,
  );
  await scene.snapshot();
  const { answer: made } = await ended();
  t.equal(await scene.received(), 10n);

  await Promise.all([call, killed.kill()]);
  await scene.putBack();
  await scene.start();
  const { answer } = await ended();
  t.equal(await scene.received(), 10n, 'nobody is paid again');
  t.strictSame(answer, made, 'the call hears of what it had sent');
  await scene.confirmed([await scene.accept()]);
  t.equal(await scene.received(), 17n, 'what is new is sent');
});
