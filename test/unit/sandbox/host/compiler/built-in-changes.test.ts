import t from 'tap';
import { builtInChanges } from '../../../../../sandbox/host/compiler/built-in-changes.ts';

const positions = { mapped: (text: string) => text.replace('bundle.js', 'plugins/own.ts') };
const bundle = (start: string) => `var __isolayer_plugin__ = ${start}
  // node_modules/polyfill/index.js
  var require_polyfill = __commonJS({ "x"() {
      Array.prototype.flat = other;
  } });

  // own.ts
  String.prototype.atLoad = 1;
  if (!Array.prototype.findLast) {
    Array.prototype.findLast = other;
  } else {
    Array.prototype.own = other;
  }
  function handler() {
    Array.prototype.last = function() {
    };
    const same = Math.max === other;
    if (x) Math.random = () => 4;
  }
})();`;

t.test('assignments that would do nothing are found, with their places', (t) => {
  t.strictSame(builtInChanges(bundle('(() => {'), 'bundle.js', positions), [
    { target: 'Array.prototype.last', place: 'plugins/own.ts:15:5' },
    { target: 'Math.random', place: 'plugins/own.ts:18:12' },
  ]);
  t.strictSame(builtInChanges(bundle('(() => {"use strict";'), 'bundle.js', positions), []);
  t.end();
});
