import t from 'tap';
import { createEndpoint } from '../../../../../src/egress/rpc/endpoint.ts';

t.test('an endpoint is named by scheme, host and port only', async (t) => {
  const endpoint = createEndpoint({
    url: 'https://user:pass@rpc.example.com:8443/v3/0123456789abcdef?key=k',
    weight: 7,
  });
  t.match(endpoint, { name: 'https://rpc.example.com:8443', weight: 7 });
});

t.test('a foreign text loses whatever it repeats of path, query and credentials', async (t) => {
  const url = 'https://operator:s3%20cret@rpc.example.com/v3/0123456789abcdef?token=qwertyuiop&n=1';
  const { scrub } = createEndpoint({ url, weight: 100 });
  const secrets = ['0123456789abcdef', 'qwertyuiop', 's3%20cret', 's3 cret', 'operator'];
  const said = scrub(`key 0123456789abcdef of operator:s3 cret (s3%20cret) at ${url} is over its limit`);
  for (const secret of secrets) t.notOk(said.includes(secret), secret);
  t.match(said, /^key \*\*\* of .* is over its limit$/);
  const header = Buffer.from('operator:s3 cret').toString('base64');
  t.equal(scrub(`refused: Basic ${header}`), 'refused: Basic ***');
  t.equal(scrub('nonce too low'), 'nonce too low');
  t.equal(scrub('x'.repeat(5_000)).length, 1_000, 'and is kept short');
});

t.test('a path that is not well escaped is no fault', async (t) => {
  const { scrub } = createEndpoint({ url: 'https://rpc.example.com/%E0%A4%A-secret', weight: 1 });
  t.equal(scrub('no %E0%A4%A-secret here'), 'no *** here');
});

t.test('what is not a URL is no endpoint', async (t) => {
  t.throws(() => createEndpoint({ url: 'rpc.example.com', weight: 1 }), TypeError);
});

t.test('data loses the same, at any depth, but keeps its call data', async (t) => {
  const { scrubData } = createEndpoint({ url: 'https://rpc.example.com/v3/0123456789abcdef', weight: 1 });
  const revert = `0x08c379a0${'0123456789abcdef'.repeat(200)}`;
  t.equal(scrubData(revert), revert);
  t.same(scrubData({ see: ['https://rpc.example.com/v3/0123456789abcdef', 7, null, true], data: revert }), {
    see: ['https://rpc.example.com***', 7, null, true],
    data: revert,
  });
  t.equal(scrubData('Reverted 0x08c379a0'), 'Reverted 0x08c379a0');
});
