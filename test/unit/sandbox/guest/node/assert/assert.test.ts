import node from 'node:assert';
import { inspect } from 'node:util';
import t from 'tap';
import { createAssert } from '../../../../../../sandbox/guest/lazy/assert.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

/** Any of its functions may be called with anything. */
type Assertion = (...args: unknown[]) => unknown;
type Name = Exclude<keyof typeof node, 'strict'>;
type Module = Assertion & Record<Name, Assertion> & { strict: Record<Name, Assertion> & { strict?: unknown } };
const ours = createAssert(inspect) as unknown as Module;
const theirs = node as unknown as Module;

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
  t.throws(() => ours.deepEqual({ a: 1 }, { a: 2 }), /loosely deep-equal[^]*a: 1[^]*should loosely deep-equal[^]*a: 2/);
  t.throws(() => ours.notDeepStrictEqual({ a: 1 }, { a: 1 }), /not to be strictly deep-equal to:[^]*a: 1/);
  t.throws(() => ours(0), { code: 'ERR_ASSERTION', actual: 0, expected: true, operator: '==', generatedMessage: true });
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
