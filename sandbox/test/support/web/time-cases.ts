import type { WebApi } from './web-cases.ts';

export const timers: WebApi = {
  standard: 'HTML 8.6 and 8.7',
  cases: {
    'arguments are handed on': `same(await new Promise((resolve) => setTimeout((...given) => resolve(given), 0, 1, 'b')), [1, 'b']);`,
    'delays of any kind': `await Promise.all([undefined, null, NaN, -5, '1', 'x', 0.5, {}, []].map((delay) => new Promise((resolve) => setTimeout(resolve, delay))));`,
    'cleared ones never run': `let ran = 0; const t = setTimeout(() => { ran++; }, 0); clearTimeout(t); const u = setTimeout(() => { ran++; }, 0); clearInterval(u); await turn(); await turn(); is(ran, 0); is(clearTimeout(t), undefined); clearTimeout(); clearTimeout(null); clearTimeout(-1); clearTimeout(1e9); clearTimeout({}); clearTimeout('x');`,
    'cleared by number': `let ran = 0; const t = setTimeout(() => { ran++; }, 0); clearTimeout(Number(t)); const u = setTimeout(() => { ran++; }, 0); clearTimeout(String(Number(u))); await turn(); is(ran, 0); ok(Number(t) > 0); ok(Number(u) !== Number(t));`,
    intervals: `let ran = 0; await new Promise((resolve) => { const i = setInterval((add) => { ran += add; if (ran === 6) { clearInterval(i); resolve(); } }, 0, 2); }); await turn(); is(ran, 6);`,
    'in the order of their delays': `const seen = []; setTimeout(() => seen.push('first'), 0); setTimeout(() => seen.push('second'), 0); await turn(); await turn(); same(seen, ['first', 'second']);`,
    'microtasks come before timers': `const seen = []; setTimeout(() => seen.push('timer'), 0); queueMicrotask(() => { seen.push('micro'); queueMicrotask(() => seen.push('inner')); }); Promise.resolve().then(() => seen.push('then')); seen.push('now'); await turn(); await turn(); same(seen, ['now', 'micro', 'then', 'inner', 'timer']);`,
    'microtasks take functions': `for (const bad of [undefined, null, 5, 'x', {}]) throws(TypeError, () => queueMicrotask(bad), shown(bad)); throws(TypeError, () => queueMicrotask()); is(queueMicrotask(() => {}), undefined); is(queueMicrotask.length, 1);`,
    'timers take functions, and no text': `throws(TypeError, () => setTimeout()); throws(TypeError, () => setInterval()); throws(TypeError, () => setTimeout('text that would be run'));`,
    'errors of callbacks are reported': `const seen = []; const l = (e) => { seen.push(e.error.message); e.preventDefault(); }; addEventListener('error', l); setTimeout(() => { throw new Error('timer'); }, 0); queueMicrotask(() => { throw new Error('micro'); }); await turn(); await turn(); removeEventListener('error', l); same(seen.sort(), ['micro', 'timer']);`,
    'an interval goes on after an error': `let ran = 0; const l = (e) => e.preventDefault(); addEventListener('error', l); await new Promise((resolve) => { const i = setInterval(() => { ran++; if (ran === 2) { clearInterval(i); resolve(); } throw new Error('x'); }, 0); }); removeEventListener('error', l); is(ran, 2);`,
    names: `same(['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'queueMicrotask', 'setImmediate', 'clearImmediate'].map((name) => globalThis[name].name), ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'queueMicrotask', 'setImmediate', 'clearImmediate']);`,
  },
};

export const performanceApi: WebApi = {
  standard: 'High Resolution Time',
  cases: {
    'now rises': `const a = performance.now(); const b = performance.now(); ok(typeof a === 'number' && b >= a && a >= 0);`,
    'the origin': `ok(Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 60000); same(Object.keys(performance.toJSON()).includes('timeOrigin'), true); is(performance.toJSON().timeOrigin, performance.timeOrigin);`,
    shapes: `is(Object.prototype.toString.call(performance), '[object Performance]'); ok(performance instanceof EventTarget); throws(TypeError, () => new Performance()); throws(TypeError, () => Performance.prototype.now.call({}));`,
  },
};
