import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { runTyped } from '../../../support/command.ts';
import { createWorkspace } from '../../../support/workspace.ts';

t.test('a configuration that a start would take is summed up', async (t) => {
  const workspace = await createWorkspace({
    rpcUrl: 'http://127.0.0.1:9',
    pluginFiles: { 'good.ts': 'export const handler = () => 1;' },
  });
  t.teardown(() => workspace.remove());
  const { code, said, complained } = await runTyped(workspace.dir, ['check-config'], workspace.env);
  t.equal(complained, '');
  t.equal(code, 0);
  for (const line of [
    'relayer local-1: evm local',
    'signer local-key: local, opened',
    /networks: \d+ known/,
    'plugin good: good.ts compiles',
    /\nok$/,
  ]) {
    t.match(said, line);
  }
  t.notMatch(said, 'warning');
  await chmod(join(workspace.dir, 'config/keys/local.json'), 0o644);
  const warned = await runTyped(workspace.dir, ['check-config'], workspace.env);
  t.match(warned, {
    code: 0,
    said: /^warning: config\/keys\/local\.json: others .* chmod 600 config\/keys\/local\.json$/m,
  });
});

t.test('all that is wrong is said at once, and no secret', async (t) => {
  const workspace = await createWorkspace({
    rpcUrl: 'http://127.0.0.1:9',
    relayer: { signer_id: 'nobody', paused: 'no' },
  });
  t.teardown(() => workspace.remove());
  const { code, complained } = await runTyped(workspace.dir, ['check-config'], workspace.env);
  t.equal(code, 1);
  t.match(complained, /relayers\[0\]\.signer_id/);
  t.match(complained, /relayers\[0\]\.paused/);
});

t.test('a signer that does not open and a plugin that does not compile are found without a start', async (t) => {
  const workspace = await createWorkspace({
    rpcUrl: 'http://127.0.0.1:9',
    pluginFiles: {
      'bad.ts': 'export const handler = (;',
      'good.ts': 'export const handler = () => 1;',
      'misspelt.ts': 'export const handle = () => 1;',
    },
  });
  t.teardown(() => workspace.remove());
  const wrongKey = { ...workspace.env, KEYSTORE_PASSPHRASE: 'not the one' };
  const closed = await runTyped(workspace.dir, ['check-config'], wrongKey);
  t.match(closed, { code: 1, complained: /local-key.*passphrase/ });
  t.notMatch(closed.complained, 'not the one');
  const broken = await runTyped(workspace.dir, ['check-config'], workspace.env);
  t.equal(broken.code, 1);
  t.match(broken.complained, /plugin bad: [^]*bad\.ts:1/);
  t.match(
    broken.complained,
    /plugin misspelt: Plugin must export a handler function; it exports handle; export it as `handler`/,
  );
  t.match(broken.said, /plugin good: good\.ts compiles[^]*not ok$/);
});
