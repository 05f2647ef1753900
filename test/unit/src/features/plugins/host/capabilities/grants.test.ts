import t from 'tap';
import { hostGrantsOf, readPluginGrants } from '../../../../../../../src/features/plugins/host/capabilities/grants.ts';
import { hostPermissionSchema } from '../../../../../../../src/features/plugins/records/host-permission.ts';
import { type PluginEntry, pluginEntrySchema } from '../../../../../../../src/features/plugins/records/plugin.ts';

const entry = (permissions?: object): PluginEntry =>
  pluginEntrySchema.parse({ id: 'payouts', path: 'payouts.ts', ...(permissions && { permissions }) });

t.test('without permissions every relayer and kv are granted, and no environment', async (t) => {
  const grants = readPluginGrants(entry());
  t.equal(grants.refusal({ relayer: 'any', right: 'send' }), undefined);
  t.equal(grants.refusal({ kv: true }), undefined);
  t.same(
    grants.env(() => 'value'),
    {},
  );
});

t.test('with permissions each absent key is denied, and the refusal names the line to add', async (t) => {
  const grants = readPluginGrants(entry({}));
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
  const grants = readPluginGrants(entry({ relayers: { main: ['read', 'rpc'] } }));
  t.equal(grants.refusal({ relayer: 'main', right: 'read' }), undefined);
  t.match(grants.refusal({ relayer: 'main', right: 'sign' }), 'add "main": ["read", "rpc", "sign"]');
  const acting = { relayer: 'main', right: 'rpc', also: ['send', 'sign'], acts: true } as const;
  t.match(grants.refusal(acting), /no grant to send through .* add "main": \["read", "rpc", "send", "sign"\]/);
  t.equal(readPluginGrants(entry({ relayers: { main: ['rpc', 'send', 'sign'] } })).refusal(acting), undefined);
});

t.test('names of object properties are no relayers', async (t) => {
  const grants = readPluginGrants(entry({ relayers: {} }));
  for (const relayer of ['constructor', '__proto__', 'toString']) {
    t.match(grants.refusal({ relayer, right: 'read' }), 'has no grant to read relayer');
  }
});

t.test('the environment holds the granted entries that exist', async (t) => {
  const grants = readPluginGrants(entry({ env: ['NETWORK', 'MISSING'] }));
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
  const grants = readPluginGrants(entry({ relayers }));
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
  t.equal(readPluginGrants(entry()).spender('main'), undefined);
});

t.test('beside caveats nothing is signed that leaves, and no node is asked to act', async (t) => {
  const grants = readPluginGrants(
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

t.test('host grants', async (t) => {
  const grants = (...hosts: unknown[]) =>
    hostGrantsOf(
      'p',
      hosts.map((host) => hostPermissionSchema.parse(host)),
    );
  const allows = (hosts: unknown[], url: string, method = 'GET') =>
    typeof grants(...hosts).rule(new URL(url), method) !== 'string';

  t.test('a host is granted on the ports of its schemes, or on the one that is named', (t) => {
    t.ok(allows(['a.test'], 'https://a.test/x'));
    t.ok(allows(['a.test'], 'http://A.TEST./x'));
    t.notOk(allows(['a.test'], 'https://a.test:8443/'));
    t.notOk(allows(['a.test'], 'https://b.a.test/'));
    t.notOk(allows(['a.test'], 'https://a.test.evil.test/'));
    t.notOk(allows(['a.test'], 'https://evil-a.test/'));
    t.ok(allows(['a.test:8443'], 'http://a.test:8443/'));
    t.ok(allows(['a.test:443'], 'https://a.test/'));
    t.notOk(allows(['a.test:443'], 'http://a.test/'));
    t.end();
  });

  t.test('a wildcard covers what is below the name', (t) => {
    t.ok(allows(['*.a.test'], 'https://b.a.test/'));
    t.ok(allows(['*.a.test'], 'https://c.b.a.test/'));
    t.notOk(allows(['*.a.test'], 'https://a.test/'));
    t.notOk(allows(['*.a.test'], 'https://ba.test/'));
    t.end();
  });

  t.test('the first entry that permits the method gives its limits', (t) => {
    const rule = grants(
      { host: 'a.test', methods: ['GET'], max_bytes: 7 },
      { host: '*.test', timeout_ms: 9, max_bytes: 8 },
    );
    t.strictSame(rule.rule(new URL('http://a.test/'), 'GET'), { maxBytes: 7, timeoutMs: 10_000, isPrivate: false });
    t.match(rule.rule(new URL('http://a.test/'), 'POST'), { maxBytes: 8, timeoutMs: 9 });
    t.end();
  });

  t.test('a refusal names the line to add', (t) => {
    const ask = (hosts: unknown[] | undefined, url: string, method = 'GET') =>
      (hosts === undefined ? hostGrantsOf('p', undefined) : grants(...hosts)).rule(new URL(url), method);
    t.equal(
      ask([], 'https://a.test:8443/x'),
      'Plugin p has no grant for requests to a.test:8443: add "a.test:8443" to permissions.hosts of its entry in config.json',
    );
    t.equal(
      ask(undefined, 'https://a.test/'),
      'Plugin p has no grant for requests to a.test: add "permissions": {"hosts": ["a.test"]} to its entry in config.json, ' +
        'and beside "hosts" the "relayers" and "kv" that it uses',
    );
    t.equal(
      ask([{ host: 'a.test', methods: ['GET'] }], 'https://a.test/', 'POST'),
      'Plugin p has no grant for requests to a.test with POST: ' +
        'set "methods": ["GET", "POST"] for it in permissions.hosts of its entry in config.json',
    );
    t.equal(
      grants().privateRefusal(new URL('http://localhost:3000/')),
      'name it as {"host":"localhost:3000","private":true} in permissions.hosts of plugin p in config.json to allow it',
    );
    t.end();
  });
});
