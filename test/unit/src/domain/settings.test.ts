import t from 'tap';
import {
  Access,
  FULL_ACCESS,
  isPermission,
  permissionForms,
} from '../../../../src/features/api-keys/records/access.ts';
import { allowsOrigin, apiKeyCreateSchema } from '../../../../src/features/api-keys/records/api-key.ts';
import { undeclaredPluginEntry } from '../../../../src/features/plugins/records/plugin.ts';
import {
  PLUGIN_SETTINGS,
  pluginSettingsSchema,
  pluginUpdateSchema,
  settingsView,
  withSettings,
} from '../../../../src/features/plugins/records/plugin-settings.ts';
import { visibleRelayerUsers } from '../../../../src/features/relayers/records/relayer-users.ts';
import {
  hasDeclaredAddress,
  notificationCreateSchema,
  notificationUpdateSchema,
} from '../../../../src/features/webhooks/records/notification.ts';
import { OPERATOR } from '../../../support/caller.ts';

t.test('api key', async (t) => {
  const BODY = { name: 'Payments', permissions: ['relayers:a:send'] };

  t.test('a name and permissions are enough', (t) => {
    t.ok(apiKeyCreateSchema.safeParse(BODY).success);
    const whole = {
      ...BODY,
      allowed_origins: ['*', 'https://app.example', 'http://localhost:3000'],
      expires_at: '2030-01-01T00:00:00+02:00',
      rate_limit: { requests_per_second: 5, burst: 10 },
    };
    t.ok(apiKeyCreateSchema.safeParse(whole).success);
    t.ok(apiKeyCreateSchema.safeParse({ ...BODY, allowed_origins: null, expires_at: null, rate_limit: null }).success);
    t.end();
  });

  t.test('what is wrong is refused', (t) => {
    for (const change of [
      { name: '' },
      { permissions: [] },
      { permissions: ['cats:read'] },
      { permissions: [`relayers:${'x'.repeat(200)}:read`] },
      { permissions: Array(201).fill('*') },
      { allowed_origins: [] },
      { allowed_origins: ['https://app.example/path'] },
      { allowed_origins: ['app.example'] },
      { expires_at: 'tomorrow' },
      { expires_at: 5 },
      { rate_limit: { requests_per_second: 0, burst: 1 } },
      { rate_limit: { requests_per_second: 1 } },
      { key: 'mine' },
    ]) {
      t.notOk(apiKeyCreateSchema.safeParse({ ...BODY, ...change }).success, JSON.stringify(change).slice(0, 80));
    }
    t.end();
  });

  t.test('an origin is let in by its name, or where any is', (t) => {
    t.ok(allowsOrigin(['https://a.example'], 'https://a.example'));
    t.ok(allowsOrigin(['*'], 'https://a.example'));
    t.notOk(allowsOrigin(['https://a.example'], 'https://a.example:444'));
    t.notOk(allowsOrigin(['https://a.example'], '*'));
    t.end();
  });
});

t.test('in use', async (t) => {
  const users = [{ id: 'one' }, { id: 'two' }, { id: 'three' }];

  t.test('who sees all is told all names', async (t) => {
    t.strictSame(visibleRelayerUsers(users, OPERATOR), { count: '3', relayers: 'one, two, three' });
  });

  t.test('a key is told of no relayer that does not exist for it', async (t) => {
    const access = new Access(['relayers:two:read']);
    t.strictSame(visibleRelayerUsers(users, { ...OPERATOR, access }), {
      count: '3',
      relayers: 'two, 2 that this key does not see',
    });
  });
});

t.test('notification', async (t) => {
  const URLS_REFUSED = [
    '',
    'hooks.example',
    '/hook',
    'ftp://hooks.example/',
    'ws://hooks.example/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http:hooks.example',
    'http://',
    'https://hooks.example/a b',
    ' https://hooks.example/',
    'https://hooks.example/\n',
    'https://hooks.example/\0',
    'https://hooks.example/\ud800',
    'http://[::1',
    'http://256.256.256.256/',
    `https://hooks.example/${'x'.repeat(2_048)}`,
  ];

  t.test('an address is absolute, http or https, and is stored as it is called', (t) => {
    for (const url of URLS_REFUSED)
      t.notOk(notificationCreateSchema.safeParse({ url }).success, JSON.stringify(url.slice(0, 40)));
    for (const url of [
      'http://127.0.0.1:1/',
      'HTTPS://user:pass@hooks.example/a?b=c#d',
      'https://hööks.example/ünïcode',
    ]) {
      t.equal(notificationCreateSchema.parse({ url }).url, url);
      t.equal(notificationUpdateSchema.parse({ url }).url, url);
    }
    t.end();
  });

  t.test('every field of either body that is wrong is refused', (t) => {
    const url = 'https://hooks.example/';
    for (const wrong of [null, 7, true, [], {}, 'mail']) {
      t.notOk(notificationUpdateSchema.safeParse({ type: wrong }).success, `type ${JSON.stringify(wrong)}`);
      t.notOk(notificationUpdateSchema.safeParse({ url: wrong }).success, `url ${JSON.stringify(wrong)}`);
      if (wrong !== null) t.notOk(notificationCreateSchema.safeParse({ url, type: wrong }).success);
    }
    for (const key of [7, true, [], {}]) {
      t.notOk(notificationCreateSchema.safeParse({ url, signing_key: key }).success);
      t.notOk(notificationUpdateSchema.safeParse({ signing_key: key }).success);
    }
    for (const id of ['', 'a b', 'ü', 'x'.repeat(37), 7, {}]) {
      t.notOk(notificationCreateSchema.safeParse({ url, id }).success, `id ${JSON.stringify(id)}`);
    }
    t.notOk(notificationCreateSchema.safeParse({ url, signing_key: '' }).success, 'a new one has no key to remove');
    t.notOk(notificationCreateSchema.safeParse({ url, extra: 1 }).success);
    t.notOk(notificationUpdateSchema.safeParse({ id: 'other' }).success, 'an id is not changed');
    t.ok(notificationUpdateSchema.safeParse({ signing_key: '' }).success);
    t.ok(notificationUpdateSchema.safeParse({ signing_key: null }).success);
    t.ok(notificationUpdateSchema.safeParse({}).success);
    t.end();
  });

  t.test('an address is the operator’s own only as long as it is the one of the file', (t) => {
    const base = { id: 'n', type: 'webhook', url: 'http://10.0.0.1/' } as const;
    t.equal(hasDeclaredAddress({ ...base, declaration: { url: 'http://10.0.0.1/' } }), true);
    t.equal(hasDeclaredAddress({ ...base, declaration: { url: 'http://10.0.0.2/' } }), false);
    t.equal(hasDeclaredAddress({ ...base, declaration: null }), false);
    t.end();
  });
});

t.test('plugin settings', async (t) => {
  const ENTRY = { ...undeclaredPluginEntry('p', 'p.ts'), config: { token: 'secret' } };

  t.test('an entry takes what clients made of it, and keeps the rest', (t) => {
    t.strictSame(withSettings(ENTRY, {}), ENTRY);
    t.strictSame(withSettings(ENTRY, { timeout: 5, emit_logs: true }), { ...ENTRY, timeout: 5, emit_logs: true });
    t.strictSame(withSettings(ENTRY, { config: { other: 1 } }).config, { other: 1 });
    t.notOk('config' in withSettings(ENTRY, { config: null }), 'none');
    t.end();
  });

  t.test('of a configuration only the keys are shown', (t) => {
    t.strictSame(settingsView(ENTRY), {
      timeout: 300,
      emit_logs: false,
      emit_traces: false,
      emit_usage: false,
      raw_response: false,
      allow_get_invocation: false,
      forward_logs: false,
      config: { token: '[hidden]' },
    });
    t.equal(settingsView(undeclaredPluginEntry('p', 'p.ts'))['config'], null);
    t.strictSame(Object.keys(settingsView(ENTRY)), PLUGIN_SETTINGS);
    t.end();
  });

  t.test('a body may change these fields only, and a timeout is whole seconds from 1', (t) => {
    t.ok(pluginUpdateSchema.safeParse({}).success);
    t.ok(pluginUpdateSchema.safeParse(Object.fromEntries(PLUGIN_SETTINGS.map((name) => [name, null]))).success);
    for (const body of [
      { timeout: 0 },
      { timeout: 1.5 },
      { timeout: 86_401 },
      { timeout: '5' },
      { timeout: { secs: 5 } },
    ]) {
      t.notOk(pluginUpdateSchema.safeParse(body).success, JSON.stringify(body));
    }
    for (const body of [{ config: [] }, { config: 'x' }, { limits: {} }, { permissions: {} }, { emit_logs: 1 }]) {
      t.notOk(pluginUpdateSchema.safeParse(body).success, JSON.stringify(body));
    }
    t.notOk(pluginSettingsSchema.safeParse({ timeout: null }).success, 'what is stored is set');
    t.ok(pluginSettingsSchema.safeParse({ config: null }).success);
    t.end();
  });
});

t.test('a permission is a kind and a action, with an id between them where there may be one', (t) => {
  for (const good of [
    '*',
    'relayers:*:*',
    'relayers:send',
    'relayers:a-1:read',
    'plugins:p@1:call',
    'api-keys:write',
  ]) {
    t.ok(isPermission(good), good);
  }
  for (const bad of [
    ...['', ':', 'relayers', 'relayers:', 'relayers::send', 'relayers:a:fly', 'relayers:a:send:x', 'cats:read'],
    ...['signers:k1:read', 'audit:write', 'constructor:read', '__proto__:read', 'Relayers:read', ' *', '*:*'],
  ]) {
    t.notOk(isPermission(bad), bad);
  }
  t.match(permissionForms(), /^\*, relayers:<id>:read\|send\|sign\|rpc\|write, /);
  t.end();
});

t.test('each action is let in on its own, and lets its key read what it is done to', (t) => {
  const access = new Access(['relayers:a:send', 'plugins:*:call', 'signers:write', 'nonsense']);
  const may = (resource: Parameters<Access['sees']>[0], action: string, id?: string) =>
    access.may({ resource, action }, id);
  t.ok(may('relayers', 'send', 'a'));
  t.ok(may('relayers', 'read', 'a'));
  t.notOk(may('relayers', 'sign', 'a'));
  t.notOk(may('relayers', 'send', 'b'));
  t.notOk(may('relayers', 'send'), 'those that are yet to be are not among them');
  t.ok(may('plugins', 'call', 'any'));
  t.ok(may('signers', 'read'));
  t.notOk(may('audit', 'read'));
  t.ok(access.sees('relayers', 'a'));
  t.ok(access.sees('relayers'));
  t.notOk(access.sees('relayers', 'b'));
  t.notOk(access.sees('networks'));
  t.strictSame(access.idsOf('relayers'), ['a']);
  t.equal(access.idsOf('plugins'), undefined);
  t.strictSame(access.idsOf('metrics'), []);
  t.end();
});

t.test('full access is all of it', (t) => {
  t.ok(FULL_ACCESS.may({ resource: 'api-keys', action: 'write' }));
  t.ok(FULL_ACCESS.may({ resource: 'relayers', action: 'sign' }, 'any'));
  t.equal(FULL_ACCESS.idsOf('relayers'), undefined);
  t.equal(FULL_ACCESS.lacks(['*', 'relayers:*:*']), undefined);
  t.end();
});

t.test('nobody grants what they do not have', (t) => {
  const access = new Access(['relayers:a:*', 'plugins:call', 'api-keys:write', 'metrics:read']);
  t.equal(access.lacks(['relayers:a:send', 'relayers:a:*', 'plugins:p:call', 'plugins:read', 'metrics:*']), undefined);
  for (const beyond of ['*', 'relayers:*:read', 'relayers:b:read', 'plugins:p:write', 'plugins:*', 'audit:read', 'x']) {
    t.equal(access.lacks(['relayers:a:send', beyond]), beyond);
  }
  t.equal(new Access(['*']).lacks(['*', 'x']), undefined, 'who may do everything lacks nothing, whatever it is');
  t.end();
});
