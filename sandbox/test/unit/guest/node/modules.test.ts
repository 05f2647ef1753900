import * as nodeOs from 'node:os';
import type nodeStream from 'node:stream';
import { Readable } from 'node:stream';
import * as nodeStreamConsumers from 'node:stream/consumers';
import * as nodeStringDecoder from 'node:string_decoder';
import * as nodeTimersPromises from 'node:timers/promises';
import t from 'tap';
import { createConsoleModule, createModuleTable, streamConsumers } from '../../../../guest/lazy/modules.ts';
import { create } from '../../../../guest/lazy/stream.ts';
import {
  checkFunction,
  checkInteger,
  checkObject,
  checkString,
  invalidArgType,
  invalidArgValue,
  nodeError,
  outOfRange,
} from '../../../../guest/node/node-error.ts';
import { createOs } from '../../../../guest/node/os.ts';
import { Reflect as Plain, globalThis as scope } from '../../../../guest/node/plain-intrinsics.ts';
import { StringDecoder } from '../../../../guest/node/string-decoder.ts';
import { timerPromises } from '../../../../guest/node/timer-promises.ts';
import { unbound } from '../../../support/guest-web.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

t.test('module table', async (t) => {
  function table() {
    const loaded: string[] = [];
    const shared: unknown[] = [];
    const module = createModuleTable({
      ...unbound,
      global: { Buffer, URL, TextEncoder, setTimeout, performance, ReadableStream },
      share(object) {
        shared.push(object);
        return object;
      },
      large(name) {
        loaded.push(name);
        return {
          [name]: name,
          assert: { strict: 'strict' },
          Stream: { promises: 'promises' },
          inspect: 'shown',
          parse: 'parsed',
        };
      },
    });
    return { module: module as (name: string) => Record<string, unknown>, loaded, shared };
  }

  t.test('modules are made once, and the larger ones when somebody asks for what is in them', (t) => {
    const { module, loaded } = table();
    t.equal(module('util'), module('sys'));
    t.ok(Object.keys(module('util')).includes('inspect'));
    t.ok(Object.keys(module('url')).includes('parse'));
    t.strictSame(loaded, [], 'nothing is loaded by that');
    t.equal(module('util')['inspect'], 'shown');
    t.equal(module('url')['parse'], 'parsed');
    t.strictSame(loaded, ['inspect', 'legacy-url']);
    t.equal(module('assert/strict'), 'strict');
    t.equal(module('stream/promises'), 'promises');
    t.equal(module('path/posix'), module('path'));
    t.equal(module('util/types'), module('util')['types']);
    t.equal(module('process'), process);
    t.end();
  });

  t.test('what the global scope has is the same, and what it has not is not there', (t) => {
    const { module } = table();
    t.equal(module('buffer')['Buffer'], Buffer);
    t.equal(module('url')['URL'], URL);
    t.equal(module('timers')['setTimeout'], setTimeout);
    t.equal(module('timers')['promises'], module('timers/promises'));
    t.equal(module('stream/web')['ReadableStream'], ReadableStream);
    t.notOk('URLPattern' in module('url'));
    t.throws(() => module('fs'), /There is no module fs/);
    t.throws(() => module('constructor'), /There is no module/);
    t.end();
  });

  t.test('functions of modules that are the table’s own', (t) => {
    const { module } = table();
    const { isUtf8, isAscii, transcode, SlowBuffer, resolveObjectURL } = module('buffer') as Record<
      string,
      (...args: unknown[]) => unknown
    >;
    t.strictSame(
      [isUtf8?.(Buffer.from('€')), isUtf8?.(Buffer.from([255])), isAscii?.(Buffer.from('€'))],
      [true, false, false],
    );
    t.strictSame(isAscii?.(new ArrayBuffer(1)), true);
    t.same(transcode?.(Buffer.from('é'), 'utf8', 'latin1'), Buffer.from([233]));
    t.same(SlowBuffer?.(2), Buffer.alloc(2));
    t.equal(resolveObjectURL?.('blob:x'), undefined);
    const { fileURLToPathBuffer, pathToFileURL } = module('url') as Record<string, (given: string) => unknown>;
    t.same(fileURLToPathBuffer?.('file:///a'), Buffer.from('/a'));
    t.equal(String(pathToFileURL?.('/a')), 'file:///a');
    t.equal((module('tty')['isatty'] as () => boolean)(), false);
    t.type((module('os')['uptime'] as () => number)(), 'number');
    for (const name of [
      'console',
      'events',
      'perf_hooks',
      'punycode',
      'querystring',
      'string_decoder',
      'stream/consumers',
    ]) {
      t.doesNotThrow(() => module(name), name);
    }
    t.end();
  });

  t.test('a module, and what it makes late, is shared by all calls', (t) => {
    const { module, shared } = table();
    const util = module('util');
    t.ok(shared.includes(util));
    const { promises } = module('timers');
    t.ok(shared.includes(promises));
    t.end();
  });
});

t.test('console is the global console with a class for other places', async (t) => {
  const own = { log: () => 'logged' };
  const module = createConsoleModule(own, () => ({
    format: (...values: unknown[]) => values.join('+'),
  })) as typeof own & {
    Console: new (...streams: unknown[]) => Record<string, (...values: unknown[]) => void>;
  };
  t.equal(module.log, own.log);
  const lines: string[] = [];
  const stream = (name: string) => ({ write: (text: string) => lines.push(`${name} ${text}`) });
  const both = new module.Console({ stdout: stream('out'), stderr: stream('err') });
  both['log']?.('a', 1);
  both['error']?.('b');
  new module.Console(stream('one'))['warn']?.('c');
  t.strictSame(lines, ['out a+1\n', 'err b\n', 'one c\n']);
});

t.test('stream/consumers do as Node’s', async (t) => {
  const stream = () => Readable.from([Buffer.from('{"a":'), Buffer.from('"€"}')], { objectMode: false });
  await sameAsNode(t, streamConsumers as unknown as typeof nodeStreamConsumers, nodeStreamConsumers, {
    text: (module) => module.text(stream()),
    json: (module) => module.json(stream()),
    buffer: (module) => module.buffer(stream()),
    arrayBuffer: (module) => module.arrayBuffer(stream()),
    blob: async (module) => (await module.blob(stream())).size,
    texts: (module) => module.text(Readable.from(['a', 'b'])),
  });
  t.equal((await streamConsumers.bytes(['x'])).length, 1);
});

t.test('os has every function of Node’s, and none tells of the machine', async (t) => {
  const ours = createOs(() => 4.5);
  const missing = Object.keys(nodeOs).filter((name) => !(name in ours) && name !== 'default' && !name.startsWith('on'));
  t.strictSame(missing, []);
  for (const name of Object.keys(ours))
    t.equal(typeof ours[name], typeof (nodeOs as Record<string, unknown>)[name], name);
  t.equal((ours['uptime'] as () => number)(), 4.5);
  t.not((ours['hostname'] as () => string)(), nodeOs.hostname());
  const asked = Object.entries(ours).filter(([, value]) => typeof value === 'function' && value.length === 0);
  for (const [name, value] of asked) t.doesNotThrow(() => (value as () => unknown)(), name);
});

t.test('timers/promises do as Node’s', async (t) => {
  const gaveUp = new AbortController();
  gaveUp.abort('enough');
  await sameAsNode(t, timerPromises as unknown as typeof nodeTimersPromises, nodeTimersPromises, {
    timeout: (timers) => timers.setTimeout(1, 'value'),
    immediate: (timers) => timers.setImmediate('value'),
    'given up before': (timers) => timers.setTimeout(1000, 1, { signal: gaveUp.signal }),
    async 'given up meanwhile'(timers) {
      const controller = new AbortController();
      const waits = timers.setTimeout(1_000_000, 1, { signal: controller.signal });
      controller.abort(new Error('why'));
      return waits.catch((error: Error) => [error.name, String(error.cause)]);
    },
    async 'an immediate given up'(timers) {
      const controller = new AbortController();
      const waits = timers.setImmediate(1, { signal: controller.signal });
      controller.abort();
      return waits.catch((error: Error) => error.name);
    },
    async interval(timers) {
      const seen: unknown[] = [];
      for await (const value of timers.setInterval(1, 'tick')) if (seen.push(value) === 3) break;
      return seen;
    },
    scheduler: async (timers) => [await timers.scheduler.wait(1), await timers.scheduler.yield()],
    'no options': (timers) => timers.setTimeout(1, 1, 5 as never),
    'no signal': (timers) => timers.setTimeout(1, 1, { signal: 5 as never }),
  });
});

t.test('stream tells of a setting of all streams', (t) => {
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const { Stream, unnamed } = create({ changed }) as { Stream: typeof nodeStream; unnamed: object[] };
  t.type(Stream, 'function');
  t.equal(unnamed.length, 3);
  const before = Stream.getDefaultHighWaterMark(false);
  Stream.setDefaultHighWaterMark(false, 7);
  t.strictSame([Stream.getDefaultHighWaterMark(false), changes], [7, 1]);
  Stream.setDefaultHighWaterMark(false, before);
  t.end();
});

t.test('plain intrinsics: missing names are there, and an accessor of ours is the property that it was', (t) => {
  const globals = scope as unknown as Record<string, unknown>;
  for (const name of ['Atomics', 'WeakRef', 'FinalizationRegistry', 'Array', 'Reflect']) t.ok(globals[name], name);
  const { getOwnPropertyDescriptor } = Plain as unknown as typeof Reflect;
  const frozen = Object.defineProperty({}, 'a', { get: () => 5, set: () => {}, enumerable: true });
  t.strictSame(getOwnPropertyDescriptor(frozen, 'a'), {
    value: 5,
    writable: true,
    enumerable: true,
    configurable: true,
  });
  t.equal(typeof getOwnPropertyDescriptor(Map.prototype, 'size')?.get, 'function', 'the language’s own stay');
  t.equal(typeof getOwnPropertyDescriptor(Object.prototype, '__proto__')?.get, 'function');
  t.strictSame(getOwnPropertyDescriptor({ b: 1 }, 'b')?.value, 1);
  t.equal(getOwnPropertyDescriptor({}, 'c'), undefined);
  t.end();
});

t.test('errors have a code, which their stack shows', async (t) => {
  const error = nodeError('ERR_X', 'text', RangeError);
  t.match(error, { code: 'ERR_X', message: 'text', name: 'RangeError' });
  t.match(error.stack, /^RangeError \[ERR_X\]: text\n {4}at .*modules\.test\.ts/);
  t.strictSame(Object.keys(error), ['code']);
});

t.test('errors say what was received as Node’s do', async (t) => {
  const received = (value: unknown) => invalidArgType('a', 'of type string', value).message.replace(/.*Received /, '');
  t.strictSame(
    [undefined, null, 5, -0, 'x', 'x'.repeat(40), true, 5n, Symbol('s'), [], {}, new Map(), class A {}, () => 1].map(
      received,
    ),
    [
      ...['undefined', 'null', 'type number (5)', 'type number (0)', "type string ('x')"],
      `type string ('${'x'.repeat(24)}...)`,
      ...['type boolean (true)', 'type bigint (5n)', 'type symbol (Symbol(s))', 'an instance of Array'],
      ...['an instance of Object', 'an instance of Map', 'function A', 'function '],
    ],
  );
  t.equal(received(Object.create(null)), '[Object: null prototype] {}');
  t.match(invalidArgType('options.a', 'of type string', 5).message, /^The "options\.a" property/);
  t.equal(
    outOfRange('n', '>= 0', 12_345_678_901).message,
    'The value of "n" is out of range. It must be >= 0. Received 12_345_678_901',
  );
  t.equal(invalidArgValue('v', 'x').message, "The argument 'v' is invalid. Received 'x'");
});

t.test('checks of arguments let pass what is right', async (t) => {
  checkString('', 'a');
  checkFunction(() => {}, 'a');
  checkObject({}, 'a');
  checkInteger(5, 'a', 0, 5);
  for (const bad of [() => checkString(5, 'a'), () => checkFunction(5, 'a'), () => checkObject([], 'a')]) {
    t.throws(bad, { code: 'ERR_INVALID_ARG_TYPE' });
  }
  t.throws(() => checkInteger('5', 'a'), { code: 'ERR_INVALID_ARG_TYPE' });
  for (const bad of [5.5, 6, -1]) t.throws(() => checkInteger(bad, 'a', 0, 5), { code: 'ERR_OUT_OF_RANGE' });
});

t.test('string decoder', async (t) => {
  type Module = {
    StringDecoder: new (encoding?: BufferEncoding) => nodeStringDecoder.StringDecoder & { encoding?: string };
  };
  const TEXT = 'a€𝄞ü\ufeffz';

  t.test('characters that come in pieces are put together as in Node', async (t) => {
    const attempts: Record<string, (module: Module) => unknown> = {};
    for (const encoding of [
      'utf8',
      'utf-8',
      'utf16le',
      'ucs2',
      'latin1',
      'binary',
      'base64',
      'base64url',
      'hex',
      'ascii',
    ]) {
      const bytes = Buffer.from(TEXT, encoding.startsWith('u') ? (encoding as BufferEncoding) : 'utf8');
      // By single bytes Node gives halves of pairs away.
      for (const size of /^(utf16|ucs2)/.test(encoding) ? [2, 3, 100] : [1, 2, 3, 5, 100]) {
        attempts[`${encoding} by ${size}`] = ({ StringDecoder: Decoder }) => {
          const decoder = new Decoder(encoding as BufferEncoding);
          const parts: string[] = [];
          for (let at = 0; at < bytes.length; at += size) parts.push(decoder.write(bytes.subarray(at, at + size)));
          return [...parts, decoder.end(), decoder.end()];
        };
      }
    }
    await sameAsNode<Module>(t, { StringDecoder: StringDecoder }, nodeStringDecoder, {
      ...attempts,
      'broken bytes': ({ StringDecoder: Decoder }) => {
        const decoder = new Decoder();
        return [decoder.write(Buffer.from('e282', 'hex')), decoder.end(Buffer.from('ff41', 'hex')), decoder.write('x')];
      },
      'half a pair': ({ StringDecoder: Decoder }) =>
        new Decoder('utf16le').end(Buffer.from('3dd8', 'hex')).charCodeAt(0),
      'an unknown encoding': ({ StringDecoder: Decoder }) => new Decoder('nope' as never),
      'no bytes': ({ StringDecoder: Decoder }) => new Decoder().write(5 as never),
      'its encoding': ({ StringDecoder: Decoder }) =>
        [undefined, 'UCS-2', 'binary'].map((name) => new Decoder(name as BufferEncoding).encoding),
    });
  });
});
