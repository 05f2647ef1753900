/** The soaks' judge of a Stellar chain notices every way to break a promise. */
import { Account, Asset, Keypair, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import { type ChainEntry, type ChainRecord, readingOf } from '../load/soak/payments/stellar/chain-record.ts';
import { markOfEnvelope, readShown } from '../load/soak/payments/stellar/marks.ts';
import { planOf, STROOPS, type StellarIntention } from '../load/soak/payments/stellar/plan.ts';
import { isKept, judge as judgeEvidence, type Verdict } from '../load/soak/payments/verdict.ts';
import { describeRun } from '../load/soak/report.ts';
import type { AnsweredIntent } from '../support/model/judge.ts';

const SEED = 3;
const COUNT = 120;
const FEE = 100n;
const KEY = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 9));
const ACCOUNT = KEY.publicKey();
const END = 5_000;

const lands = ({ kind }: StellarIntention) => kind !== 'broken call';
const fails = ({ kind }: StellarIntention) => kind === 'stray' || kind === 'pauper';
/** Of two rivals, the first one has used the sequence. */
const loses = ({ kind, index }: StellarIntention) => kind === 'rival' && index % 2 === 1;

function entryOf({ index, mark, user, kind }: StellarIntention): ChainEntry {
  return {
    hash: `hash-${index}`,
    innerHash: `hash-${index}`,
    ledger: index,
    mark,
    code: '',
    source: user?.publicKey() ?? ACCOUNT,
    sequence: kind === 'rival' ? 1n : BigInt(index),
    feeSource: ACCOUNT,
    feeCharged: FEE,
    isSuccessful: kind !== 'stray' && kind !== 'pauper',
  };
}

/** A good run: each request has its own ledger, and each beaten rival fails before it. */
function goodRun() {
  const intentions = planOf(SEED, COUNT, [{ relayerId: 'relayer-0', key: KEY }], async () => ({}));
  const landed = intentions.filter((one) => lands(one) && !loses(one)).map(entryOf);
  const succeeded = intentions.filter((one) => lands(one) && !loses(one) && !fails(one));
  const own = succeeded.filter(({ user }) => user === null);
  return {
    intentions,
    asked: {
      accepted: new Map(intentions.map(({ index }) => [index, new Set([`id-${index}`])])),
      unknown: new Set<number>(),
      refused: new Map<number, string>(),
      validUntil: new Map<number, number>(),
    },
    intents: new Map<string, AnsweredIntent[]>(),
    replacements: [] as StellarIntention[],
    shown: intentions.map((intention) => ({
      id: `id-${intention.index}`,
      status: !lands(intention) || fails(intention) || loses(intention) ? 'failed' : 'confirmed',
      reason: null as string | null,
      hash: `hash-${intention.index}`,
      effect: intention.mark,
      anchor: null,
      bytes: null,
    })),
    endedAt: new Map(intentions.map(({ index }) => [`id-${index}`, END])),
    record: {
      landed,
      received: new Map(succeeded.map(({ to }) => [to, STROOPS])),
      paid: new Map([[ACCOUNT, FEE * BigInt(landed.length) + STROOPS * BigInt(own.length)]]),
    } satisfies ChainRecord,
    ends: new Map<number, number>(),
  };
}

type Run = ReturnType<typeof goodRun>;

function judge({ record, ends, ...run }: Run): Verdict {
  const chain = readingOf(record, [...run.intentions, ...run.replacements], { ends, foreign: new Set() });
  return judgeEvidence({ ...run, chain });
}

/** The first request of a kind that is in a ledger, with its entry and its reported state. */
function at(run: Run, kind: string) {
  const intention = run.intentions.find((one) => one.kind === kind && !loses(one));
  const entry = run.record.landed.find(({ mark }) => mark === intention?.mark);
  const shown = run.shown.find(({ id }) => id === `id-${intention?.index}`);
  if (intention === undefined || shown === undefined) throw new Error(`no ${kind} in the plan`);
  return { intention, entry, shown };
}

/** Removes the request from the chain. */
function unland(run: Run, kind: string) {
  const found = at(run, kind);
  run.record.landed = run.record.landed.filter((one) => one !== found.entry);
  run.record.received.delete(found.intention.to);
  const cost = found.intention.user === null ? FEE + STROOPS : FEE;
  run.record.paid.set(ACCOUNT, (run.record.paid.get(ACCOUNT) ?? 0n) - cost);
  return found;
}

function finds(t: Test, what: keyof Verdict, spoil: (run: Run) => void, message: RegExp): void {
  const run = goodRun();
  spoil(run);
  const verdict = judge(run);
  t.notOk(isKept(verdict));
  t.match((verdict[what] as string[]).join('\n'), message);
}

t.test('a run in which all went well', (t) => {
  const run = goodRun();
  t.ok(isKept(judge(run)), describeRun([], judge(run)));
  const kinds = new Set(run.intentions.map(({ kind }) => kind));
  const all = ['broken call', 'bump', 'call', 'envelope', 'pauper', 'payment', 'rival', 'stray'];
  t.same([...kinds].sort(), all);
  t.end();
});

t.test('doubled', (t) => {
  const again = (kind: string) => (run: Run) => {
    const { entry, intention } = at(run, kind);
    if (entry !== undefined) run.record.landed.push({ ...entry, hash: 'another', sequence: 9_999n });
    run.record.received.set(intention.to, 2n * STROOPS);
  };
  for (const kind of ['payment', 'call', 'envelope', 'bump']) finds(t, 'doubled', again(kind), /in blocks 2 times/);
  const state = (run: Run) => void run.record.received.set(at(run, 'bump').intention.to, 2n * STROOPS);
  finds(t, 'doubled', state, /executed 1 times, 2 effects/);
  const nobodys = (run: Run) =>
    void run.record.landed.push({ ...entryOf(at(run, 'bump').intention), hash: 'h', mark: 'x' });
  finds(t, 'doubled', nobodys, /nobody asked for x/);
  const sequence = (run: Run) => {
    const [one, other] = run.record.landed.filter(({ source }) => source === ACCOUNT);
    if (one !== undefined && other !== undefined) other.sequence = one.sequence;
  };
  finds(t, 'doubled', sequence, /was consumed 2 times/);
  const twice = (run: Run) => {
    const { intention, shown } = at(run, 'bump');
    run.asked.accepted.get(intention.index)?.add('id-again');
    run.shown.push({ ...shown, id: 'id-again' });
  };
  finds(t, 'doubled', twice, /one request, several transactions/);
  t.end();
});

t.test('ends that the chain contradicts', (t) => {
  for (const status of ['failed', 'expired', 'canceled']) {
    finds(t, 'wrong', (run) => void (at(run, 'call').shown.status = status), /but it executed/);
  }
  finds(t, 'wrong', (run) => void unland(run, 'payment'), /the chain has no such effect/);
  finds(t, 'wrong', (run) => void (unland(run, 'bump').shown.status = 'failed'), /nothing reverted/);
  finds(t, 'wrong', (run) => void (unland(run, 'envelope').shown.status = 'expired'), /it was to be sent at any time/);
  finds(t, 'wrong', (run) => void (unland(run, 'rival').shown.status = 'failed'), /nothing reverted/);
  finds(t, 'lost', (run) => void (unland(run, 'call').shown.status = 'submitted'), /without an end/);
  t.end();
});

t.test('what a relayer paid is what its transactions cost', (t) => {
  finds(t, 'gaps', (run) => void run.record.paid.set(ACCOUNT, 1n), / paid 1 stroops, its transactions cost/);
  t.end();
});

t.test('what an envelope does is read from its bytes, and what the API shows of it by its hash', (t) => {
  const builder = (operation: Parameters<TransactionBuilder['addOperation']>[0]) =>
    new TransactionBuilder(new Account(ACCOUNT, '1'), { fee: '100', networkPassphrase: 'x' })
      .addOperation(operation)
      .setTimeout(0)
      .build()
      .toXdr();
  const payment = builder(Operation.payment({ destination: ACCOUNT, asset: Asset.native(), amount: '0.0001000' }));
  t.equal(markOfEnvelope(payment), `1000 to ${ACCOUNT}`);
  t.equal(markOfEnvelope(builder(Operation.bumpSequence({ bumpTo: '0' }))), null);
  const shown = { id: 'a', status: 'confirmed', hash: 'h', source_account: ACCOUNT, sequence_number: '7' };
  t.match(readShown(shown, new Map([['h', 'm']])), { effect: 'm', anchor: `${ACCOUNT} 7` });
  t.match(readShown({ ...shown, hash: null, sequence_number: '0' }, new Map()), { effect: 'not known', anchor: null });
  t.end();
});
