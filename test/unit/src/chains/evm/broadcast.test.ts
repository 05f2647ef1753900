// Money moves on what is decided here: taken too easily for refused, a payment is given up that a node has; taken too
// easily for accepted, it is lost. So each lie, lag and silence of one endpoint among others is tried.
import t from 'tap';
import { broadcast } from '../../../../../src/chains/evm/broadcast.ts';
import type { Json } from '../../../../../src/domain/json/json.ts';
import { type Attempt, NEW_ATTEMPT } from '../../../../../src/domain/transaction/attempt.ts';
import { type OfferOptions, type RpcClient, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openEvm, openRpc, signerOf, storedAttempt, storedTransaction } from '../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const hashOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
const rawOf = (index: number) => `0x02${index.toString(16).padStart(4, '0')}`;

function attempt(index: number, acceptedAt: number | null = null): Attempt {
  const stored = { transactionId: 't', ordinal: 1, lane: 'l', createdAt: 0, ...NEW_ATTEMPT, acceptedAt };
  const version = { purpose: 'send', request: {}, fields: {} } as const;
  const anchor = { kind: 'sequence', sequence: BigInt(index) } as const;
  return { ...stored, ...version, anchor, raw: rawOf(index), hash: hashOf(index) };
}

const attemptsTo = (length: number) => Array.from({ length }, (_, index) => attempt(index));

/** What an endpoint answers to the bytes of one attempt. */
type Answers = (index: number) => Json | RpcError;

const takes: Answers = hashOf;
const says =
  (text: string): Answers =>
  () =>
    new RpcError('node', text, { code: -32_000 });
const silent: Answers = () => new RpcError('timeout', 'no answer');
const isDown: Answers = () => new RpcError('http', 'HTTP 429', { status: 429 });
const otherHash: Answers = () => hashOf(999_999);

/** Endpoints in the place of the client, the first of which is the one that offers go to. */
class FakeEndpoints implements Pick<RpcClient, 'endpointCount' | 'offerAll' | 'offerEach' | 'prefer'> {
  readonly offered: string[] = [];
  readonly each: string[] = [];
  readonly preferred: number[] = [];
  readonly options: unknown[] = [];
  readonly endpointCount: number;
  readonly #endpoints: readonly Answers[];

  constructor(...endpoints: Answers[]) {
    this.#endpoints = endpoints;
    this.endpointCount = endpoints.length;
  }

  async offerAll(
    _method: string,
    params: readonly Json[],
    options?: OfferOptions,
  ): Promise<PromiseSettledResult<Json>[]> {
    this.options.push(options);
    const [first = silent] = this.#endpoints;
    return params.map((one) => this.#ask(first, one, this.offered));
  }

  async offerEach(_method: string, params: readonly Json[]): Promise<PromiseSettledResult<Json>[][]> {
    return this.#endpoints.map((endpoint) => params.map((one) => this.#ask(endpoint, one, this.each)));
  }

  prefer(place: number): void {
    this.preferred.push(place);
  }

  #ask(endpoint: Answers, params: Json, log: string[]): PromiseSettledResult<Json> {
    const raw = String((params as string[])[0]);
    log.push(raw);
    const answer = endpoint(Number.parseInt(raw.slice(4), 16));
    return answer instanceof RpcError ? { status: 'rejected', reason: answer } : { status: 'fulfilled', value: answer };
  }
}

const send = (endpoints: FakeEndpoints, attempts: readonly Attempt[]) =>
  broadcast(endpoints as unknown as RpcClient, attempts);

t.test('a round goes to one endpoint, in order, and ends there when each is judged', async (t) => {
  const world = new FakeEndpoints(takes, takes);
  const outcomes = await send(world, attemptsTo(3));
  t.match(outcomes, [{ kind: 'accepted' }, { kind: 'accepted' }, { kind: 'accepted' }]);
  t.same(world.offered, [0, 1, 2].map(rawOf));
  t.same(world.each, []);
  t.same(await send(world, []), []);
  t.equal(world.offered.length, 3, 'nothing to offer leaves nothing');
});

/** Says something else the second time that it is offered the bytes. */
function then(first: Answers, second: Answers): Answers {
  const offered = new Set<number>();
  return (index) => {
    const again = offered.has(index);
    offered.add(index);
    return again ? second(index) : first(index);
  };
}

t.test('each outcome belongs to the bytes that it is about, in whichever round it was heard', async (t) => {
  const low = says('nonce too low');
  const full = says('txpool is full');
  // Of five the middle one is judged at once; the others go out once more, and fare differently then.
  const second: Answers[] = [takes, low, takes, full, takes];
  const alone = new FakeEndpoints((index) => (index === 2 ? takes(index) : (said[index] ?? silent)(index)));
  const said = second.map((one) => then(silent, one));
  const outcomes = await send(alone, attemptsTo(5));
  const kinds = outcomes.map(({ kind }) => kind);
  t.strictSame(kinds, ['accepted', 'anchor-used', 'accepted', 'busy', 'accepted']);
  t.strictSame(alone.offered, [0, 1, 2, 3, 4, 0, 1, 3, 4].map(rawOf));

  // What the first endpoint does not judge is asked of all: the lowest first, then the rest.
  const first: Answers = (index) => (index % 2 === 0 ? takes(index) : full(index));
  const others: Answers = (index) => (index === 3 ? low(index) : index === 5 ? takes(index) : full(index));
  const many = await send(new FakeEndpoints(first, others), attemptsTo(8));
  t.strictSame(
    many.map(({ kind }) => kind),
    ['accepted', 'busy', 'accepted', 'busy', 'accepted', 'busy', 'accepted', 'busy'],
    'nobody had time for the lowest, so the rest waits',
  );
  const underpriced = says('replacement transaction underpriced');
  const choosy: Answers = (index) => (index % 2 === 0 ? takes(index) : underpriced(index));
  const opinions = await send(new FakeEndpoints(choosy, others), attemptsTo(8));
  t.strictSame(
    opinions.map(({ kind }) => kind),
    ['accepted', 'underpriced', 'accepted', 'anchor-used', 'accepted', 'accepted', 'accepted', 'underpriced'],
  );
});

t.test('what one endpoint says is weighed with what all others say', async (t) => {
  const bad = says('intrinsic gas too low');
  const cases: [string, Answers[], string][] = [
    ['the only endpoint refuses', [bad], 'refused'],
    ['all refuse', [bad, bad, bad], 'refused'],
    ['one refuses, the others do not answer', [bad, silent, silent], 'refused'],
    ['one refuses, another has no time', [bad, isDown], 'refused'],
    ['one refuses, another wants to be paid for its answers', [bad, says('Unauthorized')], 'refused'],
    ['one refuses, another takes it', [bad, takes], 'accepted'],
    ['one refuses, another has it', [bad, says('already known')], 'accepted'],
    ['one refuses, another has no room', [bad, says('txpool is full')], 'busy'],
    ['one refuses, another says what nobody knows', [bad, says('who knows')], 'unknown'],
    ['one refuses, another answers with another hash', [bad, otherHash], 'unknown'],
    ['one refuses, another has seen the sequence used', [bad, says('nonce too low')], 'anchor-used'],
    ['one refuses, another misses a lower one', [bad, says('nonce too high')], 'anchor-ahead'],
    ['one refuses, for another the account is too poor', [bad, says('insufficient funds')], 'unfunded'],
    ['one refuses, for another it is too cheap', [bad, says('transaction underpriced')], 'fee-too-low'],
    ['the first is silent, another takes it', [silent, takes], 'accepted'],
    [
      'the first has no room, another holds the sequence',
      [isDown, says('could not replace existing tx')],
      'underpriced',
    ],
    ['nobody answers', [silent, silent], 'unknown'],
    ['one turns it away, another is silent and may have it', [isDown, silent], 'unknown'],
    ['all turn it away', [isDown, isDown], 'busy'],
    ['the first names another hash', [otherHash], 'unknown'],
    ['the first names another hash, another takes it', [otherHash, takes], 'accepted'],
    ['no endpoint is switched on', [], 'unknown'],
  ];
  for (const [what, endpoints, kind] of cases) {
    t.match(await send(new FakeEndpoints(...endpoints), [attempt(0)]), [{ kind }], what);
  }
});

const PASSING = ['nonce too low', 'nonce too high', 'transaction underpriced', 'could not replace existing tx'];

t.test('what passes by itself or is bought is believed of the only endpoint', async (t) => {
  for (const text of [...PASSING, 'insufficient funds']) {
    const world = new FakeEndpoints(says(text));
    t.not((await send(world, [attempt(0)]))[0]?.kind, 'accepted', text);
    t.same(world.each, [], 'which is not asked twice');
  }
});

t.test('one endpoint that turns away what others take loses its place, whatever it says', async (t) => {
  for (const text of [...PASSING, 'insufficient funds']) {
    const world = new FakeEndpoints(says(text), silent, takes);
    t.same(await send(world, [attempt(0)]), [{ kind: 'accepted' }], text);
    t.same(world.preferred, [2]);
    const agreed = new FakeEndpoints(says(text), says(text));
    t.not((await send(agreed, [attempt(0)]))[0]?.kind, 'accepted');
    t.same(agreed.preferred, []);
  }
});

t.test('a liar’s price is paid for none of a long round', async (t) => {
  const outcomes = await send(new FakeEndpoints(says('transaction underpriced'), takes), attemptsTo(100));
  t.ok(outcomes.every(({ kind }, index) => kind === (index < 32 ? 'accepted' : 'unknown')));
});

t.test('bytes that were taken long ago and are in no block go to every endpoint, in order', async (t) => {
  const known = says('already known');
  const world = new FakeEndpoints(takes, known);
  const stale = Array.from({ length: 40 }, (_, index) => attempt(index, 5));
  t.ok((await send(world, [...stale, attempt(40)])).every(({ kind }) => kind === 'accepted'));
  const first = rawOf(0);
  const rest = Array.from({ length: 31 }, (_, index) => rawOf(index + 1));
  t.same(world.each, [first, first, ...rest, ...rest], 'the lowest of them');
  t.same(world.options, [{ elsewhere: true }]);
  t.same(world.preferred, []);

  const wavering = new FakeEndpoints(takes, says('nonce too high'));
  t.same(await send(wavering, [attempt(0, 5)]), [{ kind: 'accepted' }]);
  const alone = new FakeEndpoints(takes);
  await send(alone, stale);
  t.same(alone.each, [], 'the only endpoint has them');
});

t.test('endpoints without time are not asked about every attempt of a long round', async (t) => {
  const attempts = attemptsTo(200);
  const gone = new FakeEndpoints(silent, isDown);
  t.ok((await send(gone, attempts)).every(({ kind }) => kind === 'unknown'));
  t.same(gone.each, [rawOf(0), rawOf(0)], 'the lowest stands for all');

  const second = new FakeEndpoints(silent, takes);
  const outcomes = await send(second, attempts);
  t.equal(second.each.length, 64, 'at most so many at a time');
  t.ok(outcomes.every(({ kind }, index) => kind === (index < 32 ? 'accepted' : 'unknown')));

  const mixed = new FakeEndpoints((index) => (index === 0 ? silent(0) : says('intrinsic gas too low')(index)), isDown);
  const asked = await send(mixed, attempts.slice(0, 3));
  t.match(asked, [{ kind: 'unknown' }, { kind: 'refused' }, { kind: 'refused' }]);

  const strict = await send(new FakeEndpoints(says('intrinsic gas too low')), attempts);
  t.ok(
    strict.every(({ kind }, index) => kind === (index < 32 ? 'refused' : 'unknown')),
    'refused only when all were asked',
  );
});

t.test('a fault of our own is not taken for an answer', async (t) => {
  const broken = { offerAll: async () => [{ status: 'rejected', reason: new RangeError('ours') }] };
  await t.rejects(broadcast(broken as unknown as RpcClient, [attempt(0)]), RangeError);
  const short = { offerAll: async () => [], offerEach: async () => [] };
  t.match(await broadcast(short as unknown as RpcClient, [attempt(0)]), [{ kind: 'unknown' }]);
});

t.test('a real node: accepted, known, used, underpriced, out of order, out of funds', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const [alice] = anvil.accounts;
  if (alice === undefined) throw new Error('anvil has accounts');
  const { client, rpc } = openEvm([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const account = { address: alice.address, policies: {} };
  const sign = async (nonce: bigint, body: { value: number | string; gas_price: number }) => {
    const transaction = storedTransaction(account, { to: alice.address, gas_limit: 21_000, ...body });
    const fields = { chain_id: 31_337, from: alice.address, gas_limit: 21_000, gas_price: body.gas_price };
    const signed = await client.sign(transaction, fields, { kind: 'sequence', sequence: nonce }, signerOf(alice));
    return storedAttempt(transaction, nonce, signed.raw, signed.hash);
  };
  const price = 3_000_000_000;
  const first = await sign(0n, { value: 1, gas_price: price });
  t.same(await broadcast(rpc, [first]), [{ kind: 'accepted', by: anvil.url }]);
  const rest = [
    first,
    await sign(0n, { value: 2, gas_price: price }),
    await sign(1n, { value: `1${'0'.repeat(30)}`, gas_price: price }),
    await sign(1n, { value: 3, gas_price: price }),
  ];
  t.match(await broadcast(rpc, rest), [
    { kind: 'accepted' },
    { kind: 'underpriced' },
    { kind: 'unfunded', reason: /insufficient funds/i },
    { kind: 'accepted' },
  ]);
  await anvil.rpc('anvil_mine', ['0x1']);
  const [late] = await broadcast(rpc, [await sign(0n, { value: 3, gas_price: price })]);
  t.match(late, { kind: 'anchor-used', reason: /nonce too low/i });
});

t.test('over the wire only an answer says something', async (t) => {
  const silences: [DoubleHandler, string][] = [
    [() => ({ result: hashOf(0) }), 'accepted'],
    [() => ({ result: hashOf(1) }), 'unknown'],
    [() => ({ result: null }), 'unknown'],
    [() => 'silence', 'unknown'],
    [() => 'hang-up', 'unknown'],
    [() => ({ status: 502, body: 'nonce too low' }), 'unknown'],
    [() => ({ status: 429, body: 'nonce too low' }), 'busy'],
    [() => ({ error: { code: -32_603, message: 'nonce too low' }, status: 500 }), 'anchor-used'],
  ];
  for (const [handler, kind] of silences) {
    const double = await startRpcDouble(handler);
    const rpc = openRpc([double.url], { tries: 3, timeoutMs: 200 });
    t.match(await broadcast(rpc, [attempt(0)]), [{ kind }], String(handler));
    await Promise.all([rpc.close(), double.stop()]);
  }
});
