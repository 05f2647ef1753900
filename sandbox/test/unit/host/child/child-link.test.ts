/** Threat: a child that drowns the host's loop in frames, or a stranger who passes for one. */
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { eventually } from '../../../../../test/support/eventually.ts';
import { encodeFrame } from '../../../../frames.ts';
import { ChildDoor, ChildLink } from '../../../../host/child/child-link.ts';
import { KNOCK, UP } from '../../../../protocol.ts';

type Heard = [kind: number, call: number, text: string];

/** A link whose child is this test. */
async function setUp(t: Test, onFrame: (...frame: Heard) => void = () => {}) {
  const heard: Heard[] = [];
  const large: [kind: number, call: number, bytes: number][] = [];
  const errors: Error[] = [];
  const ended: number[] = [];
  const throttled = new Set<ChildLink>();
  const link = new ChildLink(
    {
      onFrame: (...frame) => {
        heard.push(frame);
        onFrame(...frame);
      },
      onLargeFrame: (kind, call, payload) => large.push([kind, call, payload.length]),
      onError: (error) => errors.push(error),
      onEnd: () => ended.push(heard.length),
    },
    throttled,
  );
  const door = new ChildDoor();
  door.expect(1, (socket) => link.attach(socket));
  const child = connect({ path: door.address.path });
  child.on('error', () => undefined);
  child.write(encodeFrame(KNOCK, 1, door.address.secret));
  t.teardown(() => {
    child.destroy();
    link.close();
    door.close();
  });
  await eventually(
    () => link.isAttached,
    (attached) => attached,
  );
  return { link, child, heard, large, errors, ended, throttled };
}

t.test('frames go down, frames come up, and the end comes after the last of them', async (t) => {
  const { link, child, heard, ended } = await setUp(t);
  const got = new Promise<Buffer>((resolve) => child.once('data', resolve));
  link.send(3, 9, 'text');
  t.same(await got, encodeFrame(3, 9, 'text'));
  child.end(Buffer.concat([encodeFrame(UP.LOG, 1, 'one'), encodeFrame(UP.LOG, 1, 'two')]));
  await eventually(
    () => ended.length,
    (times) => times === 1,
  );
  t.same([ended, heard.at(-1)], [[2], [UP.LOG, 1, 'two']]);
});

t.test('a frame that is too large for the loop holds the next ones back until it is parsed', async (t) => {
  const { link, child, heard, large, ended } = await setUp(t);
  child.end(Buffer.concat([encodeFrame(UP.LOG, 1, 'x'.repeat(20_000)), encodeFrame(UP.LOG, 2, 'next')]));
  await eventually(
    () => large.length,
    (count) => count === 1,
  );
  t.same(large, [[UP.LOG, 1, 20_000]]);
  t.ok(link.isHeld);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.same([heard, ended], [[], []]);
  link.goOn(() => heard.push([UP.LOG, 1, 'parsed']));
  await eventually(
    () => ended.length,
    (times) => times === 1,
  );
  t.same(heard, [
    [UP.LOG, 1, 'parsed'],
    [UP.LOG, 2, 'next'],
  ]);
});

t.test('what the owner cannot bear comes back to it as an error', async (t) => {
  const { child, errors } = await setUp(t, () => {
    throw new Error('unbearable');
  });
  child.write(encodeFrame(UP.LOG, 1, ''));
  await eventually(
    () => errors.length,
    (count) => count === 1,
  );
  t.match(errors, [{ message: 'unbearable' }]);
});

t.test('a frame that may not be is an error', async (t) => {
  const { child, errors } = await setUp(t);
  child.write(Buffer.alloc(100, 'noise'));
  await eventually(
    () => errors.length,
    (count) => count === 1,
  );
  t.match(errors, [{ name: 'ProtocolViolation' }]);
});

t.test('what a child does not read is counted', async (t) => {
  const { link } = await setUp(t);
  link.send(3, 1, 'x'.repeat(4_000_000));
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(link.backlogBytes > 1_000_000, `${link.backlogBytes}`);
});

t.test('a child that floods the loop waits, and the loop goes on', async (t) => {
  const { child, heard, throttled, link } = await setUp(t);
  const many = 100_000;
  const flood = Buffer.concat(Array.from({ length: many }, () => encodeFrame(UP.ENTER, 1, '')));
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (heard.length < many) setImmediate(turn);
  };
  turn();
  const began = performance.now();
  child.write(flood);
  await eventually(
    () => throttled.has(link),
    (waits) => waits,
  );
  await eventually(
    () => heard.length,
    (count) => count === many,
    30_000,
  );
  // 73 is the cost of one such frame.
  t.ok(performance.now() - began > (many * 73 - 262_144) / 4096 / 2, 'it takes its time');
  t.ok(turns > many / 500, `${turns} turns`);
});

t.test('nobody becomes a child without the secret, or in the place of another', async (t) => {
  const door = new ChildDoor();
  t.teardown(() => door.close());
  const taken: Socket[] = [];
  door.expect(1, (socket) => taken.push(socket));
  const { path, secret } = door.address;
  const isClosed = (bytes: Buffer) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ path });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(true));
      socket.write(bytes);
    });
  t.ok(await isClosed(encodeFrame(KNOCK, 1, 'x'.repeat(secret.length))));
  t.ok(await isClosed(encodeFrame(KNOCK, 2, secret)));
  t.ok(await isClosed(encodeFrame(KNOCK, 1, 'é'.repeat(secret.length / 2))));
  t.ok(await isClosed(encodeFrame(KNOCK, 1, `${secret}x`)));
  t.ok(await isClosed(Buffer.alloc(1000)));
  t.same(taken, []);
  const socket = connect({ path });
  socket.write(encodeFrame(KNOCK, 1, secret));
  await eventually(
    () => taken.length,
    (count) => count === 1,
  );
  for (const one of [socket, ...taken]) one.destroy();
});
