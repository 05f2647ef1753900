import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Notes the files that a process loads, one URL a line. */
const noteLoaded = (file: string) => `
  import { registerHooks } from 'node:module';
  import { appendFileSync } from 'node:fs';
  registerHooks({
    load(url, context, next) {
      appendFileSync(${JSON.stringify(file)}, url + '\\n');
      return next(url, context);
    },
  });`;

t.test('a service that relays for one family has not loaded the code of the others', async (t) => {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, '0x56bc75e2d63100000']);
  const file = join(workspace.dir, 'loaded.txt');
  const hook = `data:text/javascript,${encodeURIComponent(noteLoaded(file))}`;
  const service = await startService({ ...workspace.env, NODE_OPTIONS: `--import=${hook}` });
  t.teardown(() => service.stop());
  t.equal((await service.request('POST', TRANSACTIONS, TRANSFER)).status, 200);

  const loaded = readFileSync(file, 'utf8').trim().split('\n');
  const index = (family: string) => loaded.some((url) => url.endsWith(`/src/chains/${family}/index.ts`));
  t.strictSame(
    ['evm', 'solana', 'stellar'].map((family) => [family, index(family)]),
    [
      ['evm', true],
      ['solana', false],
      ['stellar', false],
    ],
  );
  t.strictSame(
    loaded.filter((url) => /node_modules\/(@solana|@stellar)\//.test(url)),
    [],
  );
});
