import t from 'tap';
import { DOMException } from '../../../../../sandbox/guest/globals/dom-exception.ts';

t.test('is what the platform has', (t) => {
  for (const args of [[], ['m'], ['m', 'AbortError'], ['m', 'QuotaExceededError'], ['m', 'Own']] as [
    string?,
    string?,
  ][]) {
    const ours = new DOMException(...args);
    const native = new globalThis.DOMException(...args);
    t.strictSame(
      [ours.name, ours.message, ours.code, String(ours)],
      [native.name, native.message, native.code, String(native)],
    );
    t.equal(Object.prototype.toString.call(ours), '[object DOMException]');
    t.ok(ours instanceof Error);
  }
  const cause = new Error('c');
  t.match(new DOMException('m', { name: 'TimeoutError', cause }), { name: 'TimeoutError', code: 23, cause });
  t.equal(new DOMException('m', {}).name, 'Error');
  t.end();
});
