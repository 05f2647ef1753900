import t from 'tap';
import { ChangeWait } from '../../../../src/services/change-wait.ts';

/** A wait, and a function that reports a change to it. */
function waitOn(signal: AbortSignal = new AbortController().signal) {
  const listeners = new Set<() => void>();
  const wait = new ChangeWait((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, signal);
  const change = () => {
    for (const listener of listeners) listener();
  };
  return { wait, listeners, change };
}

t.test('a wait lasts for its pause', async (t) => {
  const began = performance.now();
  await waitOn().wait.next(20);
  t.ok(performance.now() - began >= 19);
});

t.test('a change ends it, also one that came between two waits', async (t) => {
  const { wait, change } = waitOn();
  const waiting = wait.next(600_000);
  change();
  await waiting;
  await t.resolves(wait.next(1), 'the change is used up');
  change();
  await t.resolves(wait.next(600_000));
});

t.test('an abort ends it', async (t) => {
  const abort = new AbortController();
  const { wait } = waitOn(abort.signal);
  const waiting = wait.next(600_000);
  abort.abort();
  await t.resolves(waiting);
  await t.resolves(wait.next(600_000));
});

t.test('a pause beyond what a timer can hold does not end at once', async (t) => {
  const { wait, change } = waitOn();
  let ended = false;
  const waiting = wait.next(Number.MAX_SAFE_INTEGER).then(() => {
    ended = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
  t.notOk(ended);
  change();
  await waiting;
});

t.test('closed, it listens no more; twice is fine', async (t) => {
  const { wait, listeners } = waitOn();
  t.equal(listeners.size, 1);
  wait.close();
  wait.close();
  t.equal(listeners.size, 0);
});
