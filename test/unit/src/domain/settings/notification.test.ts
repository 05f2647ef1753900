import t from 'tap';
import {
  hasDeclaredAddress,
  notificationCreateSchema,
  notificationUpdateSchema,
} from '../../../../../src/domain/settings/notification.ts';

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
