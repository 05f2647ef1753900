// These decisions move money. If an offer counts as refused too early, a payment is given up although a node has it. If
// it counts as accepted too early, the payment is lost. So these tests try each lie, delay and silence of one endpoint
// among others.
import t from 'tap';
import { type OfferMethod, offerBytes } from '../../../../src/chains/broadcasting.ts';
import type { BroadcastOutcome } from '../../../../src/chains/chain-client.ts';
import type { Json } from '../../../../src/domain/json/json.ts';
import {
  type RpcClient,
  RpcError,
  type RpcOfferOptions,
  type RpcOfferOutcome,
} from '../../../../src/egress/rpc/rpc-client.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../../../src/features/transactions/records/attempt.ts';

const hashOf = (index: number) => `hash ${index}`;
const rawOf = (index: number) => `raw ${index}`;

type Kind = BroadcastOutcome['kind'];

/**
 * A chain family whose nodes name the outcome in the error message. Only an error of kind `node` is a judgment of the
 * bytes.
 */
const taking: OfferMethod = {
  method: 'send',
  params: ({ raw }) => [raw],
  isOurs: (answer, { hash }) => answer === hash,
  failure: ({ kind, message }) => ({
    outcome: (message === 'accepted' ? { kind: message } : { kind: message, reason: 'why' }) as BroadcastOutcome,
    hasJudged: kind === 'node',
  }),
};

function attempt(index: number, acceptedAt: number | null = null): Attempt {
  const stored = { transactionId: 't', ordinal: 1, lane: 'l', createdAt: 0, ...UNACCEPTED_ATTEMPT, acceptedAt };
  const version = { purpose: 'send', request: {}, fields: {}, anchor: { kind: 'none' } } as const;
  return { ...stored, ...version, raw: rawOf(index), hash: hashOf(index) };
}

const attemptsTo = (length: number) => Array.from({ length }, (_, index) => attempt(index));

/** The answer of an endpoint to the bytes of the attempt with this index. */
type Answers = (index: number) => Json | RpcError;

const takes: Answers = hashOf;
const says =
  (kind: Kind): Answers =>
  () =>
    new RpcError('node', kind);
const bad = says('refused');
const full = says('busy');
const silent: Answers = () => new RpcError('timeout', 'unknown');
const turnsAway: Answers = () => new RpcError('limited', 'busy');
const otherHash: Answers = () => 'hash of another';

/** Endpoints in place of the RPC client. Offers go to the first one. */
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

  async offerAll(_method: string, params: readonly Json[], options?: RpcOfferOptions): Promise<RpcOfferOutcome[]> {
    this.options.push(options);
    const [first = silent] = this.#endpoints;
    return params.map((one) => this.#ask(first, 0, one, this.offered));
  }

  async offerEach(_method: string, params: readonly Json[]): Promise<RpcOfferOutcome[][]> {
    return this.#endpoints.map((endpoint, place) => params.map((one) => this.#ask(endpoint, place, one, this.each)));
  }

  prefer(place: number): void {
    this.preferred.push(place);
  }

  #ask(endpoint: Answers, place: number, params: Json, log: string[]): RpcOfferOutcome {
    const raw = String((params as string[])[0]);
    log.push(raw);
    const answer = endpoint(Number(raw.slice('raw '.length)));
    const by = { endpoint: `endpoint ${place}` };
    if (answer instanceof RpcError) return { status: 'rejected', reason: answer, ...by };
    return { status: 'fulfilled', value: answer, ...by };
  }
}

const send = (endpoints: FakeEndpoints, attempts: readonly Attempt[]) =>
  offerBytes(endpoints as unknown as RpcClient, taking, attempts);

const kindsOf = (outcomes: readonly BroadcastOutcome[]) => outcomes.map(({ kind }) => kind);

t.test('a round goes to one endpoint, in order, and ends there when each is judged', async (t) => {
  const world = new FakeEndpoints(takes, takes);
  t.strictSame(kindsOf(await send(world, attemptsTo(3))), ['accepted', 'accepted', 'accepted']);
  t.strictSame(world.offered, [0, 1, 2].map(rawOf));
  t.strictSame(world.each, []);
  t.strictSame(await send(world, []), []);
  t.equal(world.offered.length, 3, 'nothing to offer leaves nothing');
});

/** Gives the second answer when the same bytes are offered again. */
function then(first: Answers, second: Answers): Answers {
  const offered = new Set<number>();
  return (index) => {
    const again = offered.has(index);
    offered.add(index);
    return again ? second(index) : first(index);
  };
}

t.test('each outcome belongs to the bytes that it is about, in whichever round it was heard', async (t) => {
  const used = says('anchor-used');
  // The first round judges only the middle one of five. The other four are offered again, with different results.
  const said = [takes, used, takes, full, takes].map((one) => then(silent, one));
  const alone = new FakeEndpoints((index) => (index === 2 ? takes(index) : (said[index] ?? silent)(index)));
  const outcomes = await send(alone, attemptsTo(5));
  t.strictSame(kindsOf(outcomes), ['accepted', 'anchor-used', 'accepted', 'busy', 'accepted']);
  t.strictSame(alone.offered, [0, 1, 2, 3, 4, 0, 1, 3, 4].map(rawOf));

  // Attempts that the first endpoint does not judge go to all endpoints: the lowest first, then the rest.
  const first: Answers = (index) => (index % 2 === 0 ? takes(index) : full(index));
  const others: Answers = (index) => (index === 3 ? used(index) : index === 5 ? takes(index) : full(index));
  t.strictSame(
    kindsOf(await send(new FakeEndpoints(first, others), attemptsTo(8))),
    ['accepted', 'busy', 'accepted', 'busy', 'accepted', 'busy', 'accepted', 'busy'],
    'nobody had time for the lowest, so the rest waits',
  );
  const underpriced = says('underpriced');
  const choosy: Answers = (index) => (index % 2 === 0 ? takes(index) : underpriced(index));
  t.strictSame(kindsOf(await send(new FakeEndpoints(choosy, others), attemptsTo(8))), [
    'accepted',
    'underpriced',
    'accepted',
    'anchor-used',
    'accepted',
    'accepted',
    'accepted',
    'underpriced',
  ]);
});

t.test('what one endpoint says is weighed with what all others say', async (t) => {
  const cases: [string, Answers[], Kind][] = [
    ['the only endpoint refuses', [bad], 'refused'],
    ['all refuse', [bad, bad, bad], 'refused'],
    ['one refuses, the others do not answer', [bad, silent, silent], 'refused'],
    ['one refuses, another turns it away', [bad, turnsAway], 'refused'],
    ['one refuses, another takes it', [bad, takes], 'accepted'],
    ['one refuses, another has it', [bad, says('accepted')], 'accepted'],
    ['one refuses, another has no room', [bad, full], 'busy'],
    ['one refuses, another says what nobody knows', [bad, says('unknown')], 'unknown'],
    ['one refuses, another answers with another hash', [bad, otherHash], 'unknown'],
    ['one refuses, another has seen the anchor used', [bad, says('anchor-used')], 'anchor-used'],
    ['one refuses, for another its time is over', [bad, says('lapsed')], 'lapsed'],
    ['one refuses, another misses a lower one', [bad, says('anchor-ahead')], 'anchor-ahead'],
    ['one refuses, for another the account is too poor', [bad, says('unfunded')], 'unfunded'],
    ['one refuses, for another it is too cheap', [bad, says('fee-too-low')], 'fee-too-low'],
    ['one says that its time is over, another takes it', [says('lapsed'), takes], 'accepted'],
    [
      'one says that its time is over, for another the account is too poor',
      [says('unfunded'), says('lapsed')],
      'lapsed',
    ],
    ['the first is silent, another takes it', [silent, takes], 'accepted'],
    ['the first turns it away, another holds the anchor', [turnsAway, says('underpriced')], 'underpriced'],
    ['nobody answers', [silent, silent], 'unknown'],
    ['one turns it away, another is silent and may have it', [turnsAway, silent], 'unknown'],
    ['all turn it away', [turnsAway, turnsAway], 'busy'],
    ['the first names another hash', [otherHash], 'unknown'],
    ['the first names another hash, another takes it', [otherHash, takes], 'accepted'],
    ['no endpoint is switched on', [], 'unknown'],
  ];
  for (const [what, endpoints, kind] of cases) {
    t.match(await send(new FakeEndpoints(...endpoints), [attempt(0)]), [{ kind }], what);
  }
});

const PASSING: readonly Kind[] = ['anchor-used', 'anchor-ahead', 'fee-too-low', 'underpriced', 'lapsed', 'unfunded'];

t.test('what passes by itself or is bought is believed of the only endpoint', async (t) => {
  for (const kind of PASSING) {
    const world = new FakeEndpoints(says(kind));
    t.match(await send(world, [attempt(0)]), [{ kind, by: 'endpoint 0' }]);
    t.strictSame(world.each, [], 'which is not asked twice');
  }
});

t.test('one endpoint that turns away what others take loses its place, whatever it says', async (t) => {
  for (const kind of PASSING) {
    const world = new FakeEndpoints(says(kind), silent, takes);
    t.strictSame(await send(world, [attempt(0)]), [{ kind: 'accepted', by: 'endpoint 2' }], kind);
    t.strictSame(world.preferred, [2]);
    const agreed = new FakeEndpoints(says(kind), says(kind));
    t.match(await send(agreed, [attempt(0)]), [{ kind }]);
    t.strictSame(agreed.preferred, []);
  }
});

t.test('a liar’s price is paid for none of a long round', async (t) => {
  const outcomes = await send(new FakeEndpoints(says('fee-too-low'), takes), attemptsTo(100));
  t.ok(outcomes.every(({ kind }, index) => kind === (index < 32 ? 'accepted' : 'unknown')));
});

t.test('bytes that were taken long ago and are in no block go to every endpoint, in order', async (t) => {
  const world = new FakeEndpoints(takes, says('accepted'));
  const stale = Array.from({ length: 40 }, (_, index) => attempt(index, 5));
  t.ok((await send(world, [...stale, attempt(40)])).every(({ kind }) => kind === 'accepted'));
  const first = rawOf(0);
  const rest = Array.from({ length: 31 }, (_, index) => rawOf(index + 1));
  t.strictSame(world.each, [first, first, ...rest, ...rest], 'the lowest of them');
  t.strictSame(world.options, [{ elsewhere: true }]);
  t.strictSame(world.preferred, []);

  const wavering = new FakeEndpoints(takes, says('anchor-ahead'));
  t.match(await send(wavering, [attempt(0, 5)]), [{ kind: 'accepted' }]);
  const alone = new FakeEndpoints(takes);
  await send(alone, stale);
  t.strictSame(alone.each, [], 'the only endpoint has them');
});

t.test('endpoints without time are not asked about every attempt of a long round', async (t) => {
  const attempts = attemptsTo(200);
  const gone = new FakeEndpoints(silent, turnsAway);
  t.ok((await send(gone, attempts)).every(({ kind }) => kind === 'unknown'));
  t.strictSame(gone.each, [rawOf(0), rawOf(0)], 'the lowest stands for all');

  const second = new FakeEndpoints(silent, takes);
  const outcomes = await send(second, attempts);
  t.equal(second.each.length, 64, 'at most so many at a time');
  t.ok(outcomes.every(({ kind }, index) => kind === (index < 32 ? 'accepted' : 'unknown')));

  const mixed = new FakeEndpoints((index) => (index === 0 ? silent(0) : bad(index)), turnsAway);
  t.strictSame(kindsOf(await send(mixed, attempts.slice(0, 3))), ['unknown', 'refused', 'refused']);

  const strict = await send(new FakeEndpoints(bad), attempts);
  t.ok(
    strict.every(({ kind }, index) => kind === (index < 32 ? 'refused' : 'unknown')),
    'refused only when all were asked',
  );
});

t.test('a fault of our own is not taken for an answer', async (t) => {
  const broken = { offerAll: async () => [{ status: 'rejected', reason: new RangeError('ours') }] };
  await t.rejects(offerBytes(broken as unknown as RpcClient, taking, [attempt(0)]), RangeError);
  const short = { offerAll: async () => [], offerEach: async () => [] };
  t.match(await offerBytes(short as unknown as RpcClient, taking, [attempt(0)]), [{ kind: 'unknown' }]);
});
