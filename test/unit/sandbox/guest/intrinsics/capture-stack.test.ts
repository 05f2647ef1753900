import { runInNewContext } from 'node:vm';
import t from 'tap';
import { tolerateFrozenTargets } from '../../../../../sandbox/guest/intrinsics/removed.ts';

t.test('what cannot take a stack goes without one, and all else has its own', (t) => {
  const realm = runInNewContext('globalThis') as typeof globalThis;
  tolerateFrozenTargets(realm);
  const run = (code: string) => runInNewContext(code, realm) as unknown;
  t.equal(run('const frozen = Object.freeze({}); Error.captureStackTrace(frozen); frozen.stack'), undefined);
  t.equal(run('Error.captureStackTrace(Object.freeze(function () {}))'), undefined);
  t.match(
    run('function made() { const own = {}; Error.captureStackTrace(own); return own.stack; } made()'),
    /^Error\n +at made/,
  );
  t.match(
    run(
      'function outer() { return inner(); } function inner() { const own = {}; Error.captureStackTrace(own, inner); return own.stack; } outer()',
    ),
    /^Error\n +at outer/,
  );
  t.throws(() => run('Error.captureStackTrace(5)'), { name: 'TypeError' });
  t.equal(run("Object.getOwnPropertyDescriptor(Error, 'captureStackTrace').enumerable"), false);
  t.end();
});
