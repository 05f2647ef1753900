import t from 'tap';
import { Drain } from '../../../../../src/http/limits/drain.ts';

t.test('with nothing under way it is over at once', async (t) => {
  const drain = new Drain();
  t.notOk(drain.isDraining);
  await drain.start(60_000);
  t.ok(drain.isDraining);
});

t.test('it ends with the last request under way, not before and not twice', async (t) => {
  const drain = new Drain();
  drain.began();
  drain.began();
  drain.ended();
  drain.began();
  let isOver = false;
  const over = Promise.all([drain.start(60_000), drain.start(60_000)]).then(() => {
    isOver = true;
  });
  drain.ended();
  await new Promise(setImmediate);
  t.notOk(isOver);
  drain.ended();
  await over;
  t.ok(isOver);
});

t.test('it ends with its grace when a request does not', async (t) => {
  const drain = new Drain();
  drain.began();
  await drain.start(5);
  drain.ended();
  t.ok(drain.isDraining);
});

t.test('answers without an end of their own are told when it starts', async (t) => {
  const drain = new Drain();
  t.notOk(drain.signal.aborted);
  await drain.start(0);
  t.ok(drain.signal.aborted);
});
