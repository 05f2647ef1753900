import t from 'tap';
import { maskUrl } from '../../../../src/domain/mask-url.ts';

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
