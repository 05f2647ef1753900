/** The soaks' judge notices every way to break a promise. Otherwise a run without complaints would prove nothing. */
import t, { type Test } from 'tap';
import { type ChainEntry, type ChainRecord, readingOf, readShown } from '../load/soak/payments/evm/chain-record.ts';
import { planOf } from '../load/soak/payments/evm/plan.ts';
import type { Intention } from '../load/soak/payments/intention.ts';
import { isKept, judge as judgeEvidence, type Verdict } from '../load/soak/payments/verdict.ts';
import { describeRun } from '../load/soak/report.ts';
import type { AnsweredIntent } from '../support/model/judge.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000aa';
const relayers = [{ relayerId: 'relayer-0', address: ACCOUNT, privateKey: '0x01' }];
const COUNT = 40;

/** A good run: each request is accepted once and executed once, in order. */
function goodRun() {
  const intentions = planOf(1, COUNT, relayers);
  const entries = intentions.map(
    ({ to, data, value, kind }, nonce): ChainEntry => ({
      hash: hashOf(nonce),
      from: ACCOUNT,
      nonce,
      to,
      data,
      value,
      succeeded: kind !== 'revert',
    }),
  );
  const shown = intentions.map(({ to, data, kind }, index) => ({
    id: `id-${index}`,
    status: kind === 'revert' ? 'failed' : 'confirmed',
    status_reason: null as string | null,
    nonce: index,
    hash: hashOf(index),
    from: ACCOUNT,
    to,
    data,
  }));
  return {
    intentions,
    asked: {
      accepted: new Map(intentions.map(({ index }) => [index, new Set([`id-${index}`])])),
      unknown: new Set<number>(),
      refused: new Map<number, string>(),
      validUntil: new Map<number, number>(),
    },
    intents: new Map<string, AnsweredIntent[]>(),
    replacements: [] as Intention[],
    shown,
    endedAt: new Map<string, number>(),
    foreign: new Set<string>(),
    chain: {
      entries,
      accounts: new Map([[ACCOUNT, { mined: COUNT, pending: COUNT }]]),
      pool: 0,
      effects: new Map(intentions.map(({ index, kind }) => [index, kind === 'revert' ? 0n : 1n])),
    } satisfies ChainRecord,
  };
}

type Run = ReturnType<typeof goodRun>;

function judge({ shown, chain, foreign, ...run }: Run): Verdict {
  return judgeEvidence({ ...run, shown: shown.map(readShown), chain: readingOf(chain, foreign) });
}

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

/** The first request of a kind, with its chain entry and its reported state. */
function at(run: Run, kind: string) {
  const index = run.intentions.findIndex((one) => one.kind === kind && one.worthMs === null);
  const [intention, entry, shown] = [run.intentions[index], run.chain.entries[index], run.shown[index]];
  if (intention === undefined || entry === undefined || shown === undefined) throw new Error(`no ${kind} in the plan`);
  return { index, intention, entry, shown };
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
  const verdict = judge(run);
  t.ok(isKept(verdict), describeRun([], verdict));
  t.equal(verdict.accepted, COUNT);
  t.equal(verdict.confirmed, run.shown.filter(({ status }) => status === 'confirmed').length);
  const kinds = new Set(run.intentions.map(({ kind }) => kind));
  t.same([...kinds].sort(), ['count', 'payment', 'revert']);
  t.end();
});

t.test('lost', (t) => {
  finds(t, 'lost', (run) => void run.shown.splice(3, 1), /the service does not know it/);
  finds(t, 'lost', (run) => void (at(run, 'payment').shown.status = 'submitted'), /without an end/);
  t.end();
});

t.test('doubled', (t) => {
  const again = (run: Run) => {
    const { index, entry } = at(run, 'payment');
    run.chain.entries.push({ ...entry, nonce: COUNT, hash: hashOf(COUNT) });
    run.chain.effects.set(index, 2n);
    run.chain.accounts.set(ACCOUNT, { mined: COUNT + 1, pending: COUNT + 1 });
  };
  finds(t, 'doubled', again, /in blocks 2 times/);
  finds(t, 'doubled', (run) => void run.chain.effects.set(at(run, 'count').index, 2n), /executed 1 times, 2 effects/);
  finds(t, 'doubled', (run) => void run.asked.accepted.get(5)?.add('id-6'), /one request, several transactions/);
  const foreign = (run: Run) => void (at(run, 'payment').entry.to = '0x00000000000000000000000000000000000000ff');
  finds(t, 'doubled', foreign, /nobody asked for/);
  finds(t, 'doubled', (run) => void run.asked.accepted.delete(at(run, 'payment').index), /nobody asked for/);
  t.end();
});

t.test('gaps', (t) => {
  finds(t, 'gaps', (run) => void (run.chain.pool = 1), /wait in the pool/);
  const short = (run: Run) => void run.chain.accounts.set(ACCOUNT, { mined: COUNT - 1, pending: COUNT - 1 });
  finds(t, 'gaps', short, /nonce 39 was signed, 39 are mined/);
  const open = (run: Run) => void run.chain.accounts.set(ACCOUNT, { mined: COUNT, pending: COUNT + 2 });
  finds(t, 'gaps', open, /the node counts 42/);
  t.end();
});

t.test('states that the chain contradicts', (t) => {
  finds(t, 'wrong', (run) => void (at(run, 'payment').shown.status = 'failed'), /but it executed/);
  finds(t, 'wrong', (run) => void (at(run, 'revert').shown.status = 'confirmed'), /no such effect/);
  finds(t, 'wrong', (run) => void (at(run, 'payment').shown.hash = hashOf(77_777)), /no such effect/);
  finds(t, 'wrong', (run) => void (at(run, 'payment').shown.status = 'canceled'), /but it executed/);
  finds(t, 'wrong', (run) => void (at(run, 'revert').shown.status = 'expired'), /but it is in a block/);
  finds(t, 'wrong', (run) => void (at(run, 'payment').shown.nonce = 12_345), /but the chain has it with/);
  finds(t, 'wrong', (run) => void (at(run, 'revert').shown.hash = at(run, 'payment').shown.hash), /what reverted is/);
  finds(t, 'wrong', (run) => void (at(run, 'payment').shown.nonce = at(run, 'revert').shown.nonce), /several .* show/);
  const unasked = (run: Run) => {
    const { index, entry, shown } = at(run, 'payment');
    Object.assign(entry, { to: ACCOUNT, value: 0n, data: '0x' });
    shown.status = 'canceled';
    run.chain.effects.set(index, 0n);
  };
  finds(t, 'wrong', unasked, /nobody asked for that/);
  const givenUp = (run: Run) => {
    const { index, entry, shown } = at(run, 'payment');
    Object.assign(entry, { to: ACCOUNT, value: 0n, data: '0x' });
    Object.assign(shown, { status: 'failed', status_reason: 'a node said so' });
    run.chain.effects.set(index, 0n);
  };
  finds(t, 'wrong', givenUp, /failed, .* a node said so; but nothing reverted, interfered or refused it/);
  t.end();
});
