import t from 'tap';
import { ReusedGlobals } from '../../../../../sandbox/guest/reuse/reused-globals.ts';

// The language is this process's own here: the real thing is tried in isolates, see isolate-reuse.test.ts.
t.test('what cannot be frozen is compared, and what was matched last is forgotten', (t) => {
  const sealed: string[] = [];
  const part = (name: string) => ({ seal: () => sealed.push(name) });
  const env: Record<string, string> = { A: '1' };
  const { stackTraceLimit } = Error;
  const [intrinsics, objects, names] = [part('intrinsics'), part('objects'), part('names')];
  const world = new ReusedGlobals({ names, objects, intrinsics, env });
  world.seal();
  t.strictSame(sealed, ['intrinsics', 'objects', 'names'], 'what belongs to the language first');
  t.ok(world.beginCall(), 'the first');
  /secret/.exec('a secret');
  const isServed = world.beginCall();
  const { lastMatch } = RegExp as unknown as { lastMatch: string };
  t.ok(isServed);
  t.equal(lastMatch, '');
  const changes: [change: () => void, restore: () => void][] = [
    [() => Object.assign(env, { B: '2' }), () => Reflect.deleteProperty(env, 'B')],
    [
      () => {
        Error.stackTraceLimit = stackTraceLimit + 1;
      },
      () => {
        Error.stackTraceLimit = stackTraceLimit;
      },
    ],
    [
      () => Object.defineProperty(RegExp.prototype, 'planted', { value: 1, configurable: true }),
      () => Reflect.deleteProperty(RegExp.prototype, 'planted'),
    ],
  ];
  for (const [change, restore] of changes) {
    change();
    t.notOk(world.beginCall());
    restore();
    t.ok(world.beginCall());
  }
  t.equal(Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.configurable, false);
  t.end();
});
