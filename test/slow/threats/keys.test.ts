/**
 * Threat: a plugin gets keys or credentials, or moves money past the checks. The server signs for a plugin here, so
 * every secret is in use. If one of these fails, look at `sandbox/driver/launch.ts`, which starts the children,
 * and at `src/features/plugins/host/gateway.ts`.
 */
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { startAnvil } from '../../support/anvil.ts';
import { foundInMemory, spellingsOf } from '../../support/attacks/process-memory.ts';
import { openStage } from '../../support/attacks/stage.ts';
import { descendantsOf } from '../../support/processes.ts';
import { startService } from '../../support/service.ts';

const API_KEY = 'canary-api-key-0123456789-0123456789';
const HOOK_KEY = 'canary-webhook-key-0123456789-0123456789';
const STORAGE_KEY = Buffer.from('canary-storage-key-0123456789-ab').toString('base64');
const PLUGIN_TEXT = 'canary-text-of-the-plugin-itself';
const UNUSED = 'canary-in-the-environment-of-nobody';
const GRANTED = '0x00000000000000000000000000000000000000a1';
const OTHER = '0x00000000000000000000000000000000000000b2';

/** Each shape makes a request that changes between its first and its second read. */
const FLIPPING = `
const flip = () => { let looks = 0; return () => (looks++ === 0 ? '${GRANTED}' : '${OTHER}'); };
const base = { value: 1, data: '0x', speed: 'fast', gas_limit: 21000 };
const SHAPES = {
  plain: () => ({ ...base, to: '${GRANTED}' }),
  other: () => ({ ...base, to: '${OTHER}' }),
  getter: () => { const to = flip(); return { ...base, get to() { return to(); } }; },
  'getter that begins with the other': () => { let n = 0; return { ...base, get to() { return n++ % 2 === 0 ? '${OTHER}' : '${GRANTED}'; } }; },
  toJSON: () => ({ ...base, to: '${GRANTED}', toJSON() { return { ...base, to: '${OTHER}' }; } }),
  'toJSON inside': () => ({ ...base, to: { toJSON: flip(), toString: () => '${OTHER}' } }),
  Proxy: () => { const to = flip(); return new Proxy({ ...base, to: '${GRANTED}' }, { get: (o, k) => (k === 'to' ? to() : o[k]) }); },
  'String object': () => ({ ...base, to: Object.assign(new String('${GRANTED}'), { toString: () => '${OTHER}', valueOf: () => '${OTHER}' }) }),
  'two keys': () => JSON.parse('{"to":"${OTHER}","to":"${GRANTED}","value":1,"data":"0x","speed":"fast","gas_limit":21000}'),
  prototype: () => Object.assign(Object.create({ to: '${OTHER}' }), { ...base, ['__proto__']: { to: '${OTHER}' }, to: '${GRANTED}' }),
  'raw JSON': () => ({ ...base, to: '${GRANTED}', value: JSON.rawJSON('1') }),
  'raw JSON of more': () => ({ ...base, to: '${GRANTED}', value: JSON.rawJSON('1000000000000000000') }),
  'value as getter': () => { let n = 0; return { ...base, to: '${GRANTED}', get value() { return n++ === 0 ? 1 : 10n ** 18n; } }; },
  array: () => Object.assign([], { ...base, to: '${GRANTED}' }),
};
export async function handler({ api, params }) {
  return await api.useRelayer('local-1').sendTransaction(SHAPES[params.shape]()).then(({ id }) => ({ id }), (error) => ({ refused: error.message }));
}
export const shapes = Object.keys(SHAPES);
`;

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const stage = await openStage(t, [], startService, {
  rpcUrl: anvil.url,
  prepare: ({ address }) => anvil.rpc('anvil_setBalance', [address, '0x8ac7230489e80000']),
  pluginFiles: {
    'flips.ts': FLIPPING,
    'marked.ts': `export async function handler() { return '${PLUGIN_TEXT}'.length; }\n`,
  },
  plugins: [
    {
      id: 'flips',
      path: 'flips.ts',
      permissions: {
        relayers: { 'local-1': { methods: ['send', 'read'], recipients: [GRANTED], value_per_call: 5 } },
      },
    },
  ],
  config: {
    notifications: [
      { id: 'hook', type: 'webhook', url: 'http://127.0.0.1:9/', signing_key: { type: 'env', value: 'HOOK_KEY' } },
    ],
  },
  env: { API_KEY, HOOK_KEY, STORAGE_ENCRYPTION_KEY: STORAGE_KEY, UNUSED },
});
const { service, workspace } = stage;

const SHAPES = [...FLIPPING.matchAll(/^ {2}'?([\w ]+?)'?: \(\) =>/gm)].map(([, name = '']) => name);

t.test('threat 35: what is checked is what is signed', { timeout: 60_000 }, async (t) => {
  // Threat: the check sees one recipient, and the code that builds and signs sees another.
  t.ok(SHAPES.length > 10, SHAPES.join(', '));
  const answers = await Promise.all(
    SHAPES.map(async (shape) => [shape, await service.call('flips', { shape })] as const),
  );
  const said = new Map(answers.map(([shape, { body }]) => [shape, body.data]));
  t.match(said.get('plain'), { id: String }, 'an honest one is sent');
  t.match(said.get('other'), { refused: /recipients/ }, 'a dishonest one is refused');
  t.match(said.get('raw JSON of more'), { refused: String });

  const path = '/api/v1/relayers/local-1/transactions?per_page=100';
  const end = Date.now() + 30_000;
  let all = (await service.request('GET', path)).body.data;
  const isOpen = ({ status }: { status: string }) => ['pending', 'sent', 'submitted'].includes(status);
  while (all.some(isOpen) && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    all = (await service.request('GET', path)).body.data;
  }
  t.ok(all.length > 0 && !all.some(isOpen), `${all.length} were sent`);
  for (const { to, value } of all) {
    t.equal(to, GRANTED);
    t.ok(BigInt(value) <= 5n, `${value} was sent`);
  }
  t.equal(await anvil.rpc('eth_getBalance', [OTHER, 'latest']), '0x0', 'nobody else was paid');
});

t.test('threat 34: no memory is shared with what a capability is given', async (t) => {
  // Threat: the guest changes an argument between check and use. Arguments cross as text, once.
  for (const shape of ['toJSON inside', 'Proxy']) await service.call('flips', { shape });
  const { body } = await service.request('GET', '/api/v1/relayers/local-1/transactions?per_page=100');
  t.ok(body.data.length > 1, `${body.data.length} were sent`);
  for (const { to } of body.data) t.equal(to, GRANTED);
  t.equal(await anvil.rpc('eth_getBalance', [OTHER, 'latest']), '0x0');
});

t.test(
  'threat 58: the children have no environment, no secret in their command line, and read nothing but their code',
  async (t) => {
    // Threat: a child inherits the server's environment, as processes do by default.
    await service.call('marked');
    const children = (await descendantsOf(service.pid)).filter(({ command }) => command.includes('isolayer-sandbox'));
    t.ok(children.length > 0);
    for (const { pid, command } of children) {
      // bwrap sets PWD.
      t.match(await readFile(`/proc/${pid}/environ`, 'utf8'), /^(PWD=\/\0)?$/, 'its environment is empty');
      for (const secret of [API_KEY, HOOK_KEY, STORAGE_KEY, UNUSED, workspace.privateKey]) t.notMatch(command, secret);
      t.notMatch(command, workspace.dir, 'neither its data nor the plugins are among what it may read');
    }
  },
);

t.test('threat 56: no secret lies in the memory of a child', { timeout: 60_000 }, async (t) => {
  // Threat: an attacker who can read a child's memory, through a bug in V8 or the processor, finds keys.
  await service.call('marked');
  const { privateKey } = workspace;
  const secrets = new Map<string, Buffer>([
    ...spellingsOf('API key', API_KEY),
    ...spellingsOf('webhook key', HOOK_KEY),
    ...spellingsOf('storage key', STORAGE_KEY),
    ['storage key, bytes', Buffer.from(STORAGE_KEY, 'base64')],
    ...spellingsOf('private key', privateKey.slice(2)),
    ['private key, bytes', Buffer.from(privateKey.slice(2), 'hex')],
    ...spellingsOf('keystore passphrase', workspace.env['KEYSTORE_PASSPHRASE'] ?? 'none'),
    ...spellingsOf('environment', UNUSED),
    ...spellingsOf('plugin', PLUGIN_TEXT),
  ]);
  const sought = new Map(spellingsOf('API key', API_KEY));
  t.ok((await foundInMemory(service.pid, sought)).size > 0, 'the search finds what is there');
  const children = (await descendantsOf(service.pid)).filter(({ command }) => command.includes('isolayer-sandbox'));
  const found = new Set<string>();
  for (const { pid } of children) for (const name of await foundInMemory(pid, secrets)) found.add(name);
  t.match([...found].join(', '), /plugin/, 'and in the children too');
  t.strictSame(
    [...found].filter((name) => !name.startsWith('plugin')),
    [],
  );
});

t.test('threat 60: no secret stands in what the server wrote', async (t) => {
  // Threat: secrets that no plugin may see are in a log that many can read.
  for (const secret of [API_KEY, HOOK_KEY, STORAGE_KEY, workspace.privateKey.slice(2)]) {
    t.notMatch(service.output(), secret);
  }
});
