import t from 'tap';
import { broadcast } from '../../../../../src/chains/solana/broadcast.ts';
import type { DoubleHandler } from '../../../../support/rpc-double.ts';
import { openSolana } from '../../../../support/solana-node.ts';
import { storedAttempt } from '../../../../support/solana-relayer.ts';

const OURS = 'ourSignature';
const attempt = (acceptedAt: number | null = null) => storedAttempt(OURS, { raw: 'AQAB', acceptedAt });

const taking: DoubleHandler = () => ({ result: OURS });
const failing = (code: number, message: string, data?: unknown): DoubleHandler => {
  return () => ({ error: { code, message, data } });
};

t.test('new bytes are tried by the node that takes them, and the node offers nothing again on its own', async (t) => {
  const { rpc, doubles } = await openSolana(t, taking);
  t.strictSame(await broadcast(rpc, [attempt()]), [{ kind: 'accepted', by: doubles[0]?.url }]);
  t.strictSame(
    doubles[0]?.calls.map(({ method, params }) => [method, params]),
    [
      [
        'sendTransaction',
        ['AQAB', { encoding: 'base64', skipPreflight: false, preflightCommitment: 'confirmed', maxRetries: 0 }],
      ],
    ],
  );
});

t.test('what a node took before is passed on without another trial', async (t) => {
  const { rpc, doubles } = await openSolana(t, taking, taking);
  t.match(await broadcast(rpc, [attempt(5)]), [{ kind: 'accepted' }]);
  const options = doubles.flatMap(({ calls }) => calls.map(({ params }) => params[1]));
  t.ok(options.length >= 2, 'all have it');
  t.ok(options.every((one) => (one as { skipPreflight: boolean }).skipPreflight));
});

t.test('only the signature of these very bytes says that a node has them', async (t) => {
  const failed = (err: unknown) => ({ err, logs: [], unitsConsumed: 0 });
  const cases: [DoubleHandler, string][] = [
    [() => ({ result: 'another' }), 'unknown'],
    [() => ({ result: null }), 'unknown'],
    [() => ({ body: '<html>busy</html>' }), 'unknown'],
    [() => 'hang-up', 'unknown'],
    [() => ({ status: 502, body: 'already been processed' }), 'unknown'],
    [() => ({ status: 429 }), 'busy'],
    [failing(-32_002, 'Transaction simulation failed', failed('AlreadyProcessed')), 'accepted'],
    [failing(-32_002, 'Transaction simulation failed', failed('BlockhashNotFound')), 'lapsed'],
    [failing(-32_002, 'Transaction simulation failed', failed('AccountNotFound')), 'unfunded'],
    [failing(-32_002, 'Transaction simulation failed', failed({ InstructionError: [0, 'GenericError'] })), 'refused'],
    [failing(-32_003, 'Transaction signature verification failure'), 'refused'],
    [failing(-32_005, 'Node is behind by 42 slots', { numSlotsBehind: 42 }), 'busy'],
  ];
  for (const [handler, kind] of cases) {
    const { rpc } = await openSolana(t, handler);
    t.match(await broadcast(rpc, [attempt()]), [{ kind }], String(handler));
  }
});

t.test('one node that does not know the blockhash yet stands in nobody’s way', async (t) => {
  const behind = failing(-32_002, 'Transaction simulation failed: Blockhash not found', { err: 'BlockhashNotFound' });
  const { rpc, doubles } = await openSolana(t, behind, taking);
  t.strictSame(await broadcast(rpc, [attempt()]), [{ kind: 'accepted', by: doubles[1]?.url }]);
});
