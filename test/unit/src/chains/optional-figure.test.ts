import t, { type Test } from 'tap';
import { onlyOnChain, parseQuantity } from '../../../../src/chains/evm/rpc-calls.ts';
import { askOptionalFigure, type OptionalFigure, parseOrNull } from '../../../../src/chains/optional-figure.ts';
import { openRpc } from '../../../support/evm.ts';
import { answersByMethod, type DoubleAnswer, startRpcDouble } from '../../../support/rpc-double.ts';

const TIP: OptionalFigure<bigint> = { method: 'eth_tip', params: [], parse: parseQuantity, cost: 'Tips are a guess' };

/** Endpoints that all serve chain 1, and that answer the question for a tip in turn with the given answers. */
async function open(t: Test, ...answers: readonly DoubleAnswer[]) {
  const doubles = await Promise.all(
    answers.map((answer) => startRpcDouble(answersByMethod({ eth_chainId: '0x1' }, () => answer))),
  );
  const rpc = openRpc(
    doubles.map(({ url }) => url),
    { timeoutMs: 4_000, tries: 1 },
  );
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const asked = (others: boolean) => rpc.onOne((read) => askOptionalFigure(read, TIP, others ? rpc : undefined));
  return { rpc, doubles, asked };
}

const MISSING: Readonly<Record<string, DoubleAnswer>> = {
  'the method is missing': { error: { code: -32_601, message: 'the method eth_tip does not exist/is not available' } },
  'another code for it': { error: { code: -32_600, message: 'Unsupported method: eth_tip on XYZ_MAINNET' } },
  'an internal error': { error: { code: -32_603, message: 'Method eth_tip is not supported' } },
  'a refusal': { status: 403 },
  'no figure': { result: null },
  'a negative one': { result: '-0xfd' },
};

t.test('whatever keeps an endpoint from giving advice is told with what it costs, and blames nobody', async (t) => {
  for (const [what, answer] of Object.entries(MISSING)) {
    const { rpc, doubles, asked } = await open(t, answer);
    for (let time = 0; time < 5; time += 1) t.equal(await asked(true), undefined, what);
    t.match(rpc.endpoints(), [{ state: 'ready', unanswered: [{ method: 'eth_tip', cost: 'Tips are a guess' }] }], what);
    doubles[0]?.answer(answersByMethod({ eth_tip: '0x7' }));
    t.equal(await asked(false), 7n);
    t.strictSame(rpc.endpoints()[0]?.unanswered, [], 'until it answers');
  }
});

t.test('another endpoint is asked for it, unless it serves another chain', async (t) => {
  const { rpc, doubles, asked } = await open(t, { status: 403 }, { result: '0x9' });
  for (let time = 0; time < 5; time += 1) t.equal(await asked(true), 9n);
  doubles[1]?.answer(answersByMethod({ eth_chainId: '0x2', eth_tip: '0x9' }));
  const own = onlyOnChain(1n, rpc);
  t.equal(await own.onOne((read) => askOptionalFigure(read, TIP, own)), undefined);
});

t.test('once an endpoint has answered, the question shares a request with others', async (t) => {
  const { doubles, rpc } = await open(t, { result: '0x7' });
  const together = () =>
    rpc.onOne((read) => Promise.all([askOptionalFigure(read, TIP), read('eth_chainId', [], parseQuantity)]));
  const sizes = () => doubles[0]?.requests.slice(-2).map((calls) => calls.length);
  await together();
  t.strictSame(sizes(), [1, 1], 'alone at first: it could take others with it');
  await together();
  t.equal(doubles[0]?.requests.at(-1)?.length, 2);
  doubles[0]?.answer(answersByMethod({ eth_chainId: '0x1' }, () => ({ status: 403 })));
  await rpc.onOne((read) => askOptionalFigure(read, TIP));
  doubles[0]?.answer(answersByMethod({ eth_chainId: '0x1', eth_tip: '0x7' }));
  await together();
  t.strictSame(sizes(), [1, 1], 'and again after a failure');
});

t.test('silence is waited for a little, and is told as silence elsewhere', async (t) => {
  const { rpc, asked } = await open(t, 'silence');
  t.equal(await asked(false), undefined);
  t.match(rpc.endpoints(), [{ state: 'ready', unanswered: [] }]);
});

t.test('a fault of our own is no missing advice', async (t) => {
  const { rpc } = await open(t, { result: '0x1' });
  const broken = new RangeError('ours');
  const failing = rpc.onOne(async () =>
    askOptionalFigure(() => {
      throw broken;
    }, TIP),
  );
  await t.rejects(failing, broken);
});

t.test('what is only shown is dropped when it cannot be read', async (t) => {
  t.equal(parseOrNull('0x7', parseQuantity), 7n);
  for (const odd of ['0x', '', null, undefined, 1, []]) t.equal(parseOrNull(odd, parseQuantity), null);
});
