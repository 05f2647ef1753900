/**
 * Notifications and relayer updates on a running server: the rows of the interface's tables, and any values that a
 * client may send. The answer is always the envelope, never a 500 and never a stack trace.
 */
import t, { type Test } from 'tap';
import { composeService } from '../support/composed-service.ts';
import type { StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const NOTIFICATIONS = '/api/v1/notifications';
const RELAYER = '/api/v1/relayers/local-1';
const URL_ONE = 'https://hooks.example/one';

/** Values that no field of either resource accepts. */
const NONSENSE: [string, unknown][] = [
  ['a number', 7],
  ['a fraction', 1.5],
  ['an array', []],
  ['an array of arrays', [[[]]]],
  ['an object', { a: { b: 1 } }],
  ['a giant text', 'x'.repeat(500_000)],
];

/** Large numbers are read as text, so text fields accept this one. */
const BEYOND: [string, unknown] = ['a number beyond 2^53', 2 ** 60];

async function serviceFor(t: Test): Promise<StartedService> {
  // Nothing listens there. So the relayer is disabled, but it can still be changed.
  const workspace = await createWorkspace({ rpcUrl: 'http://127.0.0.1:1/', env: { RATE_LIMIT_BURST_SIZE: '100000' } });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  return service;
}

function isRefusal(
  t: Test,
  answer: { status: number; body: { error: string } },
  status: number,
  message: string,
  what: string,
): void {
  t.equal(answer.status, status, what);
  t.match(answer.body, { success: false, data: null, error: String, message }, what);
  t.notMatch(answer.body.error, /\n {4}at |node:|\.ts:/, `${what}: no stack`);
  t.ok(answer.body.error.length < 2_000, `${what}: a short reason`);
}

async function sendRaw(service: StartedService, method: string, path: string, body: string, type = 'application/json') {
  const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': type };
  const response = await fetch(`${service.url}${path}`, { method, headers, body });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

t.test('notifications', async (t) => {
  const service = await serviceFor(t);

  t.test('the life of one', async (t) => {
    const created = await service.request('POST', NOTIFICATIONS, {
      id: 'n1',
      url: URL_ONE,
      type: 'webhook',
      signing_key: 'a key of thirty-two bytes or more',
    });
    t.equal(created.status, 201);
    t.strictSame(created.body, {
      success: true,
      data: { id: 'n1', type: 'webhook', url: URL_ONE, has_signing_key: true },
      error: null,
    });
    const inside = await service.request('POST', NOTIFICATIONS, { url: 'http://10.0.0.1:1/inside' });
    isRefusal(t, inside, 400, 'Bad Request', 'an address that policy never calls');
    t.match(inside.body.error, /^url: 10\.0\.0\.1 is refused: a private address; .* WEBHOOK_BLOCK_PRIVATE_IPS=false$/);
    const unsigned = await service.request('POST', NOTIFICATIONS, { url: 'https://later.invalid/a-secret-path' });
    t.match(
      unsigned,
      { status: 201, body: { data: { url: 'https://later.invalid/***' } } },
      'a name may resolve later',
    );
    const list = await service.request('GET', `${NOTIFICATIONS}?page=1&per_page=1`);
    t.strictSame(list.body.pagination, { current_page: 1, per_page: 1, total_items: 2 });
    for (const [body, has] of [
      [{}, true],
      [{ signing_key: null }, true],
      [{ signing_key: '' }, false],
      [{ signing_key: 'short' }, true],
    ] as const) {
      const changed = await service.request('PATCH', `${NOTIFICATIONS}/n1`, body);
      t.equal(changed.status, 200);
      t.equal(changed.body.data.has_signing_key, has, JSON.stringify(body));
    }
    t.notMatch(service.output(), /thirty-two bytes or more/);
    t.equal((await service.request('DELETE', `${NOTIFICATIONS}/${unsigned.body.data.id}`)).status, 200);
  });

  t.test('the rows of the error table', async (t) => {
    const taken = await service.request('POST', NOTIFICATIONS, { id: 'n1', url: URL_ONE });
    isRefusal(t, taken, 409, 'Notification with this ID already exists', 'an id that is used');
    const unknown = await service.request('PATCH', `${NOTIFICATIONS}/nobody`, {});
    isRefusal(t, unknown, 404, 'Notification not found', 'an unknown id');
    for (const [method, path] of [
      ['GET', NOTIFICATIONS],
      ['POST', NOTIFICATIONS],
      ['PATCH', `${NOTIFICATIONS}/n1`],
      ['PATCH', RELAYER],
    ] as const) {
      const answer = await fetch(`${service.url}${path}`, { method, headers: { authorization: 'Bearer wrong' } });
      isRefusal(
        t,
        { status: answer.status, body: (await answer.json()) as { error: string } },
        401,
        'Unauthorized',
        `${method} ${path}`,
      );
    }
    for (const query of ['page=-1', 'page=a', 'per_page=-1', 'per_page=1.5', 'page=1&page=2', 'page=4294967296']) {
      isRefusal(t, await service.request('GET', `${NOTIFICATIONS}?${query}`), 400, 'Bad Request', query);
    }
    const past = await service.request('GET', `${NOTIFICATIONS}?page=99&per_page=600`);
    t.strictSame([past.status, past.body.data, past.body.pagination.per_page], [200, [], 500]);
  });

  t.test('every field of every body', async (t) => {
    const wrong: Record<string, [string, unknown][]> = {
      url: [
        ...NONSENSE,
        BEYOND,
        ['null', null],
        ['true', true],
        ['an empty text', ''],
        ['a word', 'hook'],
        ['mail', 'mailto:a@b.c'],
      ],
      type: [...NONSENSE, BEYOND, ['true', true], ['an empty text', ''], ['another type', 'email']],
      signing_key: [...NONSENSE.filter(([, value]) => typeof value !== 'string'), ['true', true]],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const [what, value] of values) {
        const created = await service.request('POST', NOTIFICATIONS, { url: URL_ONE, [field]: value });
        isRefusal(t, created, 400, 'Bad Request', `POST ${field}: ${what}`);
        t.match(created.body.error, new RegExp(`^${field}`), 'the field is named');
        const changed = await service.request('PATCH', `${NOTIFICATIONS}/n1`, { [field]: value });
        isRefusal(t, changed, 400, 'Bad Request', `PATCH ${field}: ${what}`);
      }
    }
    for (const [what, id] of [
      ...NONSENSE,
      ['an empty text', ''],
      ['a space', 'a b'],
      ['37 characters', 'x'.repeat(37)],
    ] as const) {
      isRefusal(
        t,
        await service.request('POST', NOTIFICATIONS, { url: URL_ONE, id }),
        400,
        'Bad Request',
        `id: ${what}`,
      );
    }
    for (const [method, path] of [
      ['POST', NOTIFICATIONS],
      ['PATCH', `${NOTIFICATIONS}/n1`],
    ] as const) {
      const extra = await service.request(method, path, { url: URL_ONE, hasSigningKey: true });
      isRefusal(t, extra, 400, 'Bad Request', 'an unknown key');
      t.equal(extra.body.error, 'unknown field `hasSigningKey`, did you mean `signing_key`?');
      for (const body of ['', '{', 'null', '[]', '"x"', '7', '{"url":"x","__proto__":{}}', '[['.repeat(500)]) {
        isRefusal(t, await sendRaw(service, method, path, body), 400, 'Bad Request', `${method} ${body.slice(0, 20)}`);
      }
      const huge = await sendRaw(service, method, path, JSON.stringify({ url: 'x'.repeat(3_000_000) }));
      t.equal(huge.status, 413);
      t.equal((await sendRaw(service, method, path, '{}', 'text/plain')).status, 415);
    }
    isRefusal(t, await service.request('POST', NOTIFICATIONS, { id: 'n9' }), 400, 'Bad Request', 'no url');
    const { body } = await service.request('GET', `${NOTIFICATIONS}/n1`);
    t.strictSame(body.data, { id: 'n1', type: 'webhook', url: URL_ONE, has_signing_key: true }, 'nothing was changed');
  });

  t.test('a relayer that refers to one keeps it', async (t) => {
    t.equal((await service.request('PATCH', RELAYER, { notification_id: 'n1' })).body.data.notification_id, 'n1');
    const refused = await service.request('DELETE', `${NOTIFICATIONS}/n1`);
    isRefusal(t, refused, 409, 'Notification is in use', 'in use');
    t.match(refused.body.error, /it is being used by 1 relayer\(s\): local-1/);
    t.equal((await service.request('PATCH', RELAYER, { notification_id: null })).body.data.notification_id, undefined);
    t.equal((await service.request('DELETE', `${NOTIFICATIONS}/n1`)).status, 200);
    isRefusal(t, await service.request('GET', `${NOTIFICATIONS}/n1`), 404, 'Notification not found', 'gone');
  });
});

t.test('the update of a relayer', async (t) => {
  const service = await serviceFor(t);
  const before = (await service.request('GET', RELAYER)).body.data;
  t.equal(before.system_disabled, true);

  t.test('every field of the body', async (t) => {
    const wrong: Record<string, [string, unknown][]> = {
      name: [...NONSENSE, ['an empty text', ''], ['true', true]],
      paused: [...NONSENSE, BEYOND, ['null', null], ['a text', 'true']],
      notification_id: [...NONSENSE, ['an empty text', ''], ['true', true]],
      custom_rpc_urls: [
        ...NONSENSE.filter(([, value]) => !Array.isArray(value) || value.length > 0),
        ['a text', 'https://rpc.example'],
        ['texts', ['https://rpc.example']],
        ['no url', [{ weight: 1 }]],
        ['a weight of 101', [{ url: 'https://rpc.example', weight: 101 }]],
        ['a weight of -1', [{ url: 'https://rpc.example', weight: -1 }]],
        ['a key too many', [{ url: 'https://rpc.example', wait: 1 }]],
        ['metadata', [{ url: 'http://169.254.169.254/' }]],
        ['an address inside', [{ url: 'http://10.0.0.1:8545/' }]],
      ],
      policies: [
        ...NONSENSE,
        BEYOND,
        ['a foreign policy', { max_fee: 1 }],
        ['a negative cap', { gas_price_cap: -1 }],
        ['a cap of 2^128', { gas_price_cap: (2n ** 128n).toString() }],
        ['a cap beyond 2^256', { gas_price_cap: (2n ** 300n).toString() }],
        ['no address', { whitelist_receivers: ['me'] }],
        ['a nested giant', { whitelist_receivers: Array(10_000).fill('0x') }],
      ],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const [what, value] of values) {
        const answer = await service.request('PATCH', RELAYER, { [field]: value });
        isRefusal(t, answer, 400, 'Bad Request', `${field}: ${what}`);
        t.match(answer.body.error, new RegExp(`^${field}`), `${field}: ${what}: the field is named`);
      }
    }
    for (const field of [
      'id',
      'network',
      'network_type',
      'signer_id',
      'address',
      'system_disabled',
      'disabled_reason',
    ]) {
      const answer = await service.request('PATCH', RELAYER, { [field]: before[field] });
      isRefusal(t, answer, 400, 'Bad Request', field);
      t.match(answer.body.error, `unknown field \`${field}\`, expected one of \`name\`, \`paused\`, `);
    }
    for (const body of ['', '{', 'null', '[]', '"x"', '7', '{"paused":true,"__proto__":{}}']) {
      isRefusal(t, await sendRaw(service, 'PATCH', RELAYER, body), 400, 'Bad Request', body);
    }
    t.same((await service.request('GET', RELAYER)).body.data, before, 'nothing was changed');
  });

  t.test('what is unknown is 404', async (t) => {
    const relayer = await service.request('PATCH', '/api/v1/relayers/nobody', { bad: 1 });
    isRefusal(t, relayer, 404, 'Relayer with ID nobody not found', 'an unknown relayer');
    const notification = await service.request('PATCH', RELAYER, { notification_id: 'nobody' });
    isRefusal(t, notification, 404, 'Notification not found', 'an unknown notification');
  });

  t.test('a disabled one is changed, and integers stay exact', async (t) => {
    const big = '340282366920938463463374607431768211455';
    const changed = await sendRaw(
      service,
      'PATCH',
      RELAYER,
      `{"name":"New","paused":true,"policies":{"min_balance":${big}}}`,
    );
    t.equal(changed.status, 200);
    t.match(changed.body.data, { name: 'New', paused: true, system_disabled: true });
    const response = await fetch(`${service.url}${RELAYER}`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    t.match(await response.text(), `"min_balance":${big}`);
    const endpoints = await service.request('PATCH', RELAYER, {
      name: null,
      custom_rpc_urls: [{ url: 'http://127.0.0.1:1/a-secret-key', weight: 5 }],
    });
    t.match(endpoints.body.data, { name: 'New', custom_rpc_urls: [{ url: 'http://127.0.0.1:1/***', weight: 5 }] });
    const cleared = await service.request('PATCH', RELAYER, { custom_rpc_urls: null, policies: null });
    t.equal(cleared.body.data.custom_rpc_urls, undefined);
    t.equal(cleared.body.data.policies, undefined);
    t.notMatch(service.output(), /a-secret-key/);
  });
});
