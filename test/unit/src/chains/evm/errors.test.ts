import t from 'tap';
import { broadcastFailure } from '../../../../../src/chains/evm/errors.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { BROADCAST_CORPUS, BROADCAST_TEXTS } from './broadcast-corpus.ts';

t.test('what real nodes say about a broadcast', async (t) => {
  t.ok(BROADCAST_TEXTS.length >= 120, `${BROADCAST_TEXTS.length} texts`);
  t.ok(BROADCAST_CORPUS.every(({ place }) => place !== ''));
  for (const { client, code, means, text, data } of BROADCAST_TEXTS) {
    const { outcome, isWord } = broadcastFailure(
      new RpcError('node', text, data === undefined ? { code } : { code, data }),
    );
    t.equal(outcome.kind, means === 'absent' ? 'busy' : means, `${client}: ${text}`);
    t.equal(isWord, means !== 'absent', `${client}: ${text}`);
  }
});

t.test('a nonce error wrapped in -32603 or -32002 keeps its meaning', async (t) => {
  for (const code of [-32_000, -32_603, -32_002, -32_005]) {
    for (const { means, text } of BROADCAST_TEXTS.filter(({ means }) => /sequence|underpriced|accepted/.test(means))) {
      if (BROADCAST_TEXTS.some((other) => other.text === text && other.means !== means)) continue;
      if (/^(Internal|resource)/.test(text)) continue;
      t.equal(broadcastFailure(new RpcError('node', text, { code })).outcome.kind, means, `${code}: ${text}`);
    }
  }
});

t.test('no answer says nothing, but for being turned away', async (t) => {
  for (const kind of ['timeout', 'transport', 'http', 'malformed', 'blocked'] as const) {
    t.same(broadcastFailure(new RpcError(kind, 'nonce too low')), {
      outcome: { kind: 'unknown', reason: 'nonce too low' },
      isWord: false,
    });
  }
  t.match(broadcastFailure(new RpcError('http', 'HTTP 429', { status: 429 })), { outcome: { kind: 'busy' } });
  t.match(broadcastFailure(new RpcError('http', 'HTTP 503', { status: 503 })), { outcome: { kind: 'unknown' } });
});

t.test('a code says it where the text does not', async (t) => {
  for (const code of [429, -32_601]) {
    const said = broadcastFailure(new RpcError('node', 'slow down', { code }));
    t.match(said, { outcome: { kind: 'busy' }, isWord: false }, String(code));
  }
});

t.test('a text of any length or kind is read and shown within bounds', async (t) => {
  const long = broadcastFailure(new RpcError('node', `nonce too low ${'x'.repeat(1_000_000)}`, { code: -32_000 }));
  t.ok(long.outcome.kind === 'anchor-used' && long.outcome.reason.length < 600);
  t.equal(broadcastFailure(new RpcError('node', `${'x'.repeat(5_000)} nonce too low`)).outcome.kind, 'unknown');
  const deep = Array.from({ length: 50 }).reduce<object>((data) => ({ data }), { message: 'nonce too low' });
  t.equal(broadcastFailure(new RpcError('node', 'no', { data: deep as never })).outcome.kind, 'unknown');
});
