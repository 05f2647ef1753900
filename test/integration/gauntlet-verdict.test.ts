/**
 * The gauntlet's judge notices every way to break a promise. Otherwise a run without complaints would prove nothing.
 */
import t, { type Test } from 'tap';
import { isBackOff } from '../load/gauntlet/answer.ts';
import { percentile, slopeOf } from '../load/gauntlet/figures.ts';
import { HONEST_KINDS, type HonestKind } from '../load/gauntlet/honest-load.ts';
import { describeGauntlet } from '../load/gauntlet/report.ts';
import { errorsIn } from '../load/gauntlet/server-log.ts';
import { type Evidence, judge } from '../load/gauntlet/verdict.ts';
import { isHeldUp } from '../load/gauntlet/watching.ts';

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

t.test('a heap that fills while it warms up, and one that each attack leaves a little more in', (t) => {
  const warm = goodRun();
  for (const collection of warm.collections) {
    collection.data -= (Math.max(0, 240_000 - collection.at) * 3 * MIB) / 60_000;
  }
  t.same(judge(warm).broken, [], 'what fills in the first half is no leak');

  // An attack each second, as on a machine without other load.
  const leaky = goodRun();
  leak('data', (60 * 30) / 1024)(leaky);
  // V8 drops all compiled code at once that has not run for long.
  for (const collection of leaky.collections) collection.heap -= collection.at > 360_000 ? 5 * MIB : 0;
  t.match(judge(leaky).broken, [/the heap grows by 1\.[5-9] MiB a minute/]);

  const shorter = goodRun();
  shorter.looks.splice(320);
  shorter.collections.splice(11);
  leak('beside', 7)(shorter);
  t.same(judge(shorter).broken, [], 'less than 24 MiB beside the heap may be chance');

  const compiling = goodRun();
  leak('heap', 5)(compiling);
  leak('rss', 5)(compiling);
  t.same(judge(compiling).broken, [], 'code and pages that V8 keeps for later are no leak');
  t.end();
});

t.test('the figures', (t) => {
  t.equal(percentile([5, 1, 4, 2, 3], 0.5), 3);
  t.equal(
    percentile(
      Array.from({ length: 100 }, (_, i) => i + 1),
      0.99,
    ),
    99,
  );
  t.ok(Number.isNaN(percentile([], 0.5)));
  const line = Array.from({ length: 20 }, (_, x) => ({ x, y: 3 * x }));
  t.equal(slopeOf(line), 3);
  t.equal(slopeOf(line.map((point) => (point.x % 5 === 0 ? { ...point, y: 1e9 } : point))), 3, 'wild points');
  t.equal(slopeOf([{ x: 1, y: 1 }]), 0);
  t.end();
});

t.test('errors in what a server wrote', (t) => {
  const output = [
    '{"level":"info","msg":"ready"}',
    '{"level":"error","msg":"a plugin is backed off","pluginId":"hostile-1"}',
    '{"level":"error","msg":"a plugin did not catch an error","pluginId":"hostile-2","err":{"message":"many"}}',
    '{"level":"error","msg":"a plugin did not catch an error","pluginId":"honest","err":{"message":"broken"}}',
    '{"level":"error","msg":"Something failed","err":{"message":"why"}}',
    '{"level":"error","msg":"Something failed","err":{"message":"why"}}',
    'TypeError: not a function',
    'Isolayer is ready at http://127.0.0.1:1',
  ].join('\n');
  t.same(
    [...errorsIn(output)],
    [
      ['a plugin did not catch an error: broken', 1],
      ['Something failed: why', 2],
      ['TypeError: not a function', 1],
    ],
  );
  t.end();
});

t.test('a back-off is told from other refusals', (t) => {
  const refusal = { status: 503, data: null, retryAfter: 4, tookMs: 1 };
  t.ok(isBackOff({ ...refusal, end: 'SERVICE_UNAVAILABLE', text: 'Plugin a is backed off for 4 s, because …' }));
  t.notOk(isBackOff({ ...refusal, end: 'SERVICE_UNAVAILABLE', text: 'No sandbox process became free' }));
  t.notOk(isBackOff({ ...refusal, end: 'threw', text: 'Plugin a is backed off' }), 'a plugin may say anything');
  t.end();
});

t.test('the report has the figures and each broken promise', (t) => {
  const evidence = goodRun();
  evidence.left.push('77 node');
  const result = {
    evidence,
    verdict: judge(evidence),
    rounds: 1,
    untried: ['a bomb that nobody threw'],
    backOffs: [1, 4],
    refused: 0,
    stallMs: { quiet: 2, attackRun: 12 },
    ownStallMs: { quiet: 1, attackRun: 3 },
    output: '',
  };
  const text = describeGauntlet(result);
  t.match(text, /attacks run +2 in 1 rounds\n/);
  t.match(text, /not tried +a bomb that nobody threw\n/);
  t.match(text, /recovery, same plugin +p50 90, p99 90, longest 90 ms, of 2\n/);
  t.match(text, /\nhardest on others: loop, honest p50 2 ms\n/);
  t.match(text, /back-offs +2, the longest 4 s\n/);
  t.match(text, /REST, read, p50\/p99 in ms +quiet 2\.\d\/2\.\d, attacked 2\.\d\/2\.\d: 1\.00×/);
  t.match(text, /heap, data, in MiB +40\.0 40\.3 40\.5 40\.0 .*; slope -?0\.\d\d MiB a minute\n/);
  t.match(text, /beside the heap +170\.0 171\.0 172\.0 .*; slope -?0\.\d\d MiB a minute\n/);
  t.match(text, /\nbroken: a process is left: 77 node$/);
  t.end();
});

t.test('only requests that were under way while the server collected at our bidding are left out', async (t) => {
  const pauses = [{ from: 100, to: 150 }];
  const heldUp = (at: number, tookMs: number) => isHeldUp({ at, tookMs }, pauses);
  t.strictSame([heldUp(90, 20), heldUp(110, 5), heldUp(140, 50), heldUp(50, 200)], [true, true, true, true]);
  t.strictSame([heldUp(50, 40), heldUp(150, 40), heldUp(300, 1)], [false, false, false]);
});
