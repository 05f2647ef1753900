import t from 'tap';
import {
  answersInTime,
  confirmRefusal,
  type EndpointOpinion,
  isCorroborated,
  medianBy,
  medianOf,
  proofByOpinions,
} from '../../../../src/chains/quorum.ts';
import type { ReadFromEndpoint } from '../../../../src/egress/rpc/rpc-client.ts';

t.test('the middle of what is told, of two the one that the caller names', async (t) => {
  t.equal(medianOf([9n, 1n, 5n], 'lower'), 5n);
  t.equal(medianOf([9n, 1n, 5n], 'higher'), 5n);
  t.equal(medianOf([9n, 1n], 'lower'), 1n);
  t.equal(medianOf([9n, 1n], 'higher'), 9n);
  t.equal(medianOf([7n], 'lower'), 7n);
  t.equal(medianOf([7n], 'higher'), 7n);
  t.equal(medianOf([], 'lower'), undefined);
  t.equal(medianOf([], 'higher'), undefined);
  t.equal(medianOf([2n ** 200n, 2n ** 200n + 1n, 1n], 'lower'), 2n ** 200n, 'exact beyond what a float holds');
  t.same(
    medianBy([{ fee: 3n }, { fee: 1n }], 'lower', ({ fee }) => fee),
    { fee: 1n },
  );
});

t.test('those that answer well and in time count, in their order', async (t) => {
  const { promise: hangs, resolve } = Promise.withResolvers<string>();
  const late = new Promise<string>((done) => setImmediate(() => done('a')));
  const fails = Promise.reject<string>(new Error('broken'));
  t.same(await answersInTime([late, hangs, fails, Promise.resolve('b')], { withinMs: 50 }), ['a', 'b']);
  resolve('c');
  t.same(await answersInTime([late, hangs]), ['a', 'c'], 'nothing is waited for where all have answered');
  t.same(await answersInTime([]), []);
});

t.test('what is enough ends the wait', async (t) => {
  const { promise: hangs, resolve } = Promise.withResolvers<number>();
  t.same(await answersInTime([hangs, Promise.resolve(1)], { withinMs: 600_000, isEnough: (one) => one === 1 }), [1]);
  resolve(2);
});

t.test('of what a block shows, who shows it outweighs who denies it, and silence weighs nothing', async (t) => {
  const cases: [EndpointOpinion[], boolean][] = [
    [[], true],
    [['none'], true],
    [['other', 'none'], false],
    [['none', 'same'], true],
    [['other', 'same'], true],
  ];
  for (const [opinions, holds] of cases) t.equal(isCorroborated(opinions), holds, opinions.join());
});

t.test('that something will never happen needs two that show it, and none that denies it', async (t) => {
  const cases: [EndpointOpinion[], ReturnType<typeof proofByOpinions>][] = [
    [['same', 'none'], 'unproved'],
    [['same', 'none', 'same'], 'shown'],
    [['same', 'other', 'same'], 'denied'],
  ];
  for (const [opinions, standing] of cases) t.equal(proofByOpinions(opinions), standing, opinions.join());
});

t.test('a refusal needs a second one where there are several endpoints, and none that lets pass', async (t) => {
  const NOBODY: ReadFromEndpoint = () => Promise.reject(new Error('not asked'));
  const ready = { kind: 'ready' };
  const no = { kind: 'refused', reason: 'no' };
  const poor = { kind: 'parked', reason: 'poor' };
  const fails = new Error('broken');
  const alone = { kind: 'parked', reason: /^no \(by one endpoint/ };
  type Decided = { kind: string; reason?: string };
  const cases: [first: Decided, all: (Decided | Error)[], held: object][] = [
    [ready, [no, no], ready],
    [no, [no], no],
    [no, [fails], no],
    [no, [no, fails], alone],
    [no, [fails, fails], alone],
    [no, [poor, fails], poor],
    [no, [no, no], no],
    [no, [no, fails, no], no],
    [no, [no, no, ready], ready],
    [poor, [poor, no], { kind: 'parked' }],
    [poor, [no, fails], poor],
    [poor, [no, no, poor], no],
    [poor, [poor, ready], ready],
  ];
  for (const [index, [first, all, held]] of cases.entries()) {
    const told = all.values();
    const decideOn = async () => {
      const { value } = told.next();
      if (value === undefined || value instanceof Error) throw fails;
      return value;
    };
    const rpc = {
      endpointCount: all.length,
      onAll: <T>(use: (read: ReadFromEndpoint) => Promise<T>) => all.map(() => use(NOBODY)),
    };
    t.match(await confirmRefusal(first, rpc, decideOn), held, `case ${index}`);
  }
});
