import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

t.test('the kit is found from a folder that has no packages', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-kit-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'asks.ts');
  await writeFile(
    file,
    `import { openSandbox } from 'isolayer/testing';
    import { relayerOfService } from 'isolayer/testing/relayer';
    console.log(typeof openSandbox, typeof relayerOfService, await import('isolayer/other').catch(({ code }) => code));`,
  );
  const hook = new URL('../../../../../src/cli/testing/resolve-kit.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', hook, file]);
  t.equal(stdout, 'function function ERR_MODULE_NOT_FOUND\n');
});
