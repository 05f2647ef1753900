import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { AppError, StoreUnavailable } from '../../../../../src/domain/errors.ts';
import { BodyTurns, type GroupTransactions, WriterQueue } from '../../../../../src/store/sqlite/writer-queue.ts';
import { BodyGuard } from '../../../../../src/store/write-body-guard.ts';

/** Real SQLite transactions. `onTheWay` is the flush. */
function transactionsOf(database: DatabaseSync, onTheWay: () => Promise<void> = async () => {}): GroupTransactions {
  return {
    begin: () => database.exec('begin immediate'),
    commit: () => database.exec('commit'),
    flush: onTheWay,
    undo() {
      if (database.isOpen && database.isTransaction) database.exec('rollback');
    },
    ready: async () => {},
  };
}

/** Time stands still, so that a commit takes everything that has come, even on a slow machine. */
const still = { ...systemClock, elapsed: () => 0 };

/** A queue over a table of numbers. The database itself counts the commits. */
function open(t: Test, clock = still, given: (database: DatabaseSync) => GroupTransactions = transactionsOf) {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => {
    if (database.isOpen) database.close();
  });
  database.exec('create table things (id integer primary key) strict');
  const queue = new WriterQueue(database, given(database), new BodyGuard(), clock);
  const insert = (id: number) => database.prepare('insert into things values (?)').run(id);
  const ids = () =>
    database
      .prepare('select id from things order by id')
      .all()
      .map(({ id }) => id);
  return { database, queue, insert, ids };
}

t.test('bodies that come together share a commit, each with its own end', async (t) => {
  const { database, queue, insert, ids } = open(t);
  const order: string[] = [];
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map((id) =>
      queue
        .run(async () => {
          insert(id);
          order.push(`in ${id} ${database.isTransaction}`);
          if (id === 2) throw new Error('two');
          return id;
        })
        .finally(() => order.push(`end ${id} ${database.isTransaction}`)),
    ),
  );
  t.strictSame(order, ['in 1 true', 'in 2 true', 'in 3 true', 'end 1 false', 'end 2 false', 'end 3 false']);
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.strictSame(ids(), [1, 3]);
});

t.test('a group ends after its time, and the loop has its turn', async (t) => {
  let elapsed = 0;
  const { queue, insert, ids } = open(t, { now: Date.now, elapsed: () => elapsed });
  let turns = 0;
  let counting = true;
  const count = () => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  const bodies = Array.from({ length: 20 }, (_, id) =>
    queue.run(async () => {
      insert(id);
      elapsed += 1;
    }),
  );
  setImmediate(count);
  await Promise.all(bodies);
  counting = false;
  t.equal(ids().length, 20);
  t.ok(turns >= 3, `${turns} turns in 20 ms of bodies`);
});

t.test('only a body that takes long pauses, however long ago the one before it was', async (t) => {
  let elapsed = 0;
  const { queue } = open(t, { now: Date.now, elapsed: () => elapsed });
  await queue.run(async () => undefined);
  elapsed = 1000;
  t.equal(await queue.run(async () => queue.pause() === undefined), true);
  await queue.run(async () => {
    await Promise.resolve();
    elapsed += 5;
    const paused = queue.pause();
    t.ok(paused instanceof Promise);
    await paused;
    t.equal(queue.pause(), undefined);
  });
});

t.test('bodies of one turn share its time', async (t) => {
  let elapsed = 0;
  const { queue } = open(t, { now: Date.now, elapsed: () => elapsed });
  const first = queue.run(async () => {
    elapsed += 4;
  });
  const second = queue.run(async () => {
    await Promise.resolve();
    elapsed += 1;
    return queue.pause() instanceof Promise;
  });
  await first;
  t.equal(await second, true);
});

t.test('the bodies of a long commit are told of it in portions, in their order', async (t) => {
  const { queue } = open(t);
  const told: number[] = [];
  const toldPerTurn: number[] = [];
  const bodies = Array.from({ length: 20 }, async (_, id) => {
    await queue.run(async () => undefined);
    told.push(id);
  });
  let isCounting = true;
  const count = () => {
    toldPerTurn.push(told.length);
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(bodies);
  isCounting = false;
  t.strictSame(
    told,
    bodies.map((_, id) => id),
  );
  t.strictSame(
    [...new Set(toldPerTurn)].filter((count) => count > 0 && count < 20),
    [8, 16],
  );
});

t.test('a body that awaits something else is undone, and holds nobody up', async (t) => {
  const { queue, insert, ids } = open(t);
  const endless = queue.run(async () => {
    insert(1);
    await new Promise(() => {});
  });
  const after = queue.run(async () => insert(2));
  await t.rejects(endless, { message: 'A write body awaited something other than its writer; it was undone' });
  await after;
  const slow = queue.run(async () => {
    insert(3);
    await nextTurn();
    await nextTurn();
  });
  await t.rejects(slow, /awaited something other/);
  t.strictSame(ids(), [2]);
});

t.test('when the database gives a transaction up, nobody of the group is told it was kept', async (t) => {
  const { database, queue, insert, ids } = open(t);
  const outcomes = await Promise.allSettled([
    queue.run(async () => insert(1)),
    // On a full disk SQLite rolls back the whole transaction by itself.
    queue.run(async () => database.exec('rollback')),
    queue.run(async () => insert(3)),
  ]);
  t.strictSame(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'kept')),
    ['UNAVAILABLE', 'UNAVAILABLE', 'kept'],
  );
  t.strictSame(ids(), [3]);
});

t.test('a database that cannot be written refuses each body and stays usable', async (t) => {
  const { database, queue, insert, ids } = open(t);
  database.exec('pragma query_only = on');
  await t.rejects(queue.run(async () => insert(1)));
  database.exec('pragma query_only = off');
  await queue.run(async () => insert(2));
  t.strictSame(ids(), [2]);
  await queue.drained();
  database.close();
  await t.rejects(
    queue.run(async () => insert(3)),
    { code: 'UNAVAILABLE', message: 'The database cannot be written' },
  );
});

t.test('nobody hears of an end before the commit has ended, also not whose body failed', async (t) => {
  const commits: PromiseWithResolvers<void>[] = [];
  const order: string[] = [];
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { queue, insert } = open(t, still, (database) =>
    transactionsOf(database, () => {
      order.push('commit');
      const commit = Promise.withResolvers<void>();
      commits.push(commit);
      isAsked();
      return commit.promise;
    }),
  );
  const first = queue.run(async () => insert(1)).then(() => order.push('first'));
  const failed = queue.run(async () => {
    insert(2);
    throw new Error('it saw the first');
  });
  const heard = failed.catch(() => order.push('failed'));
  await asked;
  const later = [3, 4].map((id) => queue.run(async () => insert(id)).then(() => order.push(`later ${id}`)));
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  t.strictSame(order, ['commit'], 'and no other group is committed meanwhile');
  commits[0]?.resolve();
  await Promise.all([first, heard]);
  const heardOf = () => order.filter((what) => what !== 'commit');
  t.strictSame(heardOf(), ['first', 'failed']);
  for (let turn = 0; turn < 1000 && commits.length < 2; turn += 1) await nextTurn();
  commits[1]?.resolve();
  await Promise.all(later);
  t.strictSame(heardOf().slice(2), ['later 3', 'later 4']);
  t.equal(commits.length, 2, 'what came meanwhile shares a commit');
});

t.test('bodies run while the commit before is flushed, and end after it', async (t) => {
  const flushes: PromiseWithResolvers<void>[] = [];
  const { database, queue, insert, ids } = open(t, still, (database) =>
    transactionsOf(database, () => {
      const flush = Promise.withResolvers<void>();
      flushes.push(flush);
      return flush.promise;
    }),
  );
  const ended: number[] = [];
  const begun: unknown[] = [];
  const put = (id: number) =>
    queue
      .run(async () => {
        begun.push(ids());
        insert(id);
      })
      .then(() => ended.push(id));
  const turns = async (isDone: () => boolean) => {
    for (let turn = 0; turn < 1000 && !isDone(); turn += 1) await nextTurn();
    t.ok(isDone());
  };
  const first = put(1);
  await turns(() => flushes.length === 1);
  const second = put(2);
  await turns(() => begun.length === 2);
  t.strictSame(begun, [[], [1]], 'it sees what is flushed now');
  t.equal(database.isTransaction, true);
  const third = put(3);
  flushes[0]?.resolve();
  await first;
  await turns(() => flushes.length === 2);
  t.strictSame(begun, [[], [1], [1, 2]], 'what came during the flush shares its commit');
  t.strictSame(ended, [1]);
  let isDrained = false;
  const drained = queue.drained().then(() => {
    isDrained = true;
  });
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  t.equal(isDrained, false, 'a flush is under way');
  flushes[1]?.resolve();
  await Promise.all([second, third, drained]);
  t.strictSame(ended, [1, 2, 3]);
});

t.test('nothing is kept of bodies that ran during a flush that failed', async (t) => {
  const flush = Promise.withResolvers<void>();
  let failure: Error | undefined;
  const { queue, insert, ids } = open(t, still, (database) => ({
    ...transactionsOf(database, async () => {
      await flush.promise.catch((cause: Error) => {
        failure = cause;
        throw cause;
      });
    }),
    commit() {
      if (failure !== undefined) throw failure;
      database.exec('commit');
    },
  }));
  const first = t.rejects(
    queue.run(async () => insert(1)),
    { code: 'UNAVAILABLE', cause: /EIO/ },
  );
  for (let turn = 0; turn < 1000 && ids().length === 0; turn += 1) await nextTurn();
  let hasRun = false;
  const second = t.rejects(
    queue.run(async () => {
      insert(2);
      hasRun = true;
    }),
    { code: 'UNAVAILABLE', cause: /EIO/ },
  );
  for (let turn = 0; turn < 1000 && !hasRun; turn += 1) await nextTurn();
  t.ok(hasRun);
  flush.reject(new Error('EIO'));
  await Promise.all([first, second]);
  t.strictSame(ids(), [1], 'whether the first is on disk is not known');
});

t.test('what a commit fails with is what its bodies fail with, in words of ours', async (t) => {
  const failures: Error[] = [new AppError('UNAVAILABLE', { reason: 'The disk failed' }), new Error('SQLITE_IOERR')];
  const { queue, insert } = open(t, still, (database) =>
    transactionsOf(database, async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    }),
  );
  const ask = (id: number) => queue.run(async () => insert(id));
  await t.rejects(ask(1), { code: 'UNAVAILABLE', message: 'The disk failed' });
  await t.rejects(ask(2), { code: 'UNAVAILABLE', message: 'The database cannot be written', cause: /IOERR/ });
  failures.push(new Error('SQLITE_FULL'));
  await t.rejects(ask(3), StoreUnavailable);
  await ask(4);
});

t.test('no body runs before the transactions are ready for its group', async (t) => {
  let isReady = false;
  const seen: boolean[] = [];
  const { queue, insert } = open(t, still, (database) => ({
    ...transactionsOf(database, async () => {
      isReady = false;
    }),
    async ready() {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      isReady = true;
    },
  }));
  for (let id = 0; id < 4; id += 1) {
    await queue.run(async () => {
      seen.push(isReady);
      insert(id);
    });
  }
  t.strictSame(seen, [true, true, true, true]);
});

t.test('drained means that all have ended', async (t) => {
  const { queue, insert } = open(t);
  await queue.drained();
  let ended = 0;
  for (let id = 0; id < 50; id += 1) {
    void queue
      .run(async () => insert(id))
      .then(() => {
        ended += 1;
      });
  }
  await Promise.all([queue.drained(), queue.drained()]);
  t.equal(ended, 50);
});

t.test('body turns', async (t) => {
  /** The turns of a body, over a clock that the test moves. It stands at 0 when the body starts. */
  function begun(turnBegan = 0) {
    const at = { ms: 0 };
    const abandoned: string[] = [];
    const turns = new BodyTurns({ elapsed: () => at.ms }, turnBegan, () => void abandoned.push('abandoned'));
    turns.overdue.catch(() => undefined);
    return { at, abandoned, turns };
  }

  t.test('a body goes on without a pause for 5 ms, then the event loop has a turn', async (t) => {
    const { at, abandoned, turns } = begun();
    at.ms = 4;
    t.equal(turns.pause(), undefined);
    at.ms = 5;
    let hadTurn = false;
    setImmediate(() => {
      hadTurn = true;
    });
    const paused = turns.pause();
    t.equal(turns.pause(), paused, 'statements that were asked for together wait together');
    await paused;
    t.ok(hadTurn);
    t.equal(turns.pause(), undefined, 'the next turn has its own time');
    turns.end();
    await nextTurn();
    await nextTurn();
    t.same(abandoned, [], 'a pause is no other wait');
  });

  t.test('a body that starts late in a turn has only the rest of it', async (t) => {
    const { at, turns } = begun(-3);
    at.ms = 1;
    t.equal(turns.pause(), undefined);
    at.ms = 2;
    await turns.pause();
    t.equal(turns.began, 2, 'the next body starts in the turn after the pause');
    turns.end();
  });

  t.test('a body that waits for something else is overdue, also after a pause', async (t) => {
    const first = begun();
    await t.rejects(first.turns.overdue, /awaited something other than its writer/);
    t.same(first.abandoned, ['abandoned']);

    const later = begun();
    later.at.ms = 5;
    await later.turns.pause();
    t.same(later.abandoned, []);
    await t.rejects(later.turns.overdue, /awaited something other than its writer/);
  });

  t.test('a body that ends during a pause is not overdue', async (t) => {
    const { at, abandoned, turns } = begun();
    at.ms = 5;
    const paused = turns.pause();
    turns.end();
    await paused;
    await nextTurn();
    await nextTurn();
    t.same(abandoned, []);
  });
});
