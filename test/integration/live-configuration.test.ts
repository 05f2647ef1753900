/** The configuration files of a running service change, as operators, editors and deployments change them. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { answersByMethod, startRpcDouble } from '../support/rpc-double.ts';
import { createWorkspace } from '../support/workspace.ts';

const ANSWERING = `export async function handler({ api, config }) {
  const relayer = await api.useRelayer('local-1').getRelayer().then((one) => one.name, (error) => error.message);
  console.log('was called');
  return { relayer, config: config ?? null, flavour: process.env.FLAVOUR ?? null };
}`;

// oxlint-disable-next-line no-explicit-any -- the file is edited as JSON
type File = Record<'relayers' | 'signers' | 'notifications' | 'plugins', any[]>;

t.test('a service goes by what its files say newly, and names what waits', { timeout: 200_000 }, async (t) => {
  const node = await startRpcDouble(answersByMethod({ eth_chainId: '0x7a69' }));
  t.teardown(() => node.stop());
  const workspace = await createWorkspace({
    rpcUrl: node.url,
    env: { FLAVOUR: 'vanilla', HOOK_KEY: 'k'.repeat(32) },
    plugins: [{ id: 'one', path: 'inner/answering.js' }],
    pluginFiles: { 'inner/answering.js': ANSWERING },
  });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const path = join(workspace.dir, 'config', 'config.json');
  const initial = JSON.parse(await readFile(path, 'utf8')) as File;

  /** The number of log lines before the last save. */
  let read = 0;
  const save = async (text: string, as: 'in place' | 'renamed' = 'in place') => {
    read = service.linesAfter(0).length;
    if (as === 'in place') await writeFile(path, text);
    else {
      await writeFile(`${path}.tmp`, text);
      await rename(`${path}.tmp`, path);
    }
  };
  const said = async (wanted: RegExp) => {
    const lines = () => service.linesAfter(read).join('\n');
    t.match(await eventually(lines, (text) => wanted.test(text), 60_000), wanted);
  };
  const file = (change: Partial<File>) => JSON.stringify({ ...initial, ...change }, null, 2);
  const relayerWith = (fields: object) => [{ ...initial.relayers[0], ...fields }];
  const get = async (what: string) => (await service.request('GET', `/api/v1/${what}`)).body;
  const call = async (plugin = 'one') => (await service.call(plugin)).body;
  t.match(await call(), { data: { relayer: 'Local relayer', config: null, flavour: null } });

  const wide = {
    relayers: relayerWith({ name: 'Renamed', notification_id: 'hook', policies: { min_balance: 7 } }),
    notifications: [
      { id: 'hook', type: 'webhook', url: 'https://hooks.example', signing_key: { type: 'env', value: 'HOOK_KEY' } },
    ],
    plugins: [
      {
        id: 'one',
        path: 'inner/answering.js',
        emit_logs: true,
        config: { a: 1 },
        permissions: { relayers: { 'local-1': ['read'] }, env: ['FLAVOUR'] },
      },
      { id: 'two', path: 'inner/answering.js' },
    ],
  };
  await save(file(wide), 'renamed');
  await said(/"places":\[.*"relayers\[0\]\.policies".*"notifications\[0\]".*"plugins\[1\]".*configuration is applied/);
  t.match(await get('relayers/local-1'), {
    data: { name: 'Renamed', notification_id: 'hook', policies: { min_balance: 7 } },
  });
  t.match(await get('notifications/hook'), { data: { url: 'https://hooks.example', has_signing_key: true } });
  t.match(await eventually(call, (body) => body.data?.flavour === 'vanilla'), {
    data: { relayer: 'Renamed', config: { a: 1 }, flavour: 'vanilla' },
    metadata: { logs: [{ message: 'was called' }] },
  });
  t.match(await call('two'), { data: { relayer: 'Renamed', flavour: null } });

  // A field that the API has changed stays so until the file changes it.
  await service.request('PATCH', '/api/v1/relayers/local-1', { policies: { min_balance: 9 } });
  await save(file({ ...wide, relayers: relayerWith({ ...wide.relayers[0], name: 'Again' }) }));
  await said(/"relayers\[0\]\.name"\].*configuration is applied/);
  t.match(await get('relayers/local-1'), { data: { name: 'Again', policies: { min_balance: 9 } } });

  // A narrower permission applies as soon as the configuration is applied.
  const narrow = { ...wide, plugins: [{ ...wide.plugins[0], permissions: {} }] };
  await save(file(narrow));
  await said(/"plugins\[0\]\.permissions","plugins \\"two\\""\].*configuration is applied/);
  t.match(await call(), { data: { relayer: /permissions/ } });
  const gone = await eventually(
    () => service.call('two'),
    ({ status }) => status === 404,
  );
  t.equal(gone.status, 404);

  // An invalid file is ignored as a whole.
  await save('{ "relayers": [');
  await said(/"problems":\["[^"]*config\.json: is not valid JSON.*nothing of it is applied/);
  await save(file({ ...narrow, relayers: relayerWith({ name: 'No', paused: 'maybe' }), signers: [], plugins: [{}] }));
  await said(/"problems":\[.*relayers\[0\]\.paused.*plugins\[0\]\.id.*nothing of it is applied/);
  t.match(await get('relayers/local-1'), { data: { name: 'Renamed' } });
  t.match(await call(), { success: true });

  // The log names the changes that need a restart. The other changes of the same save apply.
  const network = join(workspace.dir, 'config', 'networks', 'local.json');
  const added = { ...initial.signers[0], id: 'another-key' };
  await writeFile(network, JSON.stringify({ network: 'local', rpc_urls: [node.url], symbol: 'X' }));
  await save(
    file({
      notifications: wide.notifications,
      plugins: wide.plugins,
      relayers: [...wide.relayers, { ...initial.relayers[0], id: 'local-2', signer_id: 'another-key' }],
      signers: [...initial.signers, added],
    }),
  );
  await said(
    /"places":\["relayers\[1\]","signers\[1\]","networks \\"local\\" \(evm\)\.settings"\],"msg":"a change of the configuration needs a restart"/,
  );
  await said(/configuration is applied/);
  t.equal((await service.request('GET', '/api/v1/relayers/local-2')).status, 404);
  t.match(await get('relayers/local-1'), { data: { name: 'Renamed' } });
});
