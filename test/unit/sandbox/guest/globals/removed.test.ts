import vm from 'node:vm';
import t from 'tap';
import { removeGlobals } from '../../../../../sandbox/guest/intrinsics/removed.ts';

t.test('takes away what must not be there, or fails', (t) => {
  const global = vm.runInNewContext('globalThis') as object;
  removeGlobals(global);
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry']) {
    t.notOk(name in global, name);
  }
  t.throws(() => removeGlobals(Object.freeze({ Atomics: 1 })), /Atomics cannot be removed/);
  t.end();
});
