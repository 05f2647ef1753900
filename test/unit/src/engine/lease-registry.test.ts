import t from 'tap';
import { LeaseRegistry } from '../../../../src/engine/lease-registry.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../../../../src/store/lease.ts';
import type { Store } from '../../../../src/store/store.ts';
import { present } from '../../../support/engine-world.ts';

/** Leases that the test gives and takes away. */
class FakeLeases implements Leases {
  readonly lastsMs: number;
  answer: LeaseAnswer | Error | null = null;
  lost: string[] | Error = [];
  asked = 0;
  renewals = 0;
  readonly released: Lease[] = [];
  #token = 0;

  constructor(lastsMs: number) {
    this.lastsMs = lastsMs;
  }

  async acquire(name: string): Promise<LeaseAnswer> {
    this.asked += 1;
    if (this.answer instanceof Error) throw this.answer;
    if (this.answer !== null) return this.answer;
    this.#token += 1;
    return { kind: 'taken', lease: { name, token: this.#token } };
  }

  async renew(leases: readonly Lease[]): Promise<Lease[]> {
    this.renewals += 1;
    const { lost } = this;
    if (lost instanceof Error) throw lost;
    return leases.filter(({ name }) => !lost.includes(name));
  }

  async release(leases: readonly Lease[]): Promise<void> {
    this.released.push(...leases);
  }
}

function keeperOver(leases: Leases, elapsed = () => performance.now()): LeaseRegistry {
  const writeUnder: Store['writeUnder'] = (lease) => Promise.reject(new LeaseLost(lease));
  return new LeaseRegistry({ store: { leases, writeUnder }, elapsed, log: createLog('silent') });
}

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error('not within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

t.test('a lease is asked for once, also by many at the same time', async (t) => {
  const leases = new FakeLeases(Number.POSITIVE_INFINITY);
  const keeper = keeperOver(leases);
  const [one, two] = await Promise.all([keeper.hold('lane'), keeper.hold('lane')]);
  t.equal(one, two);
  t.equal(await keeper.hold('lane'), one);
  t.equal(leases.asked, 1);
  t.equal(keeper.size, 1);
  t.ok(one?.isLive());
  await t.rejects(
    present(one).write(async () => 1),
    { name: 'LeaseLost' },
  );
});

t.test('what another has is not asked for again before its time, unless something was heard', async (t) => {
  const leases = new FakeLeases(1000);
  let now = 0;
  const keeper = keeperOver(leases, () => now);
  leases.answer = { kind: 'elsewhere', forMs: 400 };
  t.equal(await keeper.hold('lane'), undefined);
  now = 399;
  t.equal(await keeper.hold('lane'), undefined);
  t.equal(leases.asked, 1);
  t.equal(keeper.elsewhereMs('lane'), 1);
  keeper.askAgain('lane');
  t.equal(keeper.elsewhereMs('lane'), 0);
  await keeper.hold('lane');
  t.equal(leases.asked, 2);
  now = 799;
  leases.answer = null;
  t.ok(await keeper.hold('lane'));
  await keeper.close();
});

t.test('a lease is live only as long as the store was surely asked to keep it', async (t) => {
  const leases = new FakeLeases(60_000);
  let now = 0;
  const keeper = keeperOver(leases, () => now);
  const first = present(await keeper.hold('lane'));
  now = 59_999;
  t.ok(first.isLive());
  now = 60_000;
  t.notOk(first.isLive(), 'it was not renewed in time');
  const second = present(await keeper.hold('lane'));
  t.not(second, first);
  t.ok(second.isLive());
  t.notOk(first.isLive(), 'a new one does not bring the old one back');
  await first.release();
  t.ok(second.isLive());
  await keeper.close();
  t.strictSame(leases.released, [{ name: 'lane', token: 2 }]);
});

t.test('leases are renewed; one that is lost ends, the others go on', async (t) => {
  const leases = new FakeLeases(80);
  let now = 0;
  const keeper = keeperOver(leases, () => now);
  t.teardown(() => keeper.close());
  const [kept, lost] = [present(await keeper.hold('kept')), present(await keeper.hold('lost'))];
  const renewedTwice = async () => {
    const { renewals } = leases;
    // The second begins after the first has ended.
    await until(() => leases.renewals > renewals + 1);
  };
  leases.lost = ['lost'];
  await until(() => !lost.isLive());
  t.equal(keeper.size, 1);
  now = 79;
  await renewedTwice();
  now = 158;
  t.ok(kept.isLive(), 'it was renewed at 79');
  leases.lost = new Error('the database is away');
  await renewedTwice();
  now = 300;
  t.notOk(kept.isLive());
  leases.lost = [];
  t.ok(await keeper.hold('kept'), 'and is taken anew');
});

t.test('a failure to ask reaches the one who asked, and is not remembered', async (t) => {
  const leases = new FakeLeases(Number.POSITIVE_INFINITY);
  const keeper = keeperOver(leases);
  leases.answer = new Error('the database is away');
  await t.rejects(keeper.hold('lane'), { message: 'the database is away' });
  leases.answer = null;
  t.ok(await keeper.hold('lane'));
});

t.test('the end gives everything back, also what was being asked for, and takes no more', async (t) => {
  const leases = new FakeLeases(60_000);
  const keeper = keeperOver(leases);
  const held = present(await keeper.hold('one'));
  await held.release();
  await held.release();
  t.equal(leases.released.length, 1);
  await keeper.hold('two');
  const asking = keeper.hold('three');
  await keeper.close();
  await keeper.close();
  t.notOk((await asking)?.isLive());
  t.equal(await keeper.hold('four'), undefined);
  t.strictSame(
    leases.released.map(({ name }) => name),
    ['one', 'two', 'three'],
  );
});

t.test('a lease that cannot be given back expires; the end goes on', async (t) => {
  const leases = new FakeLeases(Number.POSITIVE_INFINITY);
  leases.release = () => Promise.reject(new Error('the database is away'));
  const keeper = keeperOver(leases);
  await keeper.hold('lane');
  await keeper.close();
  t.equal(keeper.size, 0);
});
