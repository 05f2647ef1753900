import t from 'tap';
import { type PluginEntry, pluginEntrySchema } from '../../../../../src/domain/plugin.ts';
import { grantsOf } from '../../../../../src/plugin-host/capabilities/grants.ts';

const entry = (permissions?: object): PluginEntry =>
  pluginEntrySchema.parse({ id: 'payouts', path: 'payouts.ts', ...(permissions && { permissions }) });

t.test('without permissions every relayer and kv are granted, and no environment', async (t) => {
  const grants = grantsOf(entry());
  t.equal(grants.refusal({ relayer: 'any', right: 'send' }), undefined);
  t.equal(grants.refusal({ kv: true }), undefined);
  t.same(
    grants.env(() => 'value'),
    {},
  );
});

t.test('with permissions each absent key is denied, and the refusal names the line to add', async (t) => {
  const grants = grantsOf(entry({}));
  t.equal(
    grants.refusal({ relayer: 'sepolia-1', right: 'send' }),
    'Plugin payouts has no grant to send through relayer sepolia-1: ' +
      'add "sepolia-1": ["send"] to permissions.relayers of its entry in config.json',
  );
  t.equal(
    grants.refusal({ kv: true }),
    'Plugin payouts has no grant to use the key-value store: add "kv": true to permissions of its entry in config.json',
  );
});

t.test('a relayer with other rights keeps them in the line to add', async (t) => {
  const grants = grantsOf(entry({ relayers: { main: ['read', 'rpc'] } }));
  t.equal(grants.refusal({ relayer: 'main', right: 'read' }), undefined);
  t.match(grants.refusal({ relayer: 'main', right: 'sign' }), 'add "main": ["read", "rpc", "sign"]');
  const acting = { relayer: 'main', right: 'rpc', also: ['send', 'sign'], acts: true } as const;
  t.match(grants.refusal(acting), /no grant to send through .* add "main": \["read", "rpc", "send", "sign"\]/);
  t.equal(grantsOf(entry({ relayers: { main: ['rpc', 'send', 'sign'] } })).refusal(acting), undefined);
});

t.test('names of object properties are no relayers', async (t) => {
  const grants = grantsOf(entry({ relayers: {} }));
  for (const relayer of ['constructor', '__proto__', 'toString']) {
    t.match(grants.refusal({ relayer, right: 'read' }), 'has no grant to read relayer');
  }
});

t.test('the environment holds the granted entries that exist', async (t) => {
  const grants = grantsOf(entry({ env: ['NETWORK', 'MISSING'] }));
  const environment = (name: string) => ({ NETWORK: 'testnet', API_KEY: 'secret' })[name];
  t.same(grants.env(environment), { NETWORK: 'testnet' });
});

t.test('a permission with caveats grants its methods, and says under which limits it sends', async (t) => {
  const relayers = {
    main: {
      methods: ['send', 'rpc'],
      recipients: ['0xabc'],
      value_per_hour: '10000000000000000000000',
      fee_per_hour: 5,
    },
    plain: { methods: ['send', 'sign'] },
    list: ['send'],
  };
  const grants = grantsOf(entry({ relayers }));
  t.equal(grants.refusal({ relayer: 'main', right: 'send' }), undefined);
  t.match(
    grants.refusal({ relayer: 'main', right: 'read' }),
    'add "methods": ["send", "rpc", "read"] to "main" in permissions.relayers of its entry',
  );
  t.strictSame(grants.spender('main'), {
    pluginId: 'payouts',
    caveats: {
      recipients: ['0xabc'],
      selectors: undefined,
      valuePerCall: undefined,
      valuePerHour: 10n ** 22n,
      feePerHour: 5n,
    },
  });
  for (const relayer of ['plain', 'list', 'other', 'constructor']) t.equal(grants.spender(relayer), undefined, relayer);
  t.equal(grantsOf(entry()).spender('main'), undefined);
});

t.test('beside caveats nothing is signed that leaves, and no node is asked to act', async (t) => {
  const grants = grantsOf(
    entry({ relayers: { main: { methods: ['send', 'rpc'], value_per_call: 1 }, free: ['rpc', 'sign'] } }),
  );
  t.equal(
    grants.refusal({ relayer: 'main', right: 'sign' }),
    'Plugin payouts may not sign with relayer main: its grant has value_per_call, which only what it sends with ' +
      'sendTransaction can be held to',
  );
  t.match(
    grants.refusal({ relayer: 'main', right: 'rpc', acts: true }),
    'may not ask a node to act through relayer main',
  );
  t.equal(grants.refusal({ relayer: 'main', right: 'rpc', acts: false }), undefined);
  t.equal(grants.refusal({ relayer: 'free', right: 'rpc', acts: true }), undefined);
  t.equal(grants.refusal({ relayer: 'free', right: 'sign' }), undefined);
});
