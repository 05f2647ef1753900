import t from 'tap';
import { httpUrlSchema, rpcUrlsSchema } from '../../../../../src/config/networks/rpc-urls.ts';

t.test('a list may mix both forms', (t) => {
  t.strictSame(
    rpcUrlsSchema.parse(['https://a.test/key', { url: 'http://127.0.0.1:8545', weight: 0 }, { url: 'https://b.test' }]),
    [
      { url: 'https://a.test/key', weight: 100 },
      { url: 'http://127.0.0.1:8545', weight: 0 },
      { url: 'https://b.test', weight: 100 },
    ],
  );
  t.end();
});

t.test('what cannot be an endpoint is refused, without repeating it', (t) => {
  const refused = [
    [],
    'https://a.test',
    [7],
    ['ws://a.test'],
    ['a.test'],
    [''],
    ['https://'],
    [{ url: 'https://a.test', weight: 101 }],
    [{ url: 'https://a.test', weight: -1 }],
    [{ url: 'https://a.test', weight: 1.5 }],
    [{ url: 'https://a.test', wieght: 1 }],
    [{ url: 'https://a.test', weight: 0 }],
    [{ weight: 1 }],
  ];
  for (const urls of refused) t.notOk(rpcUrlsSchema.safeParse(urls).success, JSON.stringify(urls));
  t.notMatch(JSON.stringify(httpUrlSchema.safeParse('ftp://x/secret-key').error?.issues), /secret-key/);
  t.end();
});
