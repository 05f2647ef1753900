import vm from 'node:vm';
import t from 'tap';
import { fixArrayBuffer } from '../../../../../sandbox/guest/intrinsics/removed.ts';

t.test('buffers keep their size, however their constructor is found', (t) => {
  const context = vm.createContext();
  fixArrayBuffer(vm.runInContext('globalThis', context) as typeof globalThis);
  const run = (code: string): unknown => vm.runInContext(code, context);
  t.equal(run('new ArrayBuffer(8, { maxByteLength: 16 }).byteLength'), 8);
  t.equal(
    run(
      'typeof new ArrayBuffer(8).resize + typeof new ArrayBuffer(8).transferToImmutable + typeof new ArrayBuffer(8).resizable',
    ),
    'undefinedundefinedundefined',
  );
  t.ok(run('new Uint8Array(1).buffer.constructor === ArrayBuffer && new Uint8Array(1).buffer instanceof ArrayBuffer'));
  t.equal(run('Object.getPrototypeOf(ArrayBuffer)'), Function.prototype, 'not the constructor that it replaces');
  t.ok(run('class Sub extends ArrayBuffer {}; new Sub(4) instanceof Sub && new Sub(4).byteLength === 4'));
  t.ok(run('new ArrayBuffer(4).slice(1) instanceof ArrayBuffer && ArrayBuffer[Symbol.species] === ArrayBuffer'));
  t.strictSame(
    run('[ArrayBuffer.name, ArrayBuffer.length, ArrayBuffer.isView(new Uint8Array(1))].join()'),
    'ArrayBuffer,1,true',
  );
  t.equal(
    run(
      'const old = new ArrayBuffer(4); const next = old.transfer(6); [old.detached, next.byteLength, next instanceof ArrayBuffer].join()',
    ),
    'true,6,true',
  );
  t.throws(() => run('ArrayBuffer(8)'), /requires 'new'/);
  t.throws(() => run('"use strict"; ArrayBuffer.prototype.constructor = Object'), /read only|Cannot assign/);
  t.throws(() => run('Object.defineProperty(ArrayBuffer.prototype, "constructor", { value: 1 })'), /Cannot redefine/);
  t.end();
});
