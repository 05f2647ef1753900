import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { fc, runsOf } from '../../../../../test/support/properties.ts';
import { createStructuredClone } from '../../../../guest/globals/structured-clone.ts';

const structuredClone = createStructuredClone({
  copy: (value) => (value instanceof Blob ? new Blob([value]) : undefined),
});

t.test('copies what the engine copies', (t) => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
  });
  fc.assert(
    // Compared without being printed: an invalid date has no text that could be shown of it.
    fc.property(anything, (value) => isDeepStrictEqual(structuredClone(value), globalThis.structuredClone(value))),
    { numRuns: runsOf(200), examples: [[new Date(Number.NaN)]] },
  );
  for (const value of [
    /a/gi,
    new Date(5),
    Object(5),
    Object('s'),
    Object(true),
    Object(5n),
    new Uint8Array([1, 2]).buffer,
    new DataView(new ArrayBuffer(4), 1, 2),
  ]) {
    t.strictSame(structuredClone(value), globalThis.structuredClone(value));
  }
  t.end();
});

t.test('keeps cycles, shared parts and shared buffers', (t) => {
  const part = { a: 1 };
  const cycle: Record<string, unknown> = { part, again: part, map: new Map(), set: new Set() };
  (cycle['map'] as Map<unknown, unknown>).set(cycle, cycle);
  (cycle['set'] as Set<unknown>).add(cycle);
  const copy = structuredClone(cycle) as typeof cycle;
  t.not(copy, cycle);
  t.not(copy['part'], part);
  t.equal(copy['part'], copy['again']);
  t.equal((copy['map'] as Map<unknown, unknown>).get(copy), copy);
  t.ok((copy['set'] as Set<unknown>).has(copy));
  const { buffer } = new Uint8Array([1, 2, 3, 4]);
  const [left, right] = structuredClone([new Uint8Array(buffer, 0, 2), new Uint16Array(buffer, 2, 1)]) as [
    Uint8Array,
    Uint16Array,
  ];
  t.ok(Object.is(left.buffer, right.buffer));
  t.strictSame([left.length, right.length], [2, 1]);
  t.end();
});

t.test('errors keep their kind, message, stack and cause', (t) => {
  const error = new TypeError('m', { cause: new RangeError('c') });
  const copy = structuredClone(error) as TypeError;
  t.ok(copy instanceof TypeError);
  t.match(copy, { name: 'TypeError', message: 'm', stack: error.stack });
  t.ok(copy.cause instanceof RangeError);
  t.equal((structuredClone(Object.assign(new Error('m'), { name: 'Own' })) as Error).name, 'Error');
  t.end();
});

t.test('refuses what cannot be copied', (t) => {
  for (const bad of [() => 1, Symbol('s'), { a: () => 1 }, Promise.resolve(), new WeakMap(), new WeakSet()]) {
    t.throws(() => structuredClone(bad), { name: 'DataCloneError', code: 25 });
  }
  t.strictSame(structuredClone({}, { transfer: [] }), {});
  t.end();
});

t.test('buffers are handed on, once all is copied', async (t) => {
  const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
  const given = {
    view: new Uint8Array(buffer, 1, 2),
    words: new DataView(buffer, 2),
    buffer,
    other: new Uint8Array([9]),
  };
  const copy = structuredClone(given, { transfer: [buffer] }) as typeof given;
  t.ok(buffer.detached);
  t.strictSame([copy.view, copy.words.byteLength, copy.other], [new Uint8Array([2, 3]), 2, new Uint8Array([9])]);
  t.equal(copy.view.buffer, copy.buffer);
  t.equal(copy.words.buffer, copy.buffer);
  t.equal(given.other.length, 1);
  const kept = new ArrayBuffer(2);
  const failing: [unknown, unknown[]][] = [
    [{ kept, bad: () => 1 }, [kept]],
    [kept, [kept, kept]],
    [kept, [{}]],
    [buffer, []],
    [given.view, []],
    [1, [buffer]],
  ];
  for (const [value, transfer] of failing) {
    t.throws(() => structuredClone(value, { transfer }), { name: 'DataCloneError' });
  }
  t.notOk(kept.detached, 'nothing is taken where the copy fails');
  t.throws(() => (structuredClone as () => unknown)(), TypeError);
  t.equal(await (structuredClone({ blob: new Blob(['x']) }) as { blob: Blob }).blob.text(), 'x');
});
