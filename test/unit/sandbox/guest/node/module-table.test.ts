import t from 'tap';
import { createModuleTable } from '../../../../../sandbox/guest/lazy/modules.ts';
import { unbound } from '../../../../support/guest-web.ts';

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
