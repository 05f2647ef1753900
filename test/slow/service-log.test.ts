/** The log for operators: a line for each step of a payment, of the start and of the end. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { startAnvil } from '../support/anvil.ts';
import { TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { startAndFail, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Far longer than a block takes on a busy machine. */
const ENDS_WITHIN_MS = 120_000;

t.test('a payment, the start and the end have a line each, as JSON where nobody sits before it', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url, env: { LOG_LEVEL: 'info' } });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  const service = await startService(workspace.env);
  t.teardown(() => service.kill());
  const sent = await service.request('POST', TRANSACTIONS, TRANSFER);
  const { id } = sent.body.data;
  const entries = () =>
    service
      .linesAfter(0)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const hasEnded = () => service.output().includes('"transaction ended"');
  for (let waited = 0; waited < ENDS_WITHIN_MS && !hasEnded(); waited += 20) await delay(20);
  await service.stop();
  await service.drained;
  t.match(
    entries().filter(({ msg, transaction }) => transaction === id || msg === 'ready' || msg === 'stopped'),
    [
      { msg: 'ready', level: 'info', time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, address: service.url },
      { msg: 'transaction accepted', level: 'info', relayer: 'local-1' },
      { msg: 'transaction submitted', level: 'info', relayer: 'local-1', hash: /^0x[0-9a-f]{64}$/ },
      { msg: 'transaction ended', level: 'info', relayer: 'local-1', status: 'confirmed', reason: null },
      { msg: 'stopped', level: 'info' },
    ],
  );
});

t.test('a database that is away at the start is a line that names it, without a stack', async (t) => {
  const workspace = await createWorkspace({
    env: {
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'human',
      DATABASE_URL: 'postgres://operator:hidden@127.0.0.1:9/isolayer',
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  });
  t.teardown(() => workspace.remove());
  const { code, output } = await startAndFail(workspace.env);
  t.not(code, 0);
  const reason = 'connect ECONNREFUSED 127.0.0.1:9';
  t.match(
    output,
    new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z WARN {2}the database does not answer yet.* {2}reason="${reason}"`, 'm'),
  );
  t.match(output, `Isolayer did not start.\nThe database does not answer: ${reason}`);
  t.equal(output.split('\n').filter((line) => line.includes(reason)).length, 2, 'however often it was tried');
  t.notMatch(output, /hidden|\n\s+at |^\{/m);
});
