/** The soaks' judge of a Solana chain notices every way to break a promise. */
import t, { type Test } from 'tap';
import { type ChainEntry, type ChainRecord, readingOf } from '../load/soak/payments/solana/chain-record.ts';
import type { Lease } from '../load/soak/payments/solana/client-bytes.ts';
import { LAMPORTS, planOf, type SolanaIntention } from '../load/soak/payments/solana/plan.ts';
import { isKept, judge as judgeEvidence, type Verdict } from '../load/soak/payments/verdict.ts';
import { describeRun } from '../load/soak/report.ts';
import type { AnsweredIntent } from '../support/model/judge.ts';

const SEED = 3;
const COUNT = 80;
const FEE = 5_000n;
const ACCOUNT = 'account';
/** Each block comes one second after the one before. */
const timeOf = (height: number) => 1_000_000 + height * 1_000;

const fails = ({ kind }: SolanaIntention) => kind === 'pauper';
/** Of two rivals, the first one has moved the money. */
const loses = ({ kind, index }: SolanaIntention) => kind === 'rival' && index % 2 === 1;

/** A good run: each request has its own block, and each beaten rival fails before it. */
function goodRun() {
  const relayers = [{ relayerId: 'relayer-0', address: ACCOUNT }];
  const intentions = planOf(SEED, COUNT, relayers, async () => '');
  const blocks = intentions.map((intention, height) => ({
    blockhash: `hash-${height}`,
    height,
    at: timeOf(height),
    entries: fails(intention) || loses(intention) ? [] : [entryOf(intention)],
  }));
  const entries = blocks.flatMap((block) => block.entries);
  return {
    intentions,
    asked: {
      accepted: new Map(intentions.map(({ index }) => [index, new Set([`id-${index}`])])),
      unknown: new Set<number>(),
      refused: new Map<number, string>(),
      validUntil: new Map<number, number>(),
    },
    intents: new Map<string, AnsweredIntent[]>(),
    replacements: [] as SolanaIntention[],
    shown: intentions.map((intention) => ({
      id: `id-${intention.index}`,
      status: fails(intention) || loses(intention) ? 'failed' : 'confirmed',
      reason: null as string | null,
      hash: signatureOf(intention.index) as string | null,
      effect: intention.mark,
      anchor: null,
      bytes: null,
    })),
    endedAt: new Map(intentions.map(({ index }) => [`id-${index}`, timeOf(COUNT)])),
    record: {
      blocks,
      received: new Map(entries.flatMap(({ mark }) => receiverIn(mark))),
      paid: new Map([[ACCOUNT, FEE * BigInt(entries.length)]]),
    } satisfies ChainRecord,
    leases: new Map<number, Lease>(),
  };
}

type Run = ReturnType<typeof goodRun>;

const signatureOf = (index: number) => `signature-${index}`;

function entryOf({ index, mark, text }: SolanaIntention): ChainEntry {
  const logs = text === null ? [] : [`Program log: ${text}`];
  return { signature: signatureOf(index), payer: ACCOUNT, mark, fee: FEE, succeeded: true, logs };
}

function receiverIn(mark: string): [string, bigint][] {
  const to = / to (.+)$/.exec(mark)?.[1];
  return to === undefined ? [] : [[to, LAMPORTS]];
}

function judge({ record, leases, ...run }: Run): Verdict {
  return judgeEvidence({ ...run, chain: readingOf(record, [...run.intentions, ...run.replacements], leases) });
}

/** The first request of a kind that is in a block, with its block and its reported state. */
function at(run: Run, kind: string) {
  const index = run.intentions.findIndex((one) => one.kind === kind && !loses(one));
  const [intention, block, shown] = [run.intentions[index], run.record.blocks[index], run.shown[index]];
  if (intention === undefined || block === undefined || shown === undefined) throw new Error(`no ${kind} in the plan`);
  return { index, intention, block, shown };
}

/** Removes the request from the chain. */
function unland(run: Run, kind: string) {
  const found = at(run, kind);
  found.block.entries = [];
  run.record.paid.set(ACCOUNT, (run.record.paid.get(ACCOUNT) ?? 0n) - FEE);
  if (found.intention.transfer !== null) run.record.received.delete(found.intention.transfer.to);
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
  t.same([...kinds].sort(), ['memo', 'own memo', 'pauper', 'rival', 'transfer']);
  t.end();
});

t.test('doubled', (t) => {
  const again = (kind: string) => (run: Run) => {
    const { block, intention } = at(run, kind);
    block.entries.push({ ...entryOf(intention), signature: 'another' });
    run.record.paid.set(ACCOUNT, (run.record.paid.get(ACCOUNT) ?? 0n) + FEE);
    if (intention.transfer !== null) run.record.received.set(intention.transfer.to, 2n * LAMPORTS);
  };
  for (const kind of ['memo', 'own memo', 'transfer']) finds(t, 'doubled', again(kind), /in blocks 2 times/);
  const foreign = (run: Run) =>
    void at(run, 'memo').block.entries.push({ ...entryOf(at(run, 'memo').intention), mark: 'x' });
  finds(t, 'doubled', foreign, /nobody asked for x/);
  const state = (run: Run) =>
    void run.record.received.set(at(run, 'transfer').intention.transfer?.to ?? '', 2n * LAMPORTS);
  finds(t, 'doubled', state, /executed 1 times, 2 effects/);
  const twice = (run: Run) => {
    const { index, shown } = at(run, 'transfer');
    run.asked.accepted.get(index)?.add('id-again');
    run.shown.push({ ...shown, id: 'id-again' });
  };
  finds(t, 'doubled', twice, /one request, several transactions/);
  t.end();
});

t.test('ends that the chain contradicts', (t) => {
  for (const status of ['failed', 'expired', 'canceled']) {
    finds(t, 'wrong', (run) => void (at(run, 'transfer').shown.status = status), /but it executed/);
  }
  finds(t, 'wrong', (run) => void unland(run, 'memo'), /the chain has no such effect/);
  finds(t, 'wrong', (run) => void (unland(run, 'transfer').shown.status = 'failed'), /nothing reverted/);
  finds(t, 'wrong', (run) => void (unland(run, 'memo').shown.status = 'expired'), /it was to be sent at any time/);
  finds(t, 'lost', (run) => void (unland(run, 'memo').shown.status = 'submitted'), /without an end/);
  t.end();
});

t.test('what a relayer paid is what its transactions cost', (t) => {
  finds(t, 'gaps', (run) => void run.record.paid.set(ACCOUNT, 1n), /account paid 1 lamports, its transactions cost/);
  t.end();
});
