import type { Attack } from './attack.ts';

/** Programs that try to escape. Each throws when it succeeds. */
export const ESCAPE_ATTACKS: readonly Attack[] = [
  {
    name: 'objects of isolated-vm anywhere in the guest’s world',
    threat: 30,
    recovery: null,
    body: `const seen = new Set(); const queue = [globalThis, context, context.api, context.kv, console, process, Buffer, crypto, await new Response('a').text() && Response];
      const foreign = /^(Isolate|Context|Reference|ExternalCopy|Callback|Module|Script|NativeModule|InspectorSession|ModuleRequest|Lib)$/;
      for (let at = 0; at < queue.length && at < 200000; at++) {
        const object = queue[at];
        if ((typeof object !== 'object' && typeof object !== 'function') || object === null || seen.has(object)) continue;
        seen.add(object);
        for (const key of Reflect.ownKeys(object)) {
          const property = Reflect.getOwnPropertyDescriptor(object, key);
          if (typeof key === 'string' && /^(applySync|applyIgnored|derefInto|createContext|evalClosure|compileScript|applySyncPromise|setSync)$/.test(key)) throw new Error('escaped: ' + key);
          if (key === 'name' && typeof property?.value === 'string' && foreign.test(property.value) && typeof object === 'function' && /native code/.test(Function.prototype.toString.call(object))) throw new Error('escaped: ' + property.value);
          for (const value of [property?.value, property?.get, property?.set]) queue.push(value);
          if (property?.get) try { queue.push(Reflect.get(object, key)); } catch {}
        }
        queue.push(Reflect.getPrototypeOf(object), object.constructor);
      }
      if (seen.size < 500) throw new Error('escaped the search: only ' + seen.size);
      return seen.size;`,
    ends: ['returned'],
    limits: { slice_ms: 15_000, cpu_ms: 20_000 },
  },
  {
    name: 'host functions among those of the guest',
    threat: 31,
    recovery: null,
    body: `const functions = [...Object.values(context.kv), ...Object.values(console), context.api.useRelayer, fetch, setTimeout, crypto.getRandomValues, process.hrtime, structuredClone, atob];
      for (const one of functions) {
        if (typeof one !== 'function') continue;
        if (one.constructor !== Function && !(one instanceof Function)) throw new Error('escaped: a function of another world');
        if (/native code/.test(Function.prototype.toString.call(one))) throw new Error('escaped: a native function ' + one.name);
        for (const key of ['caller', 'arguments']) {
          let found; try { found = one[key]; } catch {}
          if (found !== undefined && found !== null) throw new Error('escaped: ' + key);
        }
      }
      return functions.length;`,
    ends: ['returned'],
  },
  {
    name: 'constructors of constructors',
    threat: 40,
    recovery: null,
    body: `for (const start of [context, context.kv, context.kv.get, context.params, console.log, fetch, new Error('x'), (async () => {}), (function* () {}), Promise.resolve(), new Response('x'), process]) {
        const Found = start.constructor?.constructor ?? Function;
        const world = Found('return { p: typeof process === "object" ? Object.keys(process) : [], r: typeof require, m: typeof module, g: globalThis }')();
        const { p, r, m, g } = typeof world === 'object' && 'g' in world ? world : { p: [], r: 'undefined', m: 'undefined', g: globalThis };
        if (g !== globalThis || r !== 'undefined' || m !== 'undefined') throw new Error('escaped: another world');
        for (const name of ['binding', 'dlopen', 'mainModule', 'kill', 'getBuiltinModule', 'pid', 'exit']) if (p.includes(name) && name !== 'pid' && name !== 'exit') throw new Error('escaped: process.' + name);
      }
      return 'contained';`,
    ends: ['returned'],
  },
  {
    name: 'host functions by a thrown error',
    threat: 40,
    recovery: null,
    // Filling a stack takes time on a busy machine.
    limits: { slice_ms: 15_000, cpu_ms: 20_000 },
    body: `const caught = [];
      for (const go of [() => new URL('::'), () => atob('%'), () => structuredClone(() => {}), () => crypto.getRandomValues(1), () => setTimeout(1), () => context.kv.get({})]) {
        try { await go(); } catch (error) { caught.push(error); }
      }
      const deep = () => { try { deep(); } catch (error) { caught.push(error); } try { new URL('http://a'); } catch (error) { caught.push(error); } };
      try { deep(); } catch (error) { caught.push(error); }
      for (const error of caught.slice(-200)) {
        if (error.constructor.constructor !== Function) throw new Error('escaped: an error of another world');
        if (/file:|node:|\\/sandbox\\/|node_modules/.test(String(error.stack))) throw new Error('escaped: ' + error.stack.slice(0, 500));
      }
      return caught.length > 0 ? 'contained' : undefined.nothing;`,
    ends: ['returned'],
  },
  {
    name: 'the call sites of the host',
    threat: 39,
    recovery: null,
    body: `const sites = [];
      Error.prepareStackTrace = (_, list) => { for (const s of list) sites.push([s.getFileName(), s.getThis(), s.getFunction(), s.getEvalOrigin()]); return 'x'; };
      const look = () => { void new Error('x').stack; return 1; };
      look(); await null; look(); setTimeout(look, 0); await context.kv.exists('x'); look();
      JSON.stringify({ toJSON: look }); console.log({ toJSON: look }); await context.kv.set('k', { toJSON: look });
      Error.prepareStackTrace = undefined;
      for (const [file, self, fn, origin] of sites) {
        if (/file:|node:|node_modules|\\/sandbox\\//.test(String(file) + String(origin))) throw new Error('escaped: ' + file);
        if (typeof fn === 'function' && fn.constructor.constructor('return globalThis')() !== globalThis) throw new Error('escaped: a function');
        if (self && self !== globalThis && typeof self === 'object' && '_host' in self) throw new Error('escaped: this');
      }
      return sites.length > 0 ? 'contained' : undefined.nothing;`,
    ends: ['returned'],
  },
  {
    name: 'modules imported at run time',
    threat: 42,
    recovery: null,
    body: `for (const name of ['fs', 'node:fs', 'node:child_process', 'isolated-vm', './main.ts', '/etc/passwd', 'file:///etc/passwd', 'data:text/javascript,export default 1']) {
        for (const way of [(s) => (0, eval)('import(' + JSON.stringify(s) + ')'), (s) => new Function('s', 'return import(s)')(s)]) {
          const answer = await Promise.resolve().then(() => way(name)).then(() => 'escaped: ' + name, () => 'refused');
          if (answer !== 'refused') throw new Error(answer);
        }
      }
      return 'contained';`,
    ends: ['returned'],
  },
  {
    name: 'an import that nobody awaits',
    threat: 42,
    recovery: null,
    body: "for (let i = 0; i < 100; i++) (0, eval)('import(\"node:fs\")').catch(() => {}); return 'contained';",
    ends: ['returned'],
  },
  {
    name: 'eval and the four kinds of functions',
    threat: 43,
    recovery: null,
    body: `const kinds = [() => {}, async () => {}, function* () {}, async function* () {}].map((f) => f.constructor);
      for (const Kind of kinds) {
        const made = Kind('return typeof require + typeof WebAssembly + typeof SharedArrayBuffer + typeof Atomics + typeof WeakRef');
        const said = await Promise.resolve(made()).then((x) => (typeof x === 'string' ? x : x.next())).then((x) => (typeof x === 'string' ? x : x.value));
        if (said !== 'undefined'.repeat(5)) throw new Error('escaped: ' + said);
      }
      if ((0, eval)('this') !== globalThis) throw new Error('escaped: another global');
      return 'contained';`,
    ends: ['returned'],
  },
  {
    name: 'the deleted names and what could bring them back',
    threat: 16,
    recovery: null,
    body: `for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'ShadowRealm', 'require', 'module', 'Deno', 'Bun', 'd8', 'gc', 'load', 'print', 'quit', 'Worker', 'importScripts', 'ivm', '_ivm', 'XMLHttpRequest', 'WebSocket', '__isolayer_plugin__', 'Isolate']) {
        if (name in globalThis || typeof (0, eval)('typeof ' + name) !== 'string' || (0, eval)('typeof ' + name) !== 'undefined') throw new Error('escaped: ' + name);
      }
      return 'contained';`,
    ends: ['returned'],
  },
  {
    name: 'the environment, the arguments and the process',
    threat: 58,
    recovery: null,
    body: `const { env } = process;
      for (const name of ['PATH', 'HOME', 'API_KEY', 'KEYSTORE_PASSPHRASE', 'STORAGE_ENCRYPTION_KEY', 'DATABASE_URL', 'WEBHOOK_SIGNING_KEY', 'DATA_DIR']) if (name in env || env[name] !== undefined) throw new Error('escaped: ' + name);
      for (const name of ['kill', 'binding', 'dlopen', 'mainModule', 'getBuiltinModule', '_debugProcess', 'execve', 'report', 'permission', 'execPath']) if (process[name] !== undefined) throw new Error('escaped: process.' + name);
      return 'contained';`,
    ends: ['returned'],
  },
  {
    name: 'what the caller sent to be recognised by',
    threat: 60,
    recovery: null,
    body: `const text = JSON.stringify([context.headers, context.caller, context.query, context.config ?? null]).toLowerCase();
      if (/authorization|bearer/.test(text)) throw new Error('escaped: a credential');
      return 'contained';`,
    ends: ['returned'],
  },
  {
    name: 'the messages of errors of the host',
    threat: 38,
    recovery: null,
    body: `const said = [];
      for (const go of [() => context.api.useRelayer('nobody').getRelayer(), () => context.api.useRelayer('x').rpc({ method: 1 }), () => context.kv.set('k', 1, { ttlSec: {} }),
        () => context.kv.set('k', 1n), () => fetch('http://127.0.0.1:1'), () => context.api.useRelayer('x').sendTransaction(null)]) {
        await go().catch((error) => said.push(error.message, String(error.stack), JSON.stringify(error)));
      }
      const text = said.join('\\n');
      if (/file:|node:internal|\\/src\\/|\\/sandbox\\/|node_modules|sqlite|kysely|\\.ts:\\d+:\\d+\\)[^]*at Gateway/i.test(text.replaceAll(/plugins\\/\\S+/g, ''))) throw new Error('escaped: ' + text.slice(0, 1000));
      return said.length > 0 ? 'contained' : undefined.nothing;`,
    ends: ['returned'],
  },
  {
    name: 'how fine the clocks are',
    threat: 57,
    recovery: null,
    body: `let finest = Infinity; let last = performance.now();
      for (let i = 0; i < 20000; i++) { const now = performance.now(); if (now > last) { finest = Math.min(finest, now - last); last = now; } }
      if (finest < 0.09) throw new Error('escaped: ' + finest + ' ms');
      return finest;`,
    ends: ['returned'],
    limits: { slice_ms: 15_000, cpu_ms: 20_000 },
  },
];
