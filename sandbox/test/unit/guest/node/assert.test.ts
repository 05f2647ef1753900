import nodeAssert from 'node:assert';
import { inspect } from 'node:util';
import t from 'tap';
import { createAssert, createComparisons, createThrowing } from '../../../../guest/lazy/assert.ts';
import {
  AssertionError,
  comparisonText,
  samenessText,
  throwAssertionError,
} from '../../../../guest/node/assertion-error.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

t.test('assert', async (t) => {
  /** Any of its functions may be called with anything. */
  type Assertion = (...args: unknown[]) => unknown;
  type Name = Exclude<keyof typeof nodeAssert, 'strict'>;
  type Module = Assertion & Record<Name, Assertion> & { strict: Record<Name, Assertion> & { strict?: unknown } };
  const ours = createAssert(inspect) as unknown as Module;
  const theirs = nodeAssert as unknown as Module;

  /** Each as Node's message, with name and code. */
  const ATTEMPTS: Record<string, (module: Module) => unknown> = {
    passes: (a) => {
      a(1);
      a.ok(true);
      a.equal(1, '1');
      a.strictEqual(1, 1);
      a.deepEqual({ a: 1 }, { a: '1' });
      a.deepStrictEqual([{ a: 1 }], [{ a: 1 }]);
      a.notEqual(1, 2);
      a.notStrictEqual(1, '1');
      a.notDeepEqual({}, { a: 1 });
      a.notDeepStrictEqual([1], ['1']);
      a.partialDeepStrictEqual({ a: 1, b: 2 }, { a: 1 });
      a.match('abc', /b/);
      a.doesNotMatch('abc', /x/);
      a.ifError(null);
      a.throws(() => JSON.parse('{'));
      a.throws(() => JSON.parse('{'), SyntaxError);
      a.throws(() => JSON.parse('{'), /JSON/);
      a.throws(
        () => {
          throw Object.assign(new Error('text'), { code: 'C' });
        },
        { code: 'C', message: /ex/ },
      );
      a.throws(
        () => {
          throw new Error('x');
        },
        (error: unknown) => (error as Error).message === 'x',
      );
      a.doesNotThrow(() => {});
      a.strict.equal(1, 1);
    },
    'a message of one’s own': (a) => a.equal(1, 2, 'mine'),
    'an error of one’s own': (a) => a.strictEqual(1, 2, new RangeError('mine')),
    equal: (a) => a.equal(1, 2),
    notEqual: (a) => a.notEqual(1, 1),
    strictEqual: (a) => a.strictEqual(1, 2),
    'strictEqual of texts': (a) => a.strictEqual('a'.repeat(10), 'b'.repeat(10)),
    deepStrictEqual: (a) => a.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }),
    notStrictEqual: (a) => a.notStrictEqual(1, 1),
    fail: (a) => a.fail(),
    'fail with a message': (a) => a.fail('mine'),
    match: (a) => a.match('abc', /x/),
    doesNotMatch: (a) => a.doesNotMatch('abc', /b/),
    'no pattern': (a) => a.match('abc', 'b'),
    ifError: (a) => a.ifError(new Error('mine')),
    'nothing thrown': (a) => a.throws(() => {}),
    'nothing thrown, with a message': (a) => a.throws(() => {}, 'mine'),
    'no TypeError thrown': (a) => a.throws(() => {}, TypeError),
    'another error': (a) =>
      a.throws(() => {
        throw new RangeError('own');
      }, TypeError),
    'another text': (a) =>
      a.throws(() => {
        throw new Error('own');
      }, /other/),
    'an unwanted error': (a) =>
      a.doesNotThrow(() => {
        throw new Error('own');
      }),
    'an unwanted error, with a message': (a) =>
      a.doesNotThrow(() => {
        throw new Error('own');
      }, 'mine'),
    'no function': (a) => a.throws(5),
    rejects: (a) => a.rejects(Promise.reject(new TypeError('x')), TypeError),
    'nothing rejected': (a) => a.rejects(async () => 1),
    doesNotReject: (a) => a.doesNotReject(async () => 1),
    'an unwanted rejection': (a) => a.doesNotReject(Promise.reject(new Error('own'))),
    'no promise': (a) => a.rejects(5),
    'no promise returned': (a) => a.rejects(() => 5),
    'too few': (a) => a.strictEqual(1),
    'nothing at all': (a) => a.ok(),
    'strict is strict': (a) => a.strict.equal(1, '1'),
  };

  t.test('assertions hold and fail as in Node, in the same words', async (t) => {
    await sameAsNode(t, ours, theirs, ATTEMPTS);
  });

  t.test('the longer texts name both values', async (t) => {
    t.throws(
      () => ours.deepEqual({ a: 1 }, { a: 2 }),
      /loosely deep-equal[^]*a: 1[^]*should loosely deep-equal[^]*a: 2/,
    );
    t.throws(() => ours.notDeepStrictEqual({ a: 1 }, { a: 1 }), /not to be strictly deep-equal to:[^]*a: 1/);
    t.throws(() => ours(0), {
      code: 'ERR_ASSERTION',
      actual: 0,
      expected: true,
      operator: '==',
      generatedMessage: true,
    });
    t.throws(
      () =>
        ours.throws(
          () => {
            throw new Error('x');
          },
          { message: 'y' },
        ),
      /y/,
    );
    t.throws(
      () =>
        ours.throws(
          () => {
            throw new Error('x');
          },
          () => false,
        ),
      /validation function/,
    );
    t.throws(
      () =>
        ours.throws(() => {
          throw new Error('x');
        }, {}),
      { code: 'ERR_INVALID_ARG_VALUE' },
    );
    t.throws(() => ours.strictEqual({ a: 1 }, { a: 1 }), /same structure but are not reference-equal/);
    t.equal(ours.strict.strict, ours.strict);
  });
});

t.test('an error has what Node’s has', (t) => {
  const options = { message: 'm', actual: 1, expected: 2, operator: 'equal' };
  const ours = new AssertionError(options);
  const theirs = new nodeAssert.AssertionError(options);
  for (const name of ['name', 'code', 'message', 'actual', 'expected', 'operator', 'generatedMessage'] as const) {
    t.equal(ours[name], theirs[name], name);
  }
  t.equal(ours.toString(), theirs.toString());
  t.equal(new AssertionError({ actual: 1, expected: 2, operator: '==' }).message, '1 == 2');
  t.end();
});

t.test('values are compared line by line', (t) => {
  const show = String;
  t.equal(comparisonText('strictEqual', 1, 2, show), 'Expected values to be strictly equal:\n\n1 !== 2\n');
  t.equal(
    comparisonText('strictEqual', 'a\nb\nc', 'a\nx\nc', show),
    'Expected values to be strictly equal:\n+ actual - expected\n\n  a\n+ b\n- x\n  c\n',
  );
  t.match(comparisonText('deepStrictEqual', 'x\n'.repeat(300), 'y', show), /\n\+ x\n[^]*\n- y\n$/);
  t.equal(samenessText('notStrictEqual', 1, show), 'Expected "actual" to be strictly unequal to: 1');
  t.match(
    samenessText('notStrictEqual', {}, () => '{}'),
    /not to be reference-equal to "expected":\n\n\{\}\n/,
  );
  t.end();
});

t.test('each has its name, which its error begins with', (t) => {
  const comparisons = createComparisons(inspect, inspect);
  for (const [name, assertion] of Object.entries(comparisons)) t.equal(assertion.name, name);
  try {
    comparisons.strictEqual(1, 2);
  } catch (error) {
    t.match((error as Error).stack, /\n {4}at .*assert\.test\.ts/);
    t.notMatch((error as Error).stack, 'guest/node/assert/comparisons.ts');
  }
  t.throws(() => comparisons.match(5, /x/), { operator: 'match', message: /must be of type string/ });
  t.end();
});

t.test('an own message, an own error, or what was made of the values', (t) => {
  const failure = { operator: '==', actual: 1, expected: 2, generated: 'made', from: () => {} };
  t.throws(() => throwAssertionError({ ...failure, message: undefined }), {
    message: 'made',
    generatedMessage: true,
    actual: 1,
  });
  t.throws(() => throwAssertionError({ ...failure, message: 'own' }), {
    message: 'own',
    generatedMessage: false,
    operator: '==',
  });
  t.throws(() => throwAssertionError({ ...failure, message: (a, b) => `${String(a)} and ${String(b)}` }), {
    message: '1 and 2',
  });
  t.throws(() => throwAssertionError({ ...failure, message: new RangeError('own') }), RangeError);
  t.end();
});

t.test('thrown', async (t) => {
  const { throws, rejects } = createThrowing(inspect, inspect);
  const run = () => {
    throw Object.assign(new Error('text'), { code: 'C', inner: { a: 1 } });
  };

  t.test('what is thrown is judged by a pattern, an object, a class or a function', async (t) => {
    throws(run, /text/);
    throws(run, { code: 'C', inner: { a: 1 } });
    throws(run, new Error('text'));
    throws(run, (error: { code: string }) => error.code === 'C');
    t.throws(() => throws(run, { code: 'D' }), /\+ actual - expected/);
    t.throws(() => throws(run, (_: unknown) => 5), {
      message: /expected to return "true"\. Received 5[^]*Caught error/,
    });
    t.throws(() => throws(run, class Own {}), TypeError, 'a class that is no error is called');
    t.throws(() => throws(() => {}, undefined, new RangeError('own')), RangeError);
    await rejects(async () => run(), /text/);
    await t.rejects(
      rejects(async () => run(), /other/),
      /did not match the regular expression/,
    );
  });
});
