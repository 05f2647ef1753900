import fs from 'node:fs';
import { builtinModules } from 'node:module';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { absentText, insteadOf } from '../../../../../sandbox/host/compiler/absent-modules.ts';

function load(name: string): Record<string, unknown> {
  const module: { exports: Record<string, unknown> } = { exports: {} };
  runInNewContext(absentText(name), { module });
  return module.exports;
}

t.test('what Node’s module has is there, and every function of it throws', (t) => {
  const absent = load('fs') as unknown as typeof fs;
  t.strictSame(
    Object.keys(fs).filter((key) => !(key in absent) && !/^_|^lchmod/.test(key)),
    [],
  );
  t.equal(absent.constants.O_RDWR, fs.constants.O_RDWR);
  t.equal(absent.readFileSync.name, 'readFileSync');
  t.throws(() => absent.readFileSync('x'), {
    message:
      'fs.readFileSync is not there in a plugin. There are no files: import a .json or .txt file of the plugins folder, or keep values with context.kv',
    code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
  });
  t.throws(() => new absent.ReadStream('x' as never), /fs\.ReadStream is not there/);
  t.throws(() => absent.realpath.native('x', () => {}), /fs\.realpath\.native is not there/);
  t.throws(() => void absent.promises.readFile('x'), /fs\.promises\.readFile is not there/);
  t.end();
});

t.test('each of Node’s modules is small, and a name that is none is empty', (t) => {
  for (const name of builtinModules) t.ok(absentText(name.replace('node:', '')).length < 32_768, name);
  t.strictSame(Object.keys(load('nope')), []);
  t.strictSame(load('tls')['rootCertificates'], []);
  for (const name of ['module', 'process', 'repl', 'v8']) t.notMatch(absentText(name), /"\/|node_modules|file:/, name);
  t.equal(insteadOf('dns/promises'), insteadOf('dns'));
  t.equal(insteadOf('repl'), 'A plugin runs without Node.js');
  t.end();
});
