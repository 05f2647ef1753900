import t from 'tap';
import { isMasked, maskKeys, maskUrl } from '../../../../src/domain/mask-url.ts';

t.test('what may be a key is hidden, the host is shown', async (t) => {
  const masked: Record<string, string> = {
    'https://rpc.example': 'https://rpc.example',
    'https://rpc.example/': 'https://rpc.example/',
    'http://127.0.0.1:8545': 'http://127.0.0.1:8545',
    'https://rpc.example:8545/v3/secret': 'https://rpc.example:8545/***',
    'https://rpc.example/?key=secret': 'https://rpc.example/***',
    'https://rpc.example?key=secret': 'https://rpc.example?***',
    'https://rpc.example#secret': 'https://rpc.example#***',
    'https://user:secret@rpc.example/v3': 'https://rpc.example/***',
    'https://user:sec@ret@rpc.example': 'https://rpc.example',
    'secret without a scheme': '***',
    '': '***',
  };
  for (const [url, shown] of Object.entries(masked)) t.equal(maskUrl(url), shown, url);
});

t.test('of a webhook the words are shown, and whatever was hidden can be told', async (t) => {
  const masked: Record<string, string> = {
    'https://hooks.example': 'https://hooks.example',
    'https://hooks.example/': 'https://hooks.example/',
    'https://hooks.example:8443/api/webhook': 'https://hooks.example:8443/api/webhook',
    'https://hooks.slack.com/services/T0AB/B01234567/abcdefgh': 'https://hooks.slack.com/***/T0AB/***/***',
    'https://hooks.example/hook?key=1': 'https://hooks.example/hook?***',
    'https://hooks.example?key=1': 'https://hooks.example?***',
    'https://hooks.example/hook#part': 'https://hooks.example/hook#***',
    'https://user@hooks.example': 'https://***@hooks.example',
    'https://user:sec@ret@hooks.example/a': 'https://***@hooks.example/a',
    'secret without a scheme': '***',
  };
  for (const [url, shown] of Object.entries(masked)) {
    t.equal(maskKeys(url), shown, url);
    t.equal(isMasked(shown), shown !== url);
  }
});
