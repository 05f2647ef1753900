/**
 * The gauntlet's judge notices every way to break a promise. Otherwise a run without complaints would prove nothing.
 */
import t, { type Test } from 'tap';
import { HONEST_KINDS, type HonestKind } from '../load/gauntlet/honest-load.ts';
import { type Evidence, judge } from '../load/gauntlet/verdict.ts';

const MIB = 1_048_576;
const KINDS = Object.keys(HONEST_KINDS) as HonestKind[];
const EACH = 200;

/**
 * A good run with eight minutes of attacks. Memory goes up and down without a trend, and requests are as fast as in the
 * quiet time.
 */
function goodRun() {
  const samples = KINDS.flatMap((kind) =>
    Array.from({ length: EACH }, (_, at) => ({ kind, at, tookMs: 2 + (at % 10) / 10 })),
  );
  return {
    attempts: ['loop', 'bomb'].map((attack) => ({
      attack,
      end: 'CPU_LIMIT' as const,
      at: 0,
      tookMs: 510,
      contained: true as boolean,
      answer: 'CPU_LIMIT after 510 ms',
    })),
    recoveries: ['loop', 'bomb'].map((attack) => ({
      attack,
      sameMs: 90 as number | null,
      otherMs: 5 as number | null,
      backedOff: false as boolean,
      wrong: [] as string[],
    })),
    quiet: structuredClone(samples),
    attackRun: structuredClone(samples),
    failures: [] as string[],
    looks: Array.from({ length: 480 }, (_, second) => ({
      at: second * 1_000,
      resident: (250 + (second % 5)) * MIB,
      stallMs: 3,
    })),
    collections: Array.from({ length: 16 }, (_, turn) => ({
      at: turn * 30_000,
      data: (40 + (turn % 3) / 4) * MIB,
      heap: (53 + (turn % 3) / 4) * MIB,
      beside: (170 + (turn % 4)) * MIB,
      rss: (260 + (turn % 5)) * MIB,
    })),
    transactions: {
      accepted: 9,
      confirmed: 9,
      lost: [] as string[],
      doubled: [] as string[],
      gaps: [] as string[],
      wrong: [] as string[],
    },
    left: [] as string[],
    serverEnd: null as string | null,
    errors: new Map<string, number>(),
  } satisfies Evidence;
}

type Run = ReturnType<typeof goodRun>;

function leak(where: 'data' | 'heap' | 'beside' | 'rss', perMinute: number): (run: Run) => void {
  return (run) => {
    for (const collection of run.collections) collection[where] += (perMinute * MIB * collection.at) / 60_000;
  };
}

function finds(t: Test, spoil: (run: Run) => void, message: RegExp): void {
  const run = goodRun();
  spoil(run);
  const { broken } = judge(run);
  t.equal(broken.length, 1, broken.join('\n'));
  t.match(broken[0], message);
}

t.test('a run in which all went well', (t) => {
  const { broken, comparisons, same, heapSlope } = judge(goodRun());
  t.same(broken, []);
  t.equal(same.p99, 90);
  t.equal(comparisons.length, KINDS.length + 1);
  for (const { kind, ratio } of comparisons) t.equal(ratio, 1, kind);
  t.ok(heapSlope !== null && Math.abs(heapSlope) < 0.2, `${heapSlope}`);
  t.end();
});

t.test('nothing was tried', (t) => {
  finds(t, (run) => void run.attempts.splice(0), /no attack/);
  finds(t, (run) => void run.quiet.splice(0), /no honest request/);
  finds(t, (run) => void run.attackRun.splice(0), /no honest request/);
  finds(t, (run) => void (run.transactions.accepted = 0), /no transaction/);
  t.end();
});

t.test('attacks that go too far', (t) => {
  const loose = (run: Run) => {
    for (const attempt of run.attempts) attempt.contained = attempt.attack !== 'loop';
  };
  finds(t, loose, /^uncontained: loop: CPU_LIMIT after/);
  t.end();
});

t.test('recovery that is late or does not come', (t) => {
  const first = (run: Run, change: Partial<Run['recoveries'][number]>) => {
    const [recovery] = run.recoveries;
    if (recovery === undefined) throw new Error('no recovery in the run');
    Object.assign(recovery, change);
  };
  finds(t, (run) => first(run, { sameMs: 1_001 }), /recovery of the same plugin is 1001 ms/);
  finds(t, (run) => first(run, { otherMs: 1_001 }), /recovery of another plugin is 1001 ms/);
  finds(t, (run) => first(run, { sameMs: null, wrong: ['503'] }), /no honest call was served after loop: 503/);
  finds(t, (run) => first(run, { otherMs: null }), /no honest call was served after loop/);

  const backedOff = goodRun();
  first(backedOff, { sameMs: 3_000, backedOff: true });
  t.same(judge(backedOff).broken, [], 'a plugin that is backed off is meant to be refused');
  t.end();
});

t.test('honest requests that are slowed or fail', (t) => {
  const slow = (run: Run, times: number) => {
    for (const sample of run.attackRun) if (sample.kind === 'REST, read') sample.tookMs *= times;
  };
  t.same(judge(withChange((run) => slow(run, 2.9))).broken, []);
  const { broken } = judge(withChange((run) => slow(run, 3.2)));
  t.match(broken, [/p99 of REST, read is 3\.2 times/, /p99 of all is 3\.2 times/]);
  finds(t, (run) => run.failures.push('a 503', 'a 503'), /honest requests failed, 2: a 503/);

  const few = withChange((run) => {
    slow(run, 9);
    run.quiet.splice(0, run.quiet.length, ...run.quiet.filter(({ at }) => at < 10));
  });
  t.same(judge(few).broken, [], 'of ten requests no p99 is told');
  t.ok(judge(few).comparisons.every(({ ratio }) => ratio === null));
  t.end();

  function withChange(change: (run: Run) => void): Run {
    const run = goodRun();
    change(run);
    return run;
  }
});

t.test('transactions that the chain has otherwise', (t) => {
  for (const what of ['lost', 'doubled', 'gaps', 'wrong'] as const) {
    finds(t, (run) => run.transactions[what].push('one'), /transactions were lost, doubled/);
  }
  t.end();
});

t.test('a server that leaks, leaves something behind, fails or ends', (t) => {
  finds(t, leak('data', 0.7), /the heap grows by 0\.\d MiB a minute/);
  finds(t, leak('beside', 7), /the memory beside the heap grows by [67]\.\d MiB a minute/);
  finds(t, (run) => run.looks.splice(0), /the main process .* was never seen/);
  finds(t, (run) => run.collections.splice(11), /what the main process holds was seen only 11 times/);
  finds(t, (run) => run.left.push('77 node'), /a process is left: 77 node/);
  finds(t, (run) => void (run.serverEnd = 'by itself, with null'), /the server ended: by itself/);
  finds(t, (run) => void run.errors.set('oh', 3), /logged 3 times: oh/);

  const short = goodRun();
  short.looks.splice(120);
  short.collections.splice(4);
  leak('data', 50)(short);
  leak('beside', 50)(short);
  t.same(judge(short).broken, [], 'a minute tells no trend');
  t.equal(judge(short).heapSlope, null);
  t.end();
});
