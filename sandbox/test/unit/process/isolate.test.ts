/** Threat: guest code that finds anything of the child's in its isolate, or stays in it beyond its time. */
import t from 'tap';
import type { HostFunction } from '../../../guest/host-function.ts';
import { EvaluationError, GuestProgram, GuestRuntime } from '../../../process/isolate.ts';
import { contextText, guestRuntime, plugin, version } from '../../support/sandbox.ts';

const runtime = new GuestRuntime(await guestRuntime());
const silent: HostFunction = () => '';

const isolateOf = (body: string, limits = {}) =>
  new GuestProgram(runtime, plugin(body, { limits: { memory_mb: 32, ...limits } })).createIsolate(silent);

/** Enters `invoke` and gives what was announced. */
function invoke(body: string, limitMs = 1000) {
  const isolate = isolateOf(body);
  const said: [string, string][] = [];
  isolate.attach((op, text) => {
    said.push([op, text]);
    return '';
  });
  const escape = isolate.enter('invoke', contextText({}), limitMs);
  return { isolate, said, escape, result: said.find(([op]) => op === 'returned')?.[1] };
}

t.test('a call announces its outcome before the entry comes back', async (t) => {
  const { isolate, escape, result } = invoke('return 40 + 2;');
  t.equal(escape, null);
  t.equal(result, '42');
  t.equal(isolate.sound, true);
  t.ok(isolate.measureHeap() > 100_000);
  t.ok(isolate.residentBytes > isolate.measureHeap() / 2);
  isolate.dispose();
  isolate.dispose();
  t.equal(isolate.measureHeap(), 0);
  t.equal(isolate.residentBytes, 0);
});

t.test('escapes are told apart', async (t) => {
  const looping = invoke('const spin = () => { for (;;); }; spin();', 50);
  t.match(looping, {
    escape: { cause: 'time', stack: /^ {4}at spin \(.*\n {4}at \S*handler/ },
    isolate: { sound: false },
  });
  t.match(invoke('for (;;) await null;', 50).escape, { cause: 'time' });
  t.match(invoke('const a = []; for (;;) a.push({ a });', 20_000).escape, { cause: 'memory' });
  t.match(invoke("Promise.reject(new Error('forgotten')); await null;").escape, { cause: 'thrown', text: /forgotten/ });
  const long = invoke("Promise.reject(new Error('x'.repeat(1e6)));").escape;
  t.ok(typeof long === 'object' && long?.cause === 'thrown' && long.text.length < 2100);
});

t.test('a timeout of one entry leaves the next one its own time', async (t) => {
  const isolate = isolateOf('for (;;);');
  t.match(isolate.enter('invoke', contextText({}), 20), { cause: 'time' });
  t.equal(isolate.enter('fire', 99, 20), null);
});

t.test('a rejection that a stretch left behind does not come out of what this side asks next', async (t) => {
  const leaving = `for (let i = 0; ; i++) { Promise.reject(new Error('left behind')); if (i % 100 === 0) await null; }`;
  const measured = invoke(leaving, 50);
  t.match(measured.escape, { cause: 'time' });
  t.ok(measured.isolate.measureHeap() > 100_000);
  const sized = invoke(leaving, 50);
  t.ok(sized.isolate.residentBytes > 100_000);
  t.equal(sized.isolate.sound, false);
});

t.test('a detached isolate reaches nothing of the call', async (t) => {
  const { isolate, said } = invoke("setTimeout(() => console.log('late'), 1);");
  isolate.detach();
  const before = said.length;
  isolate.enter('fire', 1, 100);
  t.equal(said.length, before);
});

t.test('time inside is counted from the isolate’s beginning, coarsely', async (t) => {
  const { result = '{}' } = invoke(
    'const seen = new Set(); for (let i = 0; i < 20000; i++) seen.add(performance.now()); return [...seen].map((x) => x * 10 % 1 < 1e-6 || x * 10 % 1 > 1 - 1e-6);',
  );
  t.ok((JSON.parse(result) as boolean[]).every(Boolean), 'no step below a tenth of a millisecond');
});

t.test('what a call has changed that outlives it meets no other', async (t) => {
  const isolate = isolateOf('if (context.params.bad) RegExp.prototype.planted = 1; return 1;');
  const said: string[] = [];
  isolate.attach((op) => {
    said.push(op);
    return '';
  });
  for (const params of [{}, { bad: true }]) t.equal(isolate.enter('invoke', contextText(params), 1000), null);
  t.ok(isolate.sound);
  t.equal(isolate.enter('invoke', contextText({}), 1000), 'changed');
  t.strictSame(said, ['returned', 'returned'], 'nothing ran');
  t.notOk(isolate.sound);
});

t.test('a module that does not evaluate is an error with its reason', async (t) => {
  const escapeOf = (code: string) => {
    try {
      new GuestProgram(runtime, version(code, { limits: { memory_mb: 32 } })).createIsolate(silent);
    } catch (error) {
      return error instanceof EvaluationError ? error.escape : error;
    }
    return undefined;
  };
  t.match(escapeOf("\n\nfunction rates() { throw new TypeError('at the top', { cause: 'why' }); }\nrates();"), {
    cause: 'failed',
    failure: {
      outcome: { kind: 'threw', code: 'TYPE_ERROR', message: 'at the top' },
      report: /^Uncaught TypeError: at the top\n    at rates \(plugins\/tested.ts:3:26\)\n.*\n\[cause\]: "why"$/s,
    },
  });
  const none = { outcome: { code: 'PLUGIN_ERROR', message: 'Plugin must export a handler function' }, report: '' };
  for (const exported of ['', 'var __isolayer_plugin__ = {};', 'var __isolayer_plugin__ = { handler: 1 };']) {
    t.match(escapeOf(exported), { cause: 'failed', failure: none });
  }
  t.match(escapeOf("throw { code: 'OWN', message: 'm' }"), { failure: { outcome: { code: 'OWN', message: 'm' } } });
  t.match(escapeOf('this is no script'), { cause: 'thrown' });
  t.match(escapeOf("Promise.reject(new Error('left behind'));"), {
    cause: 'thrown',
    text: /left behind\n    at plugins/,
  });
  t.match(escapeOf('for (;;);'), { cause: 'time' });
  t.match(escapeOf('const a = []; for (;;) a.push(new Array(1e5).fill(a.length));'), { cause: 'memory' });
});

t.test('a module is as strict as its first word says', async (t) => {
  const code = (directive: string) =>
    `${directive}var __isolayer_plugin__ = { handler: function () { return this === undefined; } };`;
  for (const directive of ['"use strict";\n', '']) {
    const isolate = new GuestProgram(runtime, version(code(directive))).createIsolate(silent);
    const said: string[] = [];
    isolate.attach((_op, text) => {
      said.push(text);
      return '';
    });
    isolate.enter('invoke', contextText({}), 1000);
    t.same(said, [`${directive !== ''}`]);
    isolate.dispose();
  }
});

t.test('the isolates that follow the first are what it was, made of what it had compiled', (t) => {
  const program = new GuestProgram(
    runtime,
    version(
      'let calls = 0; const twice = (x) => 2 * x; const failure = () => { try { new URL(":"); } catch (e) { return e.stack; } };' +
        'var __isolayer_plugin__ = { handler: async () => { calls++; console.log("€", new Map([[twice(1), "…"]]), failure()); return twice(calls); } };',
    ),
  );
  const said = Array.from({ length: 3 }, () => {
    const isolate = program.createIsolate(silent);
    const texts: string[] = [];
    isolate.attach((op, text) => {
      texts.push(`${op} ${text}`);
      return '';
    });
    t.equal(isolate.enter('invoke', contextText({}), 1000), null);
    isolate.served += 1;
    isolate.rememberCalls();
    isolate.dispose();
    isolate.rememberCalls();
    return texts;
  });
  t.match(said[0], [
    'url {"url":":"}',
    /^log log € Map {2 => "…"} TypeError: Invalid URL\n {4}at invalid \(isolayer:\d/,
    'returned 2',
  ]);
  t.strictSame([said[1], said[2]], [said[0], said[0]]);
  t.end();
});

t.test('an isolate takes little more than its plugin', (t) => {
  // The least of some: what one has not collected yet is not the plugin's.
  const measured = Array.from({ length: 5 }, () => {
    const isolate = isolateOf('return 1;');
    const bytes = isolate.measureHeap();
    isolate.dispose();
    return bytes;
  });
  const bytes = Math.min(...measured);
  // An empty context alone takes 0.67 MB; a thousand isolates that wait have to fit 2048 MB.
  t.ok(bytes < 1_450_000, `${bytes} bytes of heap`);
  t.end();
});

t.test('a runtime that cannot run is no matter before an isolate is made of it', (t) => {
  const broken = new GuestProgram(new GuestRuntime("throw new TypeError('no runtime');"), plugin('return 1;'));
  let met: unknown;
  try {
    broken.createIsolate(silent);
  } catch (error) {
    met = error;
  }
  t.match(met, { escape: { cause: 'thrown', text: 'no runtime' } });
  t.end();
});

t.test('what voids limits is absent, and nothing of isolated-vm or Node is inside', async (t) => {
  const { result = '{}' } = invoke(`
    const names = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'require',
      'module', 'global', 'ivm', '$0', '__isolayer_plugin__'];
    const found = names.filter((name) => name in globalThis);
    const grown = (() => { try { return new ArrayBuffer(1, { maxByteLength: 1e9 }).resizable === true; } catch { return false; } })();
    const classes = Object.getOwnPropertyNames(globalThis).filter((name) =>
      /^(Reference|ExternalCopy|Isolate|Callback|Context)$/.test(name));
    const main = (() => { try { return [].constructor.constructor('return typeof process.pid')(); } catch { return 'none'; } })();
    return { found, grown, classes, main };`);
  t.match(JSON.parse(result), { found: [], grown: false, classes: [] });
  t.notMatch(result, '"number"', 'no process');
});
